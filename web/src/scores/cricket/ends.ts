/** Who stands where after a ball. Pure. */

import type { Delivery } from './body';

/** Null: somebody new, or nobody. */
export interface Ends {
  readonly striker: string | null;
  readonly nonStriker: string | null;
}

/** Runs that were run: each puts the batters at the other ends. */
function ran(ball: Delivery): number {
  const { wides = 0, noballs = 0, byes = 0, legbyes = 0 } = ball.extras ?? {};
  return ball.runs + byes + legbyes + Math.max(0, wides - 1) + Math.max(0, noballs - 1);
}

/** Who stands where after a ball, the end of an over included. */
export function after(ball: Delivery, crossed: boolean, overEnds: boolean): Ends {
  let ends: [string | null, string | null] = [ball.batter, ball.non_striker];
  const swap = (): void => {
    ends = [ends[1], ends[0]];
  };
  if ((ran(ball) + (crossed ? 1 : 0)) % 2 === 1) swap();
  for (const wicket of ball.wickets ?? []) ends = leaves(ends, wicket.player_out);
  if (overEnds) swap();
  return { striker: ends[0], nonStriker: ends[1] };
}

export function leaves(
  ends: readonly [string | null, string | null],
  who: string,
): [string | null, string | null] {
  return [ends[0] === who ? null : ends[0], ends[1] === who ? null : ends[1]];
}
