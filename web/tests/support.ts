/** What several tests need. */

import type { ScoreEvent } from '../src/scores/wire';

/** Of a test with hundreds of seeds, on a machine that others use too: it takes some seconds on an idle one. */
export const LIMIT_MS = 60_000;

export function event(id: number, revision: number, cursor: string, more: object = {}): ScoreEvent {
  return {
    type: 'score_event',
    match_id: 'm',
    event_id: id,
    revision,
    cursor,
    venue_ms: id * 1_000,
    correction: revision > 1,
    body: { sport: 'cricket', kind: 'delivery' },
    score: { sport: 'cricket', text: `T ${id}/0`, balls: id },
    moment: null,
    ...more,
  };
}

/** Numbers from 0 to 1 that can be had again (mulberry32). */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
