/** How long to wait between attempts. Pure: randomness and time are arguments. */

export interface Backoff {
  /** The shortest wait, in ms. */
  readonly baseMs: number;
  /** The longest wait, in ms. */
  readonly capMs: number;
}

/** For requests that a person waits for: the first retry is soon, and none is further off than a held breath. */
export const REQUEST_BACKOFF: Backoff = { baseMs: 300, capMs: 8_000 };

/** For a match that has not started: polite to the server, and still there within seconds of the first frame. */
export const START_BACKOFF: Backoff = { baseMs: 1_500, capMs: 10_000 };

/** For rebuilding a player after a fatal media error. */
export const RECOVERY_BACKOFF: Backoff = { baseMs: 400, capMs: 10_000 };

/** For a match that could not be opened: it is tried again by itself, without hurry. */
export const REOPEN_BACKOFF: Backoff = { baseMs: 10_000, capMs: 30_000 };

/** No server means more than this when it says `Retry-After`, and a page that sleeps for hours is dead. Ten minutes. */
export const RETRY_AFTER_CAP_MS = 10 * 60_000;

/**
 * Decorrelated jitter: uniform between the base and three times the previous wait, capped. A crowd that failed
 * together does not come back together, and each waits longer as the fault lasts.
 */
export function nextWaitMs(previousMs: number, backoff: Backoff, random: () => number): number {
  const high = Math.max(backoff.baseMs, previousMs * 3);
  const wait = backoff.baseMs + random() * (high - backoff.baseMs);
  return Math.min(backoff.capMs, wait);
}

/**
 * `Retry-After` (RFC 9110, 10.2.3) as milliseconds from now: seconds or an HTTP date. Null when absent or not
 * understood; never negative, never above {@link RETRY_AFTER_CAP_MS}.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const wait = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  if (!Number.isFinite(wait)) return null;
  return Math.min(RETRY_AFTER_CAP_MS, Math.max(0, wait));
}

/**
 * Retries that the whole page may spend, so that many failing requests do not multiply: a bucket of tokens that
 * fills slowly. First attempts are free.
 */
export class RetryBudget {
  #tokens: number;
  #atMs: number;
  #size: number;
  #refillMs: number;

  /** @param size tokens when full. @param refillMs time in which one token comes back. */
  constructor(size: number, refillMs: number, nowMs: number) {
    this.#size = size;
    this.#refillMs = refillMs;
    this.#tokens = size;
    this.#atMs = nowMs;
  }

  /** Another size and pace from now on; what was spent stays spent. */
  resize(size: number, refillMs: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#tokens = Math.min(size, this.#tokens);
    this.#size = size;
    this.#refillMs = refillMs;
  }

  /** Takes a token if there is one. */
  take(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes a token, even one that is still to come: how long until it is there, ms. */
  reserve(nowMs: number): number {
    this.#fill(nowMs);
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : -this.#tokens * this.#refillMs;
  }

  #fill(nowMs: number): void {
    const back = Math.max(0, nowMs - this.#atMs) / this.#refillMs;
    this.#tokens = Math.min(this.#size, this.#tokens + back);
    this.#atMs = nowMs;
  }
}
