/**
 * The page's one retry policy: decorrelated jitter, a cap, a budget that all requests share, `Retry-After`, and what
 * the door advises. Pure: time and randomness are arguments.
 */

import { type Advice, NO_ADVICE } from './advice';
import { type Backoff, nextWaitMs, RetryBudget } from './backoff';

/** Tries again at once at most; then as fast as advised. */
const BURST = 10;

/** Advised to try nothing again: what goes on by itself then asks this seldom. Ten minutes. */
const NEVER_MS = 10 * 60_000;

/**
 * Longer than this nobody waits for an answer without being told: the request fails, the page says so, and what goes
 * on by itself waits as long as it must.
 */
export const PATIENCE_MS = 10_000;

/** A random part of this comes on top of `Retry-After`, so that those who were told the same come apart. */
const SPREAD_MS = 1_000;

/** How a request failed. */
export interface Failure {
  /** 0: there was no answer. */
  readonly status: number;
  readonly retryAfterMs: number | null;
}

export interface Wait {
  /** Drawn: what the next one is drawn from. A connection that comes back may end it early. */
  readonly drawnMs: number;
  /** Asked for by the server or by the budget: nothing ends it early. */
  readonly leastMs: number;
}

export class Policy {
  #advice = NO_ADVICE;
  readonly #budget: RetryBudget;

  constructor(nowMs: number) {
    this.#budget = new RetryBudget(BURST, 60_000 / NO_ADVICE.perMinute, nowMs);
  }

  /** Obeyed from now on. */
  advise(advice: Advice, nowMs: number): void {
    const { perMinute } = advice;
    if (perMinute !== this.#advice.perMinute) {
      this.#budget.resize(Math.min(BURST, perMinute), perMinute > 0 ? 60_000 / perMinute : NEVER_MS, nowMs);
    }
    this.#advice = advice;
  }

  /** The caller's own bounds, or the advised ones where those are more patient. */
  backoff(own: Backoff): Backoff {
    const { baseMs, capMs } = this.#advice.backoff;
    return { baseMs: Math.max(own.baseMs, baseMs), capMs: Math.max(own.capMs, capMs) };
  }

  /** The wait before a request that failed is tried again; null: it is not. */
  retry(
    failure: Failure,
    previousMs: number,
    own: Backoff,
    nowMs: number,
    random: () => number,
  ): Wait | null {
    if (!isPassing(failure.status)) return null;
    const wait = this.#draw(failure.retryAfterMs, previousMs, own, random);
    if (Math.max(wait.drawnMs, wait.leastMs) > PATIENCE_MS) return null;
    return this.#budget.take(nowMs) ? wait : null;
  }

  /** The wait of something that goes on by itself until it succeeds. */
  again(
    retryAfterMs: number | null,
    previousMs: number,
    own: Backoff,
    nowMs: number,
    random: () => number,
  ): Wait {
    const wait = this.#draw(retryAfterMs, previousMs, own, random);
    return { ...wait, leastMs: Math.max(wait.leastMs, this.#budget.reserve(nowMs)) };
  }

  /** Until something is looked at again, ms: never sooner than advised, and not in lockstep. */
  everyMs(what: string, usualMs: number, random: () => number): number {
    const least = (this.#advice.refreshS.get(what) ?? 0) * 1000;
    return Math.max(usualMs, least) * (1 + random() / 2);
  }

  /** Whether a feature is to be left off. */
  isOff(feature: string): boolean {
    return this.#advice.off.has(feature);
  }

  #draw(retryAfterMs: number | null, previousMs: number, own: Backoff, random: () => number): Wait {
    return {
      drawnMs: nextWaitMs(previousMs, this.backoff(own), random),
      leastMs: retryAfterMs === null ? 0 : retryAfterMs + random() * SPREAD_MS,
    };
  }
}

/** Worth asking again: no answer, a timeout, too many requests, and servers' own faults. */
export function isPassing(status: number): boolean {
  return status === 0 || status === 408 || status === 425 || status === 429 || status >= 500;
}
