/** The hold-back that is in force: the profile's, wider after stalls, slowly back when all is well. */

import type { Profile } from './profile';

/** A minute may be luck; five are a network that got better. */
export const CLEAN_BEFORE_NARROWING_MS = 5 * 60_000;

/** After that, one step a minute: each step back is itself tried for a while before the next. */
export const NARROWING_EVERY_MS = 60_000;

/** Back in small steps, so that no catching up is heard. */
export const NARROWING_STEP_S = 0.25;

/** One underrun shows as several stalls in a row (the players nudge); it widens once. */
export const ONE_STALL_WITHIN_MS = 3_000;

export class HoldBack {
  #extraS = 0;
  #stalledAtMs = Number.NEGATIVE_INFINITY;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  readonly #profile: Profile;

  constructor(profile: Profile) {
    this.#profile = profile;
  }

  /** In force now, in seconds. */
  get seconds(): number {
    return this.#profile.holdBackS + this.#extraS;
  }

  /** Of it, what stalls have added. */
  get extraS(): number {
    return this.#extraS;
  }

  /** The buffer ran dry. Returns whether the hold-back became wider. */
  stalled(nowMs: number): boolean {
    const again = nowMs - this.#stalledAtMs < ONE_STALL_WITHIN_MS;
    this.#stalledAtMs = nowMs;
    if (again) return false;
    const extra = Math.min(this.#profile.widenMaxS, this.#extraS + this.#profile.widenStepS);
    const wider = extra > this.#extraS;
    this.#extraS = extra;
    this.#changedAtMs = nowMs;
    return wider;
  }

  /** Called from time to time. Returns whether the hold-back became narrower. */
  settle(nowMs: number): boolean {
    if (this.#extraS === 0) return false;
    if (nowMs - this.#stalledAtMs < CLEAN_BEFORE_NARROWING_MS) return false;
    if (nowMs - this.#changedAtMs < NARROWING_EVERY_MS) return false;
    this.#extraS = Math.max(0, this.#extraS - NARROWING_STEP_S);
    this.#changedAtMs = nowMs;
    return true;
  }
}
