/** The card of a football match (`scores::card::football`): its reader, and what carries it on. Pure. */

import { fields, list, number, string } from '../wire';

export type Side = 'home' | 'away';

export interface Team {
  name: string;
  goals: number;
  /** Kicks that went in, of a shoot-out; null without one. */
  shootout: number | null;
}

export interface Goal {
  side: Side;
  /** From 1 within the side; a retracted one keeps its number. */
  nth: number;
  clock: string;
  player: string | null;
  own: boolean;
  penalty: boolean;
  /** Why it does not count; null: it does. */
  retracted: string | null;
}

export interface Shown {
  side: Side;
  clock: string;
  player: string | null;
  colour: string;
}

export interface Substitution {
  side: Side;
  clock: string;
  off: string;
  on: string;
}

export interface Kick {
  side: Side;
  player: string | null;
  scored: boolean;
}

export interface FootballCard {
  sport: 'football';
  home: Team;
  away: Team;
  /** `first_half` … `final`; null before the first. */
  period: string | null;
  /** `78:14`; in added time `45:00+2:10`. */
  clock: string;
  goals: Goal[];
  cards: Shown[];
  substitutions: Substitution[];
  shootout: Kick[];
  /** In words, once the match is final. */
  result: string | null;
}

/** More rows than any match has. */
const ROWS_MAX = 200;

/** A card of football, or null. */
export function readCard(value: unknown): FootballCard | null {
  const o = fields(value);
  if (o?.sport !== 'football') return null;
  return {
    sport: 'football',
    home: team(o.home),
    away: team(o.away),
    period: string(o.period),
    clock: string(o.clock) ?? '0:00',
    goals: rows(o.goals, goal),
    cards: rows(o.cards, (c) => ({
      side: side(c.side),
      clock: string(c.clock) ?? '',
      player: string(c.player),
      colour: string(c.colour) ?? '',
    })),
    substitutions: rows(o.substitutions, (s) => ({
      side: side(s.side),
      clock: string(s.clock) ?? '',
      off: string(s.off) ?? '',
      on: string(s.on) ?? '',
    })),
    shootout: rows(o.shootout, (k) => ({
      side: side(k.side),
      player: string(k.player),
      scored: k.scored === true,
    })),
    result: string(o.result),
  };
}

/**
 * The card after bodies of events that stand after everything in it. The card that is given is left as it is. The result
 * is not put into words here: with the end of the match a card is fetched.
 */
export function carryOn(card: FootballCard, bodies: readonly unknown[]): FootballCard {
  const next = structuredClone(card);
  for (const body of bodies) {
    const o = fields(body);
    if (o?.sport === 'football') take(next, o);
  }
  return next;
}

function take(card: FootballCard, o: Record<string, unknown>): void {
  const which = fields(o.which);
  const of = side(which?.side);
  const clock = string(o.clock) ?? card.clock;
  card.clock = clock;
  switch (o.kind) {
    case 'line_up':
      card.home.name = string(o.home) ?? '';
      card.away.name = string(o.away) ?? '';
      return;
    case 'clock':
      card.period = string(o.period);
      return;
    case 'goal':
      card.goals.push(goal({ ...o, side: of, nth: which?.nth }));
      card[of].goals += 1;
      return;
    case 'goal_retracted':
      card.goals.push({
        ...goal({ side: of, nth: which?.nth, clock }),
        retracted: string(o.reason) ?? '',
      });
      return;
    case 'card':
      card.cards.push({ side: of, clock, player: string(o.player), colour: string(o.colour) ?? '' });
      return;
    case 'substitution':
      card.substitutions.push({ side: of, clock, off: string(o.off) ?? '', on: string(o.on) ?? '' });
      return;
    case 'shootout_kick': {
      const scored = o.scored === true;
      card.home.shootout ??= 0;
      card.away.shootout ??= 0;
      card[of].shootout = (card[of].shootout ?? 0) + (scored ? 1 : 0);
      card.shootout.push({ side: of, player: string(o.player), scored });
      return;
    }
  }
}

function goal(o: Record<string, unknown>): Goal {
  return {
    side: side(o.side),
    nth: number(o.nth) ?? 0,
    clock: string(o.clock) ?? '',
    player: string(o.player),
    own: o.own === true,
    penalty: o.penalty === true,
    retracted: string(o.retracted),
  };
}

function team(value: unknown): Team {
  const o = fields(value);
  return { name: string(o?.name) ?? '', goals: number(o?.goals) ?? 0, shootout: number(o?.shootout) };
}

function side(value: unknown): Side {
  return value === 'away' ? 'away' : 'home';
}

function rows<T>(value: unknown, read: (row: Record<string, unknown>) => T): T[] {
  return list(value)
    .slice(0, ROWS_MAX)
    .flatMap((row) => {
      const o = fields(row);
      return o ? [read(o)] : [];
    });
}
