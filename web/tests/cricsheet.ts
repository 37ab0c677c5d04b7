/** Real matches, which are beside the checkout or where `PAVILION_SHARED_DATA` says; never in the project. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Delivery, Dismissal, Wicket } from '../src/scores/cricket/body';

export interface Ball extends Delivery {
  readonly wickets: readonly Wicket[];
}

export interface Match {
  readonly teams: [string, string];
  readonly players: Record<string, string[]>;
  readonly toss: { winner: string; decision: 'bat' | 'field' };
  readonly overs: number;
  readonly perOver: number;
  readonly type: string;
  readonly outcome: { winner?: string; by?: Record<string, number>; result?: string; eliminator?: string };
  readonly innings: { team: string; superOver: boolean; overs: { over: number; balls: Ball[] }[] }[];
}

interface Raw {
  info: {
    teams: [string, string];
    players: Record<string, string[]>;
    toss: Match['toss'];
    overs: number;
    balls_per_over: number;
    match_type: string;
    outcome: Match['outcome'];
  };
  innings: {
    team: string;
    super_over?: boolean;
    overs: { over: number; deliveries: RawBall[] }[];
  }[];
}

interface RawBall {
  batter: string;
  bowler: string;
  non_striker: string;
  runs: { batter: number; extras: number; total: number; non_boundary?: boolean };
  extras?: Record<string, number>;
  wickets?: { kind: string; player_out: string; fielders?: { name?: string }[] }[];
}

/** Null, and says so, when it is not there. */
export function cricsheet(id: string): Match | null {
  const beside = fileURLToPath(new URL('../../../shared/data', import.meta.url));
  const path = join(process.env.PAVILION_SHARED_DATA ?? beside, 'cricsheet', `${id}.json`);
  if (!existsSync(path)) {
    process.stderr.write(`skipped: there is no ${path} (set PAVILION_SHARED_DATA)\n`);
    return null;
  }
  const { info, innings } = JSON.parse(readFileSync(path, 'utf8')) as Raw;
  return {
    teams: info.teams,
    players: info.players,
    toss: info.toss,
    overs: info.overs,
    perOver: info.balls_per_over,
    type: info.match_type,
    outcome: info.outcome,
    innings: innings.map((i) => ({
      team: i.team,
      superOver: i.super_over === true,
      overs: i.overs.map((o) => ({ over: o.over, balls: o.deliveries.map(ball) })),
    })),
  };
}

function ball(raw: RawBall): Ball {
  return {
    batter: raw.batter,
    non_striker: raw.non_striker,
    bowler: raw.bowler,
    runs: raw.runs.batter,
    ...(raw.runs.non_boundary ? { all_run: true } : {}),
    ...(raw.extras ? { extras: raw.extras } : {}),
    wickets: (raw.wickets ?? []).map((w) => ({
      how: w.kind.replaceAll(' ', '_') as Dismissal,
      player_out: w.player_out,
      fielders: (w.fielders ?? []).flatMap((f) => f.name ?? []),
    })),
  };
}
