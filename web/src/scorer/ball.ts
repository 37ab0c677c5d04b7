/** From what a scorer taps to a delivery, and to who stands where afterwards. Pure. */

import {
  type Delivery,
  type Dismissal,
  type Extras,
  isLegal,
  isWicket,
  type Wicket,
} from '../scores/cricket/body';
import { leaves } from '../scores/cricket/ends';
import type { Crease } from './state';

/** What was tapped for one ball. */
export interface Tap {
  /** Runs beside those that a wide or a no-ball brings by itself. */
  readonly runs: number;
  readonly wide?: boolean;
  readonly noball?: boolean;
  /** The runs are byes or leg byes. */
  readonly as?: 'byes' | 'legbyes';
  /** Four or six that were run. */
  readonly allRun?: boolean;
  readonly penalty?: number;
  readonly wicket?: {
    readonly how: Dismissal;
    readonly out: string;
    readonly fielders?: readonly string[];
    /** The batters had crossed in a run that does not count. */
    readonly crossed?: boolean;
  };
}

/** Null while somebody is still to be picked. */
export function delivery(tap: Tap, crease: Crease): Delivery | null {
  const { striker, nonStriker, bowler } = crease;
  if (striker === null || nonStriker === null || bowler === null) return null;
  const extras = extrasOf(tap);
  const runs = tap.wide || tap.as ? 0 : tap.runs;
  const wicket = tap.wicket;
  const out: Wicket[] = wicket
    ? [
        {
          how: wicket.how,
          player_out: wicket.out,
          ...(wicket.fielders?.length ? { fielders: wicket.fielders } : {}),
        },
      ]
    : [];
  return {
    batter: striker,
    non_striker: nonStriker,
    bowler,
    runs,
    ...(tap.allRun && (runs === 4 || runs === 6) ? { all_run: true } : {}),
    ...(Object.keys(extras).length > 0 ? { extras } : {}),
    ...(out.length > 0 ? { wickets: out } : {}),
  };
}

/** A wide brings one run and all that is run besides; so does a no-ball, but what is run has a kind of its own. */
function extrasOf(tap: Tap): Extras {
  return {
    ...(tap.wide ? { wides: 1 + tap.runs } : {}),
    ...(tap.noball ? { noballs: 1 } : {}),
    ...(tap.as && tap.runs > 0 && !tap.wide ? { [tap.as]: tap.runs } : {}),
    ...(tap.penalty ? { penalty: tap.penalty } : {}),
  };
}

/** What would be tapped for a delivery: for the form that corrects it. */
export function tapOf(ball: Delivery): Tap {
  const { wides = 0, noballs = 0, byes = 0, legbyes = 0, penalty = 0 } = ball.extras ?? {};
  const wicket = ball.wickets?.[0];
  const as = byes > 0 ? 'byes' : legbyes > 0 ? 'legbyes' : null;
  return {
    runs: wides > 0 ? wides - 1 : as ? byes + legbyes : ball.runs + Math.max(0, noballs - 1),
    wide: wides > 0,
    noball: noballs > 0,
    ...(as ? { as } : {}),
    ...(ball.all_run ? { allRun: true } : {}),
    ...(penalty > 0 ? { penalty } : {}),
    ...(wicket
      ? { wicket: { how: wicket.how, out: wicket.player_out, fielders: wicket.fielders ?? [] } }
      : {}),
  };
}

/** Who stands where when somebody has left between balls. */
export function without(crease: Crease, who: string): Crease {
  const [striker, nonStriker] = leaves([crease.striker, crease.nonStriker], who);
  return { ...crease, striker, nonStriker };
}

/** Legal balls among them. */
export function legal(balls: readonly Delivery[]): number {
  return balls.filter(isLegal).length;
}

/** Who is out, or has left for good: they do not come in again. Who was hurt may. */
export function gone(wickets: readonly Wicket[]): Set<string> {
  return new Set(wickets.filter((w) => isWicket(w.how)).map((w) => w.player_out));
}
