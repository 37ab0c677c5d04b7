/** The page's one way to fetch: a time limit, and retries with decorrelated jitter, a cap and a budget. */

import { type Backoff, nextWaitMs, REQUEST_BACKOFF, RetryBudget, retryAfterMs } from './backoff';

/** A request that is not answered in this time will not be; a phone that changes cells needs some seconds. */
const TIMEOUT_MS = 8_000;

/** After the first. With the back-off above, about 10 s in all before a person is told. */
const RETRIES_MAX = 4;

/** Ten retries at once, then one in three seconds: a page whose every request fails asks 20 times a minute. */
const budget = new RetryBudget(10, 3_000, performance.now());

/** An answer other than 2xx, or none at all (`status` 0). */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  /** What `Retry-After` asked for, in ms. */
  readonly retryAfterMs: number | null;

  constructor(status: number, message: string, retryAfter: number | null) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfter;
  }

  /** Worth asking again: no answer, a timeout, too many requests, and servers' own faults. */
  get passing(): boolean {
    const { status } = this;
    return status === 0 || status === 408 || status === 425 || status === 429 || status >= 500;
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST';
  /** Beside those of JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** 0 when the caller has a loop of its own. */
  readonly retries?: number;
  readonly backoff?: Backoff;
}

/** Fetches, and gives the response if it is 2xx. Throws {@link RequestError}, or the signal's reason. */
export async function request(url: string, options: RequestOptions = {}): Promise<Response> {
  const { signal, retries = RETRIES_MAX, backoff = REQUEST_BACKOFF } = options;
  let waitMs = backoff.baseMs;
  for (let left = retries; ; left -= 1) {
    const error = await once(url, options);
    if (error instanceof Response) return error;
    if (left <= 0 || !error.passing || !budget.take(performance.now())) throw error;
    waitMs = nextWaitMs(waitMs, backoff, Math.random);
    await pause(Math.max(waitMs, error.retryAfterMs ?? 0), signal);
  }
}

/** As {@link request}, parsed. `read` narrows what came, and throws when it is not what was promised. */
export async function requestJson<T>(
  url: string,
  read: (body: unknown) => T,
  options: RequestOptions = {},
): Promise<T> {
  const response = await request(url, options);
  return read((await response.json()) as unknown);
}

async function once(url: string, options: RequestOptions): Promise<Response | RequestError> {
  const { method = 'GET', signal, body, headers } = options;
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method,
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      headers: {
        accept: 'application/json, */*',
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const wait = retryAfterMs(response.headers.get('retry-after'), Date.now());
    return new RequestError(response.status, await sentence(response), wait);
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    return new RequestError(0, limit.aborted ? 'The server took too long.' : String(cause), null);
  }
}

/** The problem document's words (RFC 9457), or the status. */
async function sentence(response: Response): Promise<string> {
  const fallback = `The server answered ${response.status}.`;
  if (!response.headers.get('content-type')?.includes('json')) return fallback;
  try {
    const body = (await response.json()) as { detail?: unknown; title?: unknown } | null;
    const words = body?.detail ?? body?.title;
    return typeof words === 'string' ? words : fallback;
  } catch {
    return fallback;
  }
}

/** Waits; rejects with the signal's reason when aborted. The browser's `online` event ends a wait early. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
}
