/** The server's clock, estimated: the page's "now" for everything that is compared with venue time. */

import { requestJson } from './request';

/** One exchange with the server, by the browser's monotonic clock. */
export interface Exchange {
  readonly sentMs: number;
  readonly receivedMs: number;
  readonly serverMs: number;
}

/** A few exchanges; the quickest of them is believed. More would not be quicker. */
const EXCHANGES = 5;

/** Quartz drifts up to 50 ppm, 15 ms in five minutes: below what a person or a test can see. */
const RESYNC_MS = 5 * 60_000;

/**
 * Server time minus local time, from the exchange with the shortest round trip: its error is at most half of
 * that trip (as in NTP). Null without any.
 */
export function offsetMs(exchanges: readonly Exchange[]): number | null {
  let best: Exchange | null = null;
  for (const e of exchanges) {
    if (e.receivedMs < e.sentMs) continue;
    if (best === null || e.receivedMs - e.sentMs < best.receivedMs - best.sentMs) best = e;
  }
  return best && best.serverMs - (best.sentMs + best.receivedMs) / 2;
}

/** Monotonic local time on the UTC scale; unlike `Date.now()` it never jumps. */
export function localMs(): number {
  return performance.timeOrigin + performance.now();
}

export class ServerClock {
  #offsetMs = 0;
  #syncedAt = Number.NEGATIVE_INFINITY;
  #busy = false;

  /** UTC in ms, by the server's clock once {@link sync} has succeeded, by the device's until then. */
  nowMs(): number {
    return localMs() + this.#offsetMs;
  }

  /** Whether the server's clock is known. */
  get known(): boolean {
    return this.#syncedAt > Number.NEGATIVE_INFINITY;
  }

  /** Asks again when the last answer has grown old. Failure leaves the last estimate. */
  async sync(): Promise<void> {
    if (this.#busy || localMs() - this.#syncedAt < RESYNC_MS) return;
    this.#busy = true;
    const exchanges: Exchange[] = [];
    try {
      for (let n = 0; n < EXCHANGES; n += 1) {
        const sentMs = localMs();
        const serverMs = await requestJson('/v1/time', readTime, { retries: 1 });
        exchanges.push({ sentMs, receivedMs: localMs(), serverMs });
      }
    } catch {
      // Fewer exchanges, or none: what came is used.
    }
    this.#busy = false;
    const offset = offsetMs(exchanges);
    if (offset === null) return;
    this.#offsetMs = offset;
    this.#syncedAt = localMs();
  }
}

function readTime(body: unknown): number {
  const value = (body as { utc_ms?: unknown } | null)?.utc_ms;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new TypeError('/v1/time: no utc_ms');
  return value;
}
