/** What the scorer's page knows: what was stated, who stands where, and how to take it back. Pure. */

import { type Happening, isLegal, placeOf, type Withdrawn } from '../scores/cricket/body';
import type { Card } from '../scores/cricket/card';
import { carryOn, emptyCard } from '../scores/cricket/fold';

/** Who plays. Typed once, then picked. */
export interface Squads {
  readonly teams: readonly [string, string];
  readonly players: readonly [readonly string[], readonly string[]];
}

/** Who is where now. Null: to be picked. */
export interface Crease {
  readonly striker: string | null;
  readonly nonStriker: string | null;
  readonly bowler: string | null;
  /** The over in which the next ball is bowled, from 0. */
  readonly over: number;
}

/** The newest revision of a happening; `body` null: it was withdrawn. */
export interface Entry {
  readonly eventId: number;
  readonly revision: number;
  readonly body: Happening | null;
}

/** What one act of the scorer's changed, so that it can be undone. */
export interface Act {
  readonly words: string;
  readonly before: readonly { readonly eventId: number; readonly body: Happening | null }[];
  readonly crease: Crease;
}

/** A line of the push feed, but for the number that the outbox gives it. */
export interface Statement {
  readonly match: string;
  /** Venue time. */
  readonly at: string;
  readonly revision: number;
  readonly event_id: number;
  readonly body: Happening | Withdrawn;
}

export interface State {
  readonly match: string;
  readonly squads: Squads | null;
  readonly entries: readonly Entry[];
  readonly acts: readonly Act[];
  readonly crease: Crease;
}

/** How far back a scorer can go with Undo; everything else is a correction. Two overs with all that belongs to it. */
export const UNDO_MAX = 40;

export const NOBODY: Crease = { striker: null, nonStriker: null, bowler: null, over: 0 };

export function empty(match: string): State {
  return { match, squads: null, entries: [], acts: [], crease: NOBODY };
}

/** What happened, in the order of the field. */
export function happenings(state: State): Happening[] {
  return state.entries
    .filter((e): e is Entry & { body: Happening } => e.body !== null)
    .sort((a, b) => a.eventId - b.eventId)
    .map((e) => e.body);
}

export function card(state: State): Card {
  return carryOn(emptyCard(), happenings(state));
}

export function entry(state: State, eventId: number): Entry | null {
  return state.entries.find((e) => e.eventId === eventId) ?? null;
}

/** A change to one happening; `body` null withdraws it. */
export interface Change {
  readonly eventId: number;
  readonly body: Happening | null;
}

/** States changes: the new state, and what is to be sent. What says nothing new is left out. */
export function stateAll(
  state: State,
  changes: readonly Change[],
  atMs: number,
): { state: State; statements: Statement[] } {
  const entries = new Map(state.entries.map((e) => [e.eventId, e]));
  const statements: Statement[] = [];
  for (const { eventId, body } of changes) {
    const known = entries.get(eventId);
    if (JSON.stringify(known?.body ?? null) === JSON.stringify(body)) continue;
    const revision = (known?.revision ?? 0) + 1;
    entries.set(eventId, { eventId, revision, body });
    statements.push({
      match: state.match,
      at: new Date(atMs).toISOString(),
      revision,
      event_id: eventId,
      body: body ?? { sport: 'withdrawn', event_id: eventId, reason: 'scorer_error' },
    });
  }
  return { state: { ...state, entries: [...entries.values()] }, statements };
}

/** Takes over what another phone, or this one before, has stated. */
export function restore(state: State, statements: readonly Statement[]): State {
  const entries = new Map(state.entries.map((e) => [e.eventId, e]));
  for (const { event_id: eventId, revision, body } of statements) {
    if ((entries.get(eventId)?.revision ?? 0) >= revision) continue;
    entries.set(eventId, { eventId, revision, body: body.sport === 'cricket' ? body : null });
  }
  const next = { ...state, entries: [...entries.values()], acts: [] };
  return { ...next, crease: creaseOf(next), squads: state.squads ?? squadsOf(next) };
}

/** Teams, and whoever was named so far. */
function squadsOf(state: State): Squads | null {
  const now = card(state);
  const [one, other] = now.teams;
  if (one === undefined || other === undefined) return null;
  const named = (team: string): string[] => {
    const names = now.innings.flatMap((i) =>
      i.batting === team ? i.batters.map((b) => b.name) : i.bowlers.map((b) => b.name),
    );
    return [...new Set(names)];
  };
  return { teams: [one, other], players: [named(one), named(other)] };
}

/** Who stands where, as far as the balls tell. */
export function creaseOf(state: State): Crease {
  const innings = card(state).innings.at(-1);
  const last = innings && innings.ended === null ? balls(state, innings.innings).at(-1) : undefined;
  if (!innings || !last) return NOBODY;
  const { striker, non_striker: nonStriker } = innings;
  const legal = balls(state, innings.innings).filter((b) => b.at.over === last.at.over && isLegal(b)).length;
  const ends = legal >= innings.balls_per_over;
  return { striker, nonStriker, bowler: ends ? null : last.bowler, over: last.at.over + (ends ? 1 : 0) };
}

/** The balls of an innings, in order. */
export function balls(state: State, innings: number): (Happening & { kind: 'delivery' })[] {
  return happenings(state).filter(
    (h): h is Happening & { kind: 'delivery' } => h.kind === 'delivery' && h.at.innings === innings,
  );
}

/** `Innings 1, 5.3`: where a happening stands, for people. */
export function placeText(eventId: number): string {
  const { innings, over, ball } = placeOf(eventId);
  return `${innings === 0 ? 'Before the match' : `Innings ${innings}, over ${over + 1}, ball ${ball}`}`;
}
