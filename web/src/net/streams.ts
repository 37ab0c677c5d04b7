/** What a viewer plays, on all devices (docs/openapi-play.yaml, `/v1/streams`). */

import { type Advice, readAdvice } from './advice';
import { askAsMe, asMe } from './identity';
import { array, count, object, text } from './narrow';

export interface Stream {
  readonly id: string;
  /** The device, as it calls itself. */
  readonly name: string;
  readonly match: string;
  /** UTC, ms. */
  readonly sinceMs: number;
  readonly here: boolean;
}

/** The oldest first. The small personal call: answered from the token alone. */
export function streams(signal: AbortSignal): Promise<Stream[]> {
  return askAsMe('/v1/streams', (body) => readStreams(object(body).streams), { signal });
}

/** Stops one, on whatever device. `leaving`: the page goes away at this moment, so there is no second try. */
export async function stop(id: string, leaving = false): Promise<void> {
  const options = leaving ? { keepalive: true, retries: 0 } : {};
  await asMe(`/v1/streams/${encodeURIComponent(id)}`, { method: 'DELETE', ...options });
}

/** Says that a stream is still there. */
export function heartbeat(url: string, signal: AbortSignal): Promise<Advice> {
  return askAsMe(url, (body) => readAdvice(object(body).advice), { method: 'POST', signal, retries: 0 });
}

export function readStreams(body: unknown): Stream[] {
  return array(body).map((one) => {
    const o = object(one);
    return {
      id: text(o, 'id'),
      name: text(o, 'name'),
      match: text(o, 'match'),
      sinceMs: count(o, 'since_ms'),
      here: o.this_device === true,
    };
  });
}
