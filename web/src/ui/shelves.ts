/** What stands where on the home page. Pure. */

import type { Match } from '../net/api';
import type { Stream } from '../net/streams';
import type { Watched } from '../play/history';

export interface Entry {
  readonly match: Match;
  /** To go on from, venue time, UTC ms; null: at the live edge; undefined: nothing to go on with. */
  readonly at?: number | null | undefined;
  /** Another device that plays it now. */
  readonly device?: string | undefined;
}

export interface Shelves {
  readonly now: readonly Entry[];
  readonly goOn: readonly Entry[];
  readonly next: readonly Entry[];
  readonly before: readonly Entry[];
}

/** A phone's page has an end. What is over is found by its date elsewhere. */
const GO_ON_MAX = 4;
const BEFORE_MAX = 12;

/** @param watched here, the newest first. @param streams of this viewer, on all devices. */
export function shelves(
  all: readonly Match[],
  watched: readonly Watched[],
  streams: readonly Stream[],
): Shelves {
  const of = (status: Match['status']): Match[] => all.filter((m) => m.status === status);
  const byStart = (a: Match, b: Match): number => a.startMs - b.startMs;
  return {
    now: of('live').map((match) => ({ match })),
    goOn: goOn(all, watched, streams),
    next: [...of('scheduled').sort(byStart), ...of('postponed')].map((match) => ({ match })),
    before: of('final')
      .filter((m) => m.watchable)
      .sort((a, b) => byStart(b, a))
      .slice(0, BEFORE_MAX)
      .map((match) => ({ match })),
  };
}

/** First what plays on another device at this moment, then what was watched here. */
function goOn(all: readonly Match[], watched: readonly Watched[], streams: readonly Stream[]): Entry[] {
  const open = (name: string): Match | undefined =>
    all.find((m) => m.match === name && m.watchable && (m.status === 'live' || m.status === 'final'));
  const entries = new Map<string, Entry>();
  for (const { match: name, name: device, here } of streams) {
    const match = open(name);
    if (match && !here) entries.set(name, { match, at: null, device });
  }
  for (const { match: name, venueMs } of watched) {
    const match = open(name);
    // Of a match that is over there is no live edge to go on at.
    if (match && !entries.has(name) && (venueMs !== null || match.live))
      entries.set(name, { match, at: venueMs });
  }
  return [...entries.values()].slice(0, GO_ON_MAX);
}
