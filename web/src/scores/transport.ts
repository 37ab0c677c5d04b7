/** The three ways to a stream, thin. Each calls back until it is closed, and then once more to say so. */

import { retryAfterMs } from '../net/backoff';
import type { Input, Transport, Wanted } from './core';
import { writeLastEventId } from './lastid';
import { POLL_WAIT_S } from './limits';
import { SseReader } from './sse';

export interface Connection {
  send(text: string): void;
  close(): void;
}

export interface Target {
  /** `wss://host:port/v1/stream`. */
  readonly stream: string;
  readonly token: string | null;
  readonly wanted: readonly Wanted[];
}

type Say = (input: Input) => void;

/** The subprotocol of JSON frames. */
const PROTOCOL = 'pavilion.scores.json.v1';

export function connect(transport: Transport, target: Target, say: Say): Connection {
  if (transport === 'ws') return socket(target, say);
  return transport === 'sse' ? events(target, say) : poll(target, say);
}

function socket({ stream, token }: Target, say: Say): Connection {
  const url = new URL(stream);
  if (token) url.searchParams.set('access_token', token);
  let open: WebSocket | null = null;
  try {
    open = new WebSocket(url, PROTOCOL);
  } catch {
    // A browser or a policy that forbids sockets: as if it had failed to open.
    queueMicrotask(() => say({ on: 'closed', code: 1006, status: null, retryAfterMs: null }));
    return { send: () => undefined, close: () => undefined };
  }
  const ws = open;
  ws.addEventListener('open', () => say({ on: 'opened' }));
  ws.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') say({ on: 'frame', text: data });
  });
  ws.addEventListener('close', ({ code }) => say({ on: 'closed', code, status: null, retryAfterMs: null }));
  return {
    send: (text) => {
      if (ws.readyState === WebSocket.OPEN) ws.send(text);
    },
    close: () => ws.close(1000),
  };
}

/** The same address for `fetch`. No header that would need a preflight is set. */
function httpUrl({ stream, token, wanted }: Target): URL {
  const url = new URL(stream);
  url.protocol = url.protocol === 'wss:' || url.protocol === 'https:' ? 'https:' : 'http:';
  for (const { match } of wanted) url.searchParams.append('match', match);
  const last = writeLastEventId(wanted);
  if (last !== '') url.searchParams.set('last_event_id', last);
  if (token) url.searchParams.set('access_token', token);
  return url;
}

function events(target: Target, say: Say): Connection {
  const life = new AbortController();
  void request(httpUrl(target), life.signal, 'text/event-stream', say, async (body) => {
    say({ on: 'opened' });
    const reader = body.body?.pipeThrough(new TextDecoderStream()).getReader();
    const sse = new SseReader();
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      const before = sse.comments;
      for (const { data } of sse.push(value)) say({ on: 'frame', text: data });
      if (sse.comments > before) say({ on: 'heartbeat' });
    }
    return true;
  });
  return { send: () => undefined, close: () => life.abort() };
}

function poll(target: Target, say: Say): Connection {
  const life = new AbortController();
  const url = httpUrl(target);
  url.searchParams.set('mode', 'poll');
  url.searchParams.set('wait', String(POLL_WAIT_S));
  void request(url, life.signal, 'application/json', say, async (answer) => {
    const body = (await answer.json()) as { events?: unknown; last_event_id?: unknown } | null;
    const lastEventId = typeof body?.last_event_id === 'string' ? body.last_event_id : '';
    say({ on: 'polled', events: Array.isArray(body?.events) ? body.events : [], lastEventId });
    return false;
  });
  return { send: () => undefined, close: () => life.abort() };
}

/** @param read what is done with a good answer; whether its end is the end of the connection. */
async function request(
  url: URL,
  signal: AbortSignal,
  accept: string,
  say: Say,
  read: (answer: Response) => Promise<boolean>,
): Promise<void> {
  let [status, wait]: [number | null, number | null] = [null, null];
  try {
    const answer = await fetch(url, { signal, headers: { accept }, cache: 'no-store' });
    if (answer.ok) {
      if (!(await read(answer))) return;
    } else {
      status = answer.status;
      wait = retryAfterMs(answer.headers.get('retry-after'), Date.now());
      await answer.body?.cancel();
    }
  } catch {
    if (signal.aborted) return;
  }
  say({ on: 'closed', code: 1006, status, retryAfterMs: wait });
}
