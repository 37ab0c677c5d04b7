/** The page's one way to fetch: a time limit, and the one retry policy. */

import { type Backoff, REQUEST_BACKOFF, retryAfterMs } from './backoff';
import { isPassing, Policy, type Wait } from './policy';
import { type Problem, readProblem } from './problem';

/** A request that is not answered in this time will not be; a phone that changes cells needs some seconds. */
const TIMEOUT_MS = 8_000;

/** After the first. With the back-off above, about 10 s in all before a person is told. */
const RETRIES_MAX = 4;

/** Of the whole page. */
export const policy = new Policy(performance.now());

/** An answer other than 2xx, or none at all (`status` 0). */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  /** What `Retry-After` asked for, in ms. */
  readonly retryAfterMs: number | null;
  readonly problem: Problem | null;

  constructor(status: number, message: string, retryAfter: number | null, problem: Problem | null = null) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfter;
    this.problem = problem;
  }

  /** Worth asking again: no answer, a timeout, too many requests, and servers' own faults. */
  get passing(): boolean {
    return isPassing(this.status);
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** 0 when the caller has a loop of its own. */
  readonly retries?: number;
  readonly backoff?: Backoff;
  /** Must not be done twice: tried again only when the server says that it did nothing (429, 503). */
  readonly once?: boolean;
  /** Outlives the page. */
  readonly keepalive?: boolean;
  readonly cache?: RequestCache;
}

/** Fetches, and gives the response if it is 2xx. Throws {@link RequestError}, or the signal's reason. */
export async function request(url: string | URL, options: RequestOptions = {}): Promise<Response> {
  const { signal, retries = RETRIES_MAX, backoff = REQUEST_BACKOFF } = options;
  let previousMs = backoff.baseMs;
  for (let left = retries; ; left -= 1) {
    const answer = await ask(url, options);
    if (answer instanceof Response) return answer;
    if (left <= 0 || (options.once && answer.status !== 429 && answer.status !== 503)) throw answer;
    const wait = policy.retry(answer, previousMs, backoff, performance.now(), Math.random);
    if (wait === null) throw answer;
    previousMs = wait.drawnMs;
    await rest(wait, signal);
  }
}

/** As {@link request}, parsed. `read` narrows what came, and throws when it is not what was promised. */
export async function requestJson<T>(
  url: string | URL,
  read: (body: unknown) => T,
  options: RequestOptions = {},
): Promise<T> {
  const response = await request(url, options);
  return read((await response.json()) as unknown);
}

async function ask(url: string | URL, options: RequestOptions): Promise<Response | RequestError> {
  const { method = 'GET', signal, body, headers, keepalive = false, cache } = options;
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      keepalive,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: {
        accept: 'application/json, */*',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(cache === undefined ? {} : { cache }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const wait = retryAfterMs(response.headers.get('retry-after'), Date.now());
    const problem = await readProblem(response);
    const words = problem?.detail || `The server answered ${response.status}.`;
    return new RequestError(response.status, words, wait, problem);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    return new RequestError(0, limit.aborted ? 'The server took too long.' : String(cause), null);
  }
}

/** Waits before what goes on by itself asks again; gives what the next wait is drawn from. */
export async function restAgain(
  error: unknown,
  previousMs: number,
  own: Backoff,
  signal: AbortSignal,
): Promise<number> {
  const after = error instanceof RequestError ? error.retryAfterMs : null;
  const wait = policy.again(after, previousMs, own, performance.now(), Math.random);
  await rest(wait, signal);
  return wait.drawnMs;
}

/** Waits as the policy says. */
export function rest(wait: Wait, signal?: AbortSignal): Promise<void> {
  return pause(Math.max(wait.drawnMs, wait.leastMs), signal, wait.leastMs);
}

/**
 * Waits; rejects with the signal's reason when aborted. The browser's `online` event ends a wait early, but not before
 * `leastMs` have passed.
 */
export function pause(ms: number, signal?: AbortSignal, leastMs = 0): Promise<void> {
  return new Promise((resolve, reject) => {
    const begun = performance.now();
    const end = (): void => {
      clearTimeout(timer);
      removeEventListener('online', early);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const early = (): void => {
      const left = leastMs - (performance.now() - begun);
      clearTimeout(timer);
      if (left <= 0) end();
      else timer = setTimeout(end, left);
    };
    let timer = setTimeout(end, ms);
    addEventListener('online', early);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
