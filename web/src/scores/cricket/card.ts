/** The scorecard of a cricket match: the JSON of `scores::card::cricket::Card`, and its reader. Pure. */

import { fields, list, number, string } from '../wire';
import type { Target } from './body';

export interface Card {
  teams: string[];
  toss: { winner: string; decision: string } | null;
  balls_per_over: number;
  /** Of a full innings; null in a Test, or until the toss is known. */
  overs: number | null;
  /** Why play is stopped, while it is. */
  interrupted: string | null;
  innings: Innings[];
  /** Deliveries bowled in the match, wides and no-balls too. */
  deliveries: number;
  /** In words: as it was announced, or as the score decides it. */
  result: string | null;
  player_of_match: string[];
  /** Penalty runs to a side that has not batted; only where the card is folded here. */
  owed?: { team: string; runs: number }[];
}

export interface Innings {
  /** From 1, super overs too. */
  innings: number;
  batting: string;
  bowling: string;
  super_over: boolean;
  runs: number;
  wickets: number;
  /** `5.3`. */
  overs: string;
  balls_per_over: number;
  /** Legal deliveries, full overs counted in full. */
  balls: number;
  deliveries: number;
  run_rate: number | null;
  extras: ExtrasTotal;
  batters: Batter[];
  bowlers: Bowler[];
  partnerships: Partnership[];
  fall: Fall[];
  over_summaries: Over[];
  /** How it ended; null while it lasts. */
  ended: string | null;
  /** What it must reach to win. */
  target: Target | null;
  /** How the target was revised, if it was. */
  method: string | null;
  runs_needed: number | null;
  balls_left: number | null;
  required_rate: number | null;
  overs_max: number | null;
  /** Who faces the next ball, as far as is known. */
  striker: string | null;
  non_striker: string | null;
  /** Who bowled last. */
  bowler: string | null;
  /** The balls of the over that is being bowled, or of the last. */
  over: string[];
}

export interface ExtrasTotal {
  wides: number;
  noballs: number;
  byes: number;
  legbyes: number;
  penalty: number;
  total: number;
}

export interface Batter {
  name: string;
  runs: number;
  balls: number;
  fours: number;
  sixes: number;
  strike_rate: number | null;
  status: string;
  /** `c Smith b Jones`. */
  out: string | null;
}

export interface Bowler {
  name: string;
  overs: string;
  balls: number;
  maidens: number;
  runs: number;
  wickets: number;
  wides: number;
  noballs: number;
  economy: number | null;
}

export interface Partnership {
  wicket: number;
  batters: { name: string; runs: number; balls: number }[];
  runs: number;
  balls: number;
  unbroken: boolean;
}

export interface Fall {
  wicket: number;
  runs: number;
  player: string;
  overs: string;
}

export interface Over {
  number: number;
  bowlers: string[];
  runs: number;
  wickets: number;
  balls: string[];
  score: string;
}

/** More than any match has: a Test has four innings, and super overs were at most a few. */
const INNINGS_MAX = 40;

/** A card of cricket, or null. */
export function readCard(value: unknown): Card | null {
  const o = fields(value);
  if (o?.sport !== 'cricket') return null;
  const toss = fields(o.toss);
  return {
    teams: texts(o.teams),
    toss: toss ? { winner: string(toss.winner) ?? '', decision: string(toss.decision) ?? '' } : null,
    balls_per_over: Math.max(1, number(o.balls_per_over) ?? 6),
    overs: number(o.overs),
    interrupted: string(o.interrupted),
    innings: list(o.innings).slice(0, INNINGS_MAX).map(innings),
    deliveries: count(o.deliveries),
    result: string(o.result),
    player_of_match: texts(o.player_of_match),
  };
}

function innings(value: unknown): Innings {
  const o = fields(value) ?? {};
  const target = fields(o.target);
  const extras = fields(o.extras) ?? {};
  return {
    innings: count(o.innings),
    batting: string(o.batting) ?? '',
    bowling: string(o.bowling) ?? '',
    super_over: o.super_over === true,
    runs: count(o.runs),
    wickets: count(o.wickets),
    overs: string(o.overs) ?? '0.0',
    balls_per_over: Math.max(1, number(o.balls_per_over) ?? 6),
    balls: count(o.balls),
    deliveries: count(o.deliveries),
    run_rate: number(o.run_rate),
    extras: {
      wides: count(extras.wides),
      noballs: count(extras.noballs),
      byes: count(extras.byes),
      legbyes: count(extras.legbyes),
      penalty: count(extras.penalty),
      total: count(extras.total),
    },
    batters: rows(o.batters, (b) => ({
      name: string(b.name) ?? '',
      runs: count(b.runs),
      balls: count(b.balls),
      fours: count(b.fours),
      sixes: count(b.sixes),
      strike_rate: number(b.strike_rate),
      status: string(b.status) ?? '',
      out: string(b.out),
    })),
    bowlers: rows(o.bowlers, (b) => ({
      name: string(b.name) ?? '',
      overs: string(b.overs) ?? '0.0',
      balls: count(b.balls),
      maidens: count(b.maidens),
      runs: count(b.runs),
      wickets: count(b.wickets),
      wides: count(b.wides),
      noballs: count(b.noballs),
      economy: number(b.economy),
    })),
    partnerships: rows(o.partnerships, (p) => ({
      wicket: count(p.wicket),
      batters: rows(p.batters, (s) => ({
        name: string(s.name) ?? '',
        runs: count(s.runs),
        balls: count(s.balls),
      })),
      runs: count(p.runs),
      balls: count(p.balls),
      unbroken: p.unbroken === true,
    })),
    fall: rows(o.fall, (f) => ({
      wicket: count(f.wicket),
      runs: count(f.runs),
      player: string(f.player) ?? '',
      overs: string(f.overs) ?? '',
    })),
    over_summaries: rows(o.over_summaries, (v) => ({
      number: count(v.number),
      bowlers: texts(v.bowlers),
      runs: count(v.runs),
      wickets: count(v.wickets),
      balls: texts(v.balls),
      score: string(v.score) ?? '',
    })),
    ended: string(o.ended),
    target: target ? { runs: count(target.runs), overs: string(target.overs) } : null,
    method: string(o.method),
    runs_needed: number(o.runs_needed),
    balls_left: number(o.balls_left),
    required_rate: number(o.required_rate),
    striker: string(o.striker),
    non_striker: string(o.non_striker),
    bowler: string(o.bowler),
    over: texts(o.over),
    overs_max: number(o.overs_max),
  };
}

function rows<T>(value: unknown, read: (row: Record<string, unknown>) => T): T[] {
  return list(value).flatMap((row) => {
    const o = fields(row);
    return o ? [read(o)] : [];
  });
}

function texts(value: unknown): string[] {
  return list(value).filter((v): v is string => typeof v === 'string');
}

function count(value: unknown): number {
  const n = number(value);
  return n !== null && n >= 0 ? n : 0;
}
