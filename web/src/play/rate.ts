/**
 * Staying at the hold-back by playing a little faster or slower. One law for both players, whose own (a
 * threshold on the forward buffer, or a fixed fast rate) do not reach three parts of hold-back.
 *
 * Measured against the clock, not the buffer: the media that arrives is `delayS` old (encoding, packaging,
 * network), so the playhead belongs `delayS + holdBackS` behind the ground. An error of the clock's offset is in
 * both and cancels.
 */

export interface Position {
  /** Ground to screen, seconds. */
  readonly behindS: number;
  /** Ground to buffer, seconds: see {@link Delay}. */
  readonly delayS: number;
  readonly holdBackS: number;
  /** Playable media ahead of the playhead, seconds. */
  readonly aheadS: number;
  readonly rateMax: number;
}

/** Nobody sees a difference of two frames, and a rate that never rests is heard. */
const DEAD_BAND_S = 0.08;

/** One second off makes 20 % faster: half of any distance is gone in about 3.5 s. */
const GAIN = 0.2;

/** Slower than this sounds tired. */
const RATE_MIN = 0.95;

/**
 * A playhead that is more than about a part too near the edge, as after a jump over a hole, would stand for longer
 * at the next hole: it goes back within seconds, not within half a minute.
 */
const RATE_MIN_TOO_NEAR = 0.85;
const TOO_NEAR_S = 0.3;

/** But a picture that is about to stop is better slow: as after a jump over a hole to the very edge. */
const RATE_MIN_AT_EDGE = 0.8;

/** With less than this ahead nothing is gained by hurrying: the next part decides. About one part. */
const HURRY_AHEAD_S = 0.3;

/** Rates are multiples of a hundredth, so that the media element is not set anew four times a second. */
const RATES_PER_UNIT = 100;

/** Further than this from where it belongs, a live playhead jumps: catching up would take half a minute. */
export const JUMP_S = 4;

/** How far behind the place where it belongs the playhead is, in seconds; negative is ahead of it. */
export function lagS(at: Position): number {
  return at.behindS - at.delayS - at.holdBackS;
}

export function playbackRate(at: Position): number {
  const lag = lagS(at);
  if (Math.abs(lag) < DEAD_BAND_S || at.rateMax <= 1) return 1;
  if (lag > 0 && at.aheadS < HURRY_AHEAD_S) return 1;
  if (lag < 0 && at.aheadS < HURRY_AHEAD_S) return RATE_MIN_AT_EDGE;
  const slowest = lag < -TOO_NEAR_S ? RATE_MIN_TOO_NEAR : RATE_MIN;
  const rate = Math.min(at.rateMax, Math.max(slowest, 1 + (lag < -TOO_NEAR_S ? 1 : GAIN) * lag));
  return Math.round(rate * RATES_PER_UNIT) / RATES_PER_UNIT;
}

/** Long enough to see the newest part arrive many times, short enough to follow a network that changes. */
const DELAY_WINDOW_MS = 8_000;

/**
 * The age of media when it arrives: the least of what was seen of `now − venue time of the buffer's end` in the
 * last seconds (between arrivals it only grows).
 */
export class Delay {
  #seen: { atMs: number; ageS: number }[] = [];

  see(nowMs: number, ageS: number): void {
    this.#seen = this.#seen.filter((s) => nowMs - s.atMs < DELAY_WINDOW_MS);
    this.#seen.push({ atMs: nowMs, ageS });
  }

  /** Null until something was seen. */
  get seconds(): number | null {
    return this.#seen.length === 0 ? null : Math.min(...this.#seen.map((s) => s.ageS));
  }

  reset(): void {
    this.#seen = [];
  }
}
