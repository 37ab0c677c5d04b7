/** What the door advises its clients to do (docs/openapi-play.yaml, `Advice`). Pure. */

import type { Backoff } from './backoff';
import { array, object } from './narrow';

export interface Advice {
  /** No wait after a failure is drawn between less than this. */
  readonly backoff: Backoff;
  /** Tries again in a minute, over everything that is asked. */
  readonly perMinute: number;
  /** Seconds between two looks, by what is looked at. */
  readonly refreshS: ReadonlyMap<string, number>;
  /** Features that are to be left off. */
  readonly off: ReadonlySet<string>;
}

/** Until the door has said something: no more than our own bounds, and 20 tries again in a minute. */
export const NO_ADVICE: Advice = {
  backoff: { baseMs: 0, capMs: 0 },
  perMinute: 20,
  refreshS: new Map(),
  off: new Set(),
};

/** The bounds that the door holds its operators to; what is beyond them is a fault on the way, and is bounded too. */
const WAIT_MS_MAX = 600_000;
const PER_MINUTE_MAX = 600;
const REFRESH_S_MAX = 3_600;
/** Names that are read: twice as many as a door may give. */
const NAMES_MAX = 64;

/** Throws when it is not what was promised. */
export function readAdvice(body: unknown): Advice {
  const o = object(body);
  const back = object(o.back_off);
  const refresh = Object.entries(object(o.refresh_s)).slice(0, NAMES_MAX);
  const baseMs = within(back.base_ms, 0, WAIT_MS_MAX);
  return {
    backoff: { baseMs, capMs: within(back.cap_ms, baseMs, WAIT_MS_MAX) },
    perMinute: within(back.per_minute, 0, PER_MINUTE_MAX),
    refreshS: new Map(refresh.map(([what, s]) => [what, within(s, 1, REFRESH_S_MAX)])),
    off: new Set(
      array(o.off)
        .slice(0, NAMES_MAX)
        .filter((name) => typeof name === 'string'),
    ),
  };
}

function within(value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || Number.isNaN(value)) throw new TypeError('advice is not a number');
  return Math.min(most, Math.max(least, value));
}
