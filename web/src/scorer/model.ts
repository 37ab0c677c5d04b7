/** The scorer's page as a reducer: what is tapped becomes statements. Pure: time is an argument. */

import {
  AFTER,
  CLOSE,
  type Delivery,
  eventId,
  type Happening,
  isLegal,
  type Kind,
  type Outcome,
  type Place,
  SLOTS,
  type Target,
  type Wicket,
} from '../scores/cricket/body';
import type { Card, Innings } from '../scores/cricket/card';
import { wicketsMax } from '../scores/cricket/decide';
import { after } from '../scores/cricket/ends';
import { delivery, gone, legal, type Tap, without } from './ball';
import {
  type Act,
  balls,
  type Change,
  type Crease,
  card,
  entry,
  happenings,
  NOBODY,
  type Squads,
  type State,
  type Statement,
  stateAll,
  UNDO_MAX,
} from './state';

export type Command =
  | { readonly do: 'squads'; readonly squads: Squads }
  | {
      readonly do: 'toss';
      readonly winner: string;
      readonly decision: 'bat' | 'field';
      readonly overs: number | null;
      readonly ballsPerOver: number;
      readonly format: string;
    }
  | {
      readonly do: 'innings';
      readonly batting: string;
      readonly superOver: boolean;
      readonly target: Target | null;
    }
  | { readonly do: 'crease'; readonly crease: Partial<Crease> }
  | { readonly do: 'swap' }
  | { readonly do: 'ball'; readonly tap: Tap }
  | { readonly do: 'over' }
  | { readonly do: 'retire'; readonly wicket: Wicket }
  | { readonly do: 'penalty'; readonly team: string; readonly runs: number }
  | { readonly do: 'interruption'; readonly reason: string; readonly stopped: boolean }
  | {
      readonly do: 'review';
      readonly by: string;
      readonly batter: string | null;
      readonly outcome: 'upheld' | 'struck_down';
      readonly umpiresCall: boolean;
    }
  | {
      readonly do: 'revise';
      readonly target: Target | null;
      readonly overs: number | null;
      readonly method: string;
    }
  | { readonly do: 'end'; readonly how: string }
  | { readonly do: 'result'; readonly outcome: Outcome }
  | { readonly do: 'player'; readonly player: string }
  | { readonly do: 'correct'; readonly eventId: number; readonly ball: Delivery }
  | { readonly do: 'withdraw'; readonly eventId: number }
  | { readonly do: 'undo' };

export interface Step {
  readonly state: State;
  readonly statements: readonly Statement[];
}

/** What is to be done next. */
export type Next =
  | 'squads'
  | 'toss'
  | 'innings'
  | 'batters'
  | 'bowler'
  | 'ball'
  | 'end'
  | 'result'
  | 'player'
  | 'done';

/** What the page shows. */
export interface View {
  readonly card: Card;
  /** The innings that is being played, or was last. */
  readonly innings: Innings | null;
  readonly next: Next;
  /** The suggested way to end the innings, when `next` is `end`. */
  readonly how: string;
  /** Where the next ball is bowled. */
  readonly at: Place;
  readonly batting: readonly string[];
  readonly bowling: readonly string[];
  /** Who may come in. */
  readonly yetToBat: readonly string[];
  /** Who may bowl the next over. */
  readonly mayBowl: readonly string[];
}

const RESULT: Place = { innings: AFTER, over: 0, ball: 0, slot: 0 };

/** Nothing is stated that cannot be: the state then stays as it is. */
export function act(state: State, command: Command, atMs: number): Step {
  switch (command.do) {
    case 'squads':
      return same({ ...state, squads: command.squads });
    case 'crease':
      return same({ ...state, crease: { ...state.crease, ...command.crease } });
    case 'swap': {
      const { striker, nonStriker } = state.crease;
      return same({ ...state, crease: { ...state.crease, striker: nonStriker, nonStriker: striker } });
    }
    case 'over': {
      const { striker, nonStriker, over } = state.crease;
      const crease = { striker: nonStriker, nonStriker: striker, bowler: null, over: over + 1 };
      return same({ ...state, crease });
    }
    case 'ball':
      return ball(state, command.tap, atMs);
    case 'undo':
      return undo(state, atMs);
    case 'correct':
      return correct(state, command.eventId, command.ball, atMs);
    case 'withdraw':
      return withdraw(state, command.eventId, atMs);
    default:
      return happen(state, command, atMs);
  }
}

function same(state: State): Step {
  return { state, statements: [] };
}

/** States changes, and remembers how to take them back. */
function done(state: State, words: string, changes: readonly Change[], crease: Crease, atMs: number): Step {
  const before = changes.map(({ eventId: id }) => ({ eventId: id, body: entry(state, id)?.body ?? null }));
  const step = stateAll(state, changes, atMs);
  if (step.statements.length === 0) return same(state);
  const undoable: Act = { words, before, crease: state.crease };
  const acts = [...state.acts, undoable].slice(-UNDO_MAX);
  return { state: { ...step.state, acts, crease }, statements: step.statements };
}

function undo(state: State, atMs: number): Step {
  const last = state.acts.at(-1);
  if (!last) return same(state);
  const step = stateAll(state, last.before, atMs);
  return {
    state: { ...step.state, acts: state.acts.slice(0, -1), crease: last.crease },
    statements: step.statements,
  };
}

function ball(state: State, tap: Tap, atMs: number): Step {
  const bowled = delivery(tap, state.crease);
  const { at, next } = view(state);
  if (!bowled || next !== 'ball') return same(state);
  const before = balls(state, at.innings).filter((b) => b.at.over === at.over);
  const crease = creaseAfter(
    bowled,
    tap.wicket?.crossed === true,
    at.over,
    before,
    card(state).balls_per_over,
  );
  const body: Happening = { sport: 'cricket', at, kind: 'delivery', ...bowled };
  return done(state, 'Ball', [{ eventId: eventId(at), body }], crease, atMs);
}

/** @param others the other balls of the over. */
function creaseAfter(
  ball: Delivery,
  crossed: boolean,
  over: number,
  others: readonly Delivery[],
  perOver: number,
): Crease {
  const ends = isLegal(ball) && legal(others) + 1 >= perOver;
  return { ...after(ball, crossed, ends), bowler: ends ? null : ball.bowler, over: ends ? over + 1 : over };
}

function withdraw(state: State, id: number, atMs: number): Step {
  const body = entry(state, id)?.body;
  const last = body && balls(state, body.at.innings).at(-1);
  let crease = state.crease;
  if (body?.kind === 'delivery' && last && eventId(last.at) === id) {
    const { batter, non_striker: nonStriker, bowler, at } = body;
    crease = { striker: batter, nonStriker, bowler, over: at.over };
  }
  return done(state, 'Withdrawn', [{ eventId: id, body: null }], crease, atMs);
}

/** A new revision of a ball. Of the last one, it also says who stands where now. */
function correct(state: State, id: number, to: Delivery, atMs: number): Step {
  const body = entry(state, id)?.body;
  if (body?.kind !== 'delivery') return same(state);
  const changed: Happening = { sport: 'cricket', at: body.at, kind: 'delivery', ...to };
  return done(state, 'Correction', [{ eventId: id, body: changed }], corrected(state, changed), atMs);
}

/**
 * Who stands where after a correction. Of the last ball everything follows anew, but whoever was picked since stays;
 * an earlier ball of the same over may only end that over, or open it again.
 */
function corrected(state: State, changed: Happening & { kind: 'delivery' }): Crease {
  const { crease } = state;
  const perOver = card(state).balls_per_over;
  const all = balls(state, changed.at.innings);
  const last = all.at(-1);
  if (!last || last.at.over !== changed.at.over) return crease;
  const others = all.filter((b) => b.at.over === last.at.over && b.at.ball !== changed.at.ball);
  if (last.at.ball === changed.at.ball) {
    const next = creaseAfter(changed, false, changed.at.over, others, perOver);
    const new_ = [crease.striker, crease.nonStriker].find(
      (name) => name !== null && ![last.batter, last.non_striker].includes(name),
    );
    return {
      striker: next.striker ?? new_ ?? null,
      nonStriker: next.nonStriker ?? (next.striker === null ? null : (new_ ?? null)),
      bowler: next.over === crease.over ? (crease.bowler ?? next.bowler) : next.bowler,
      over: next.over,
    };
  }
  const full = legal(others) + (isLegal(changed) ? 1 : 0) >= perOver;
  const turned = { ...crease, striker: crease.nonStriker, nonStriker: crease.striker };
  if (full && crease.over === last.at.over) return { ...turned, bowler: null, over: crease.over + 1 };
  const was = legal(all.filter((b) => b.at.over === last.at.over)) >= perOver;
  if (!full && was && crease.over === last.at.over + 1) {
    return { ...turned, bowler: last.bowler, over: last.at.over };
  }
  return crease;
}

function happen(state: State, command: Command, atMs: number): Step {
  const here = lastPlace(state);
  const innings = here.innings;
  const say = (words: string, at: Place, kind: Kind, crease = state.crease): Step => {
    const body = { sport: 'cricket', at, ...kind } as Happening;
    return done(state, words, [{ eventId: eventId(at), body }], crease, atMs);
  };
  switch (command.do) {
    case 'toss': {
      if (!state.squads) return same(state);
      const { winner, decision, overs, ballsPerOver, format } = command;
      const { teams } = state.squads;
      const at = { innings: 0, over: 0, ball: 0, slot: SLOTS.toss[0] };
      return say('Toss', at, {
        kind: 'toss',
        teams,
        winner,
        decision,
        balls_per_over: ballsPerOver,
        overs,
        format,
      });
    }
    case 'innings': {
      const bowling = state.squads?.teams.find((t) => t !== command.batting);
      if (bowling === undefined) return same(state);
      const at = { innings: innings + 1, over: 0, ball: 0, slot: SLOTS.innings_started[0] };
      const { batting, superOver, target } = command;
      const kind: Kind = { kind: 'innings_started', batting, bowling, super_over: superOver, target };
      return say('Innings', at, kind, NOBODY);
    }
    case 'retire': {
      const crease = without(state.crease, command.wicket.player_out);
      return say('Retired', free(state, here, 'retired'), { kind: 'retired', ...command.wicket }, crease);
    }
    case 'penalty': {
      const { team, runs } = command;
      return say('Penalty', free(state, here, 'penalty'), { kind: 'penalty', team, runs });
    }
    case 'interruption': {
      const { reason, stopped } = command;
      return say('Interruption', free(state, here, 'interruption'), {
        kind: 'interruption',
        reason,
        stopped,
      });
    }
    case 'review': {
      const { by, batter, outcome, umpiresCall } = command;
      const kind: Kind = { kind: 'review', by, umpire: null, batter, outcome, umpires_call: umpiresCall };
      return say('Review', free(state, here, 'review'), kind);
    }
    case 'revise': {
      const { target, overs, method } = command;
      return say('Target', free(state, here, 'target_revised'), {
        kind: 'target_revised',
        target,
        overs,
        method,
      });
    }
    case 'end': {
      const at = { innings, over: CLOSE, ball: 0, slot: 0 };
      return say('End of innings', at, { kind: 'innings_ended', how: command.how }, NOBODY);
    }
    case 'result':
      return say('Result', RESULT, { kind: 'result', ...command.outcome });
    case 'player': {
      const at = free(state, RESULT, 'player_of_match');
      return say('Player of the match', at, { kind: 'player_of_match', player: command.player });
    }
    default:
      return same(state);
  }
}

/** After which ball we are. */
function lastPlace(state: State): Place {
  const playing = happenings(state).filter((h) => h.at.innings < AFTER && h.at.over < CLOSE);
  const innings = playing.reduce((n, h) => Math.max(n, h.at.innings), 0);
  const last = balls(state, innings).at(-1);
  return last?.at ?? { innings, over: 0, ball: 0, slot: 0 };
}

/** The first slot of a kind that is free at a place: what was withdrawn leaves its own. */
function free(state: State, at: Place, kind: keyof typeof SLOTS): Place {
  const [first, many] = SLOTS[kind];
  for (let n = 0; n < many; n += 1) {
    const place = { ...at, slot: first + n };
    if ((entry(state, eventId(place))?.body ?? null) === null) return place;
  }
  return { ...at, slot: first + many - 1 };
}

/** What stands, and what is to be done next. */
export function view(state: State): View {
  const now = card(state);
  const innings = now.innings.at(-1) ?? null;
  const at = nextPlace(state);
  const side = (team: string | undefined): readonly string[] =>
    state.squads?.players[state.squads.teams.indexOf(team ?? '')] ?? [];
  const batting = side(innings?.batting);
  const bowling = side(innings?.bowling);
  const out = gone(wicketsOf(state, at.innings));
  const { striker, nonStriker, bowler } = state.crease;
  const last = innings?.over_summaries.at(-1);
  const lastBowler = last && at.over >= last.number ? last.bowlers.at(-1) : null;
  const how = innings ? endsBy(now, innings, batting.length) : '';
  return {
    card: now,
    innings,
    at,
    batting,
    bowling,
    yetToBat: batting.filter((p) => !out.has(p) && p !== striker && p !== nonStriker),
    mayBowl: bowling.filter((p) => p !== lastBowler),
    how,
    next: nextOf(),
  };

  function nextOf(): Next {
    if (!state.squads) return 'squads';
    if (!now.toss) return 'toss';
    if (entry(state, eventId(RESULT))?.body) return now.player_of_match.length === 0 ? 'player' : 'done';
    if (!innings) return 'innings';
    if (innings.ended !== null) return isOver(now) ? 'result' : 'innings';
    if (how !== '') return 'end';
    if (striker === null || nonStriker === null) return 'batters';
    return bowler === null ? 'bowler' : 'ball';
  }
}

function nextPlace(state: State): Place {
  const { innings } = lastPlace(state);
  const { over } = state.crease;
  const last = balls(state, innings).findLast((b) => b.at.over === over);
  return { innings, over, ball: (last?.at.ball ?? 0) + 1, slot: 0 };
}

function wicketsOf(state: State, innings: number): Wicket[] {
  return happenings(state).flatMap((h) => {
    if (h.at.innings !== innings) return [];
    return h.kind === 'retired' ? [h] : h.kind === 'delivery' ? [...(h.wickets ?? [])] : [];
  });
}

/** How the innings has to end by itself; empty while it goes on. */
function endsBy(now: Card, innings: Innings, players: number): string {
  if (innings.target && innings.runs >= innings.target.runs) return 'target';
  const most = innings.super_over ? wicketsMax(innings) : Math.min(10, Math.max(1, players - 1));
  if (innings.wickets >= most) return 'all_out';
  const whole = innings.overs_max === null ? null : innings.overs_max * now.balls_per_over - innings.balls;
  const max = innings.balls_left ?? whole;
  return max !== null && max <= 0 ? 'overs' : '';
}

/** Whether the match is decided, or nothing more is to be played. */
function isOver(now: Card): boolean {
  const supers = now.innings.filter((i) => i.super_over);
  if (now.overs === null) return now.innings.length >= 4;
  return now.innings.length >= 2 && (supers.length === 0 || supers.length % 2 === 0);
}

/** The runs that the next innings needs to win; null: it does not chase. */
export function targetOf(now: Card): Target | null {
  const last = now.innings.at(-1);
  if (!last || now.overs === null) return null;
  const first = now.innings.length % 2 === 1;
  return first
    ? { runs: last.runs + 1, overs: last.super_over ? '1' : String(last.overs_max ?? now.overs) }
    : null;
}

/** Who bats next: the sides take turns; in a super over who batted second bats first. */
export function battingNext(now: Card, teams: readonly [string, string]): string {
  const last = now.innings.at(-1);
  if (!last) {
    const { winner, decision } = now.toss ?? { winner: teams[0], decision: 'bat' };
    return decision === 'bat' ? winner : (teams.find((t) => t !== winner) ?? teams[1]);
  }
  return now.innings.length % 2 === 0 ? last.batting : last.bowling;
}
