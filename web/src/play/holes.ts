/** Holes in what is buffered: parts that never came (`GAP=YES`). Pure. */

/** A buffered range, in media time, seconds. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Browsers play across joints of up to a frame or two by themselves; the playhead stops this near a hole. */
const EDGE_S = 0.1;

/** Into the next range, so that rounding does not leave the playhead in front of it. */
const LAND_S = 0.01;

/** Two segments and some. A wider hole is not a lost pipeline but an unrelated range, as after a DVR seek. */
export const HOLE_MAX_S = 5;

export function ranges(buffered: TimeRanges): Range[] {
  return Array.from({ length: buffered.length }, (_, i) => ({
    start: buffered.start(i),
    end: buffered.end(i),
  }));
}

/** Media ahead of `at` without a hole, seconds. */
export function aheadS(buffered: readonly Range[], at: number): number {
  const here = buffered.find((r) => at >= r.start && at < r.end);
  return here ? here.end - at : 0;
}

/**
 * Where a playhead that stands at `at` should go: the next buffered range, if it stands in or just before a hole
 * and the far side is there. Null when it stands for another reason (nothing to play yet, or plenty).
 */
export function farSide(buffered: readonly Range[], at: number): number | null {
  if (aheadS(buffered, at) > EDGE_S) return null;
  for (const range of buffered) {
    if (range.start > at && range.end - range.start > EDGE_S) {
      return range.start - at <= HOLE_MAX_S ? range.start + LAND_S : null;
    }
  }
  return null;
}
