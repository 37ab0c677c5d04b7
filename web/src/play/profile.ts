/** Latency profiles: a choice, not a race. */

export const PROFILES = ['live', 'balanced', 'steady'] as const;
export type ProfileName = (typeof PROFILES)[number];
export const DEFAULT_PROFILE: ProfileName = 'balanced';

/** Lengths of the grid that a profile is made of, in seconds. */
export interface Grid {
  readonly segmentS: number;
  readonly partS: number;
}

export interface Profile {
  readonly name: ProfileName;
  /** Parts, blocking reloads, preload hints; without it, ordinary HLS of whole segments. */
  readonly lowLatency: boolean;
  /** How far the playhead stays behind the newest media, in seconds. */
  readonly holdBackS: number;
  /** Added to the hold-back after a stall, and how much in all, in seconds. */
  readonly widenStepS: number;
  readonly widenMaxS: number;
  /** Fastest playback when catching up. Speech is natural to 1.1; `live` may be brisk, it catches up rarely. */
  readonly rateMax: number;
}

/**
 * Of `balanced`. With the 0.3 to 0.6 s that a frame needs to reach the player it makes about four seconds behind
 * the ground, and rides out a segment that a network loses once.
 */
const BALANCED_HOLD_BACK_S = 3.4;

/** EXT-X-TARGETDURATION: the segment length rounded to the nearest second (rfc8216bis, 4.4.3.1). */
export function targetDurationS(grid: Grid): number {
  return Math.max(1, Math.round(grid.segmentS));
}

export function profile(name: ProfileName, grid: Grid): Profile {
  switch (name) {
    case 'live':
      // PART-HOLD-BACK's minimum, three parts. Two more after each stall; two seconds in all is `balanced`.
      return {
        name,
        lowLatency: true,
        holdBackS: 3 * grid.partS,
        widenStepS: 2 * grid.partS,
        widenMaxS: 2,
        rateMax: 1.25,
      };
    case 'balanced':
      return {
        name,
        lowLatency: true,
        holdBackS: BALANCED_HOLD_BACK_S,
        widenStepS: 1,
        widenMaxS: 3,
        rateMax: 1.1,
      };
    case 'steady':
      // HOLD-BACK, three target durations. A player of whole segments gains only from a whole one more.
      return {
        name,
        lowLatency: false,
        holdBackS: 3 * targetDurationS(grid),
        widenStepS: targetDurationS(grid),
        widenMaxS: 2 * targetDurationS(grid),
        rateMax: 1,
      };
  }
}

export function isProfile(name: string | null): name is ProfileName {
  return PROFILES.some((p) => p === name);
}
