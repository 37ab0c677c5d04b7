/** Asks again and again, without hurry, without lockstep, and not while nobody looks. */

import { type Backoff, nextWaitMs } from '../net/backoff';
import { pause } from '../net/request';

/** Between two answers: what an operator watches changes in seconds. Drawn anew each time. */
const EVERY = { leastMs: 4_000, mostMs: 6_000 };
/** While there is no answer. */
const AWAY: Backoff = { baseMs: 2_000, capMs: 20_000 };

/** How long to wait after an answer, or after one more failure. */
export function waitAfter(good: boolean, previousMs: number, random: () => number): number {
  if (good) return EVERY.leastMs + random() * (EVERY.mostMs - EVERY.leastMs);
  return nextWaitMs(previousMs, AWAY, random);
}

export class Poll {
  readonly #ask: () => Promise<boolean>;
  #wake = new AbortController();
  #again = false;

  /** @param ask asks and shows; false when there was no answer. It never rejects. */
  constructor(ask: () => Promise<boolean>, life: AbortSignal) {
    this.#ask = ask;
    void this.#run(life);
  }

  /** Asks now. */
  now(): void {
    this.#again = true;
    this.#wake.abort();
  }

  async #run(life: AbortSignal): Promise<void> {
    for (let waitMs = AWAY.baseMs; !life.aborted; ) {
      await seen(life);
      this.#again = false;
      const good = await this.#ask();
      waitMs = waitAfter(good, good ? AWAY.baseMs : waitMs, Math.random);
      if (this.#again) continue;
      this.#wake = new AbortController();
      await pause(waitMs, AbortSignal.any([life, this.#wake.signal])).catch(() => {});
    }
  }
}

/** Resolves when the tab is shown, at once if it is. */
function seen(life: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (document.hidden && !life.aborted) return;
      document.removeEventListener('visibilitychange', look);
      life.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    life.addEventListener('abort', look);
    look();
  });
}
