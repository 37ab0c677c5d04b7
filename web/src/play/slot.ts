/** The place of this device among those that may play at once: kept by heartbeats, given up when the page is left. */

import { obey, type Slot } from '../net/api';
import type { Backoff } from '../net/backoff';
import { pause, RequestError, restAgain } from '../net/request';
import { heartbeat, stop } from '../net/streams';

/** After a heartbeat that was not answered: two may be lost before the slot is. */
const AGAIN: Backoff = { baseMs: 2_000, capMs: 30_000 };

export class SlotKeeper {
  readonly #over: () => void;
  #slot: Slot | null = null;
  #life = new AbortController();

  /** @param over it was stopped from elsewhere, or is not known any more. */
  constructor(over: () => void) {
    this.#over = over;
  }

  /** The stream that has it. */
  get stream(): string | null {
    return this.#slot?.id ?? null;
  }

  /** The one that the last answer of play gave; the one before it is over by that. Null: none is needed. */
  take(slot: Slot | null): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#slot = slot;
    if (slot !== null) void this.#keep(slot, this.#life.signal);
  }

  /** Another device may have it. `leaving`: the page goes away at this moment. */
  giveUp(leaving: boolean): void {
    const slot = this.#slot;
    this.take(null);
    // What is not told is noticed by the silence.
    if (slot !== null) stop(slot.id, leaving).catch(() => undefined);
  }

  async #keep(slot: Slot, signal: AbortSignal): Promise<void> {
    let waitMs = AGAIN.baseMs;
    try {
      await pause(slot.everyS * 1000, signal);
      for (;;) {
        const failure = await beat(slot, signal);
        if (failure === null) {
          waitMs = AGAIN.baseMs;
          await pause(slot.everyS * 1000, signal);
          continue;
        }
        if (failure.status === 410 || failure.status === 401) {
          this.take(null);
          this.#over();
          return;
        }
        waitMs = await restAgain(failure, waitMs, AGAIN, signal);
      }
    } catch {
      // Given up, or replaced.
    }
  }
}

/** Null: it was heard. */
async function beat(slot: Slot, signal: AbortSignal): Promise<RequestError | null> {
  try {
    obey(await heartbeat(slot.heartbeat, signal));
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof RequestError ? error : null;
  }
}
