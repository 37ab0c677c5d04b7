/** Which transport to try: sockets first, what gets through otherwise. Pure. */

import { FAILS_BEFORE_NEXT, SOCKET_AGAIN_MS } from './limits';
import type { Transport } from './messages';

export class Ways {
  transport: Transport = 'ws';
  /** In a row, before anything got through. */
  #fails = 0;
  #socketTriedAt = Number.NEGATIVE_INFINITY;

  trying(nowMs: number): void {
    if (this.transport === 'ws') this.#socketTriedAt = nowMs;
  }

  /** Something got through. */
  through(): void {
    this.#fails = 0;
  }

  /**
   * A connection has ended.
   *
   * @param opened something got through before. @param status of HTTP, when there was an answer.
   */
  ended(opened: boolean, status: number | null, nowMs: number): void {
    const socketAgain = nowMs - this.#socketTriedAt > SOCKET_AGAIN_MS;
    // An answer of the server, whatever it was, means that the way is open: it is busy, or wants another token.
    if (status !== null && status !== 404 && status !== 405) this.transport = 'ws';
    else if (opened && !socketAgain) this.#fails = 0;
    else if (opened) this.transport = 'ws';
    else {
      this.#fails += 1;
      if (this.#fails < FAILS_BEFORE_NEXT) return;
      this.#fails = 0;
      this.transport = this.transport === 'ws' ? 'sse' : this.transport === 'sse' ? 'poll' : 'ws';
    }
  }
}
