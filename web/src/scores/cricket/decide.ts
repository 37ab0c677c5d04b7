/** What the score alone decides: targets that nobody stated, innings that ended by themselves, the outcome. Pure. */

import type { Outcome } from './body';
import type { Card, Innings } from './card';

/** Wickets that end an innings. */
export function wicketsMax(innings: Innings): number {
  return innings.super_over ? 2 : 10;
}

/** Sets what follows from the rest; what was stated stays. */
export function conclude(card: Card): void {
  const per = card.balls_per_over;
  for (const [i, innings] of card.innings.entries()) {
    if (innings.super_over) innings.overs_max = 1;
    const most = innings.overs_max === null ? null : innings.overs_max * per;
    const implied = innings.target === null ? impliedTarget(card, i) : null;
    if (implied !== null) {
      innings.target = {
        runs: implied,
        overs: innings.overs_max === null ? null : String(innings.overs_max),
      };
      innings.balls_left = most === null ? null : Math.max(0, most - innings.balls);
    }
    const left = innings.balls_left ?? (most === null ? null : most - innings.balls);
    if (innings.ended !== null) continue;
    if (innings.target && innings.runs >= innings.target.runs) innings.ended = 'target';
    else if (innings.wickets >= wicketsMax(innings)) innings.ended = 'all_out';
    else if (left !== null && left <= 0) innings.ended = 'overs';
    else if (i + 1 < card.innings.length) innings.ended = 'closed';
  }
}

/** Whether each side bats twice. */
function ofTwoInnings(card: Card): boolean {
  const main = card.innings.filter((i) => !i.super_over).length;
  return main > 2 || (card.toss !== null && card.overs === null);
}

/** The runs to win of an innings for which nobody has stated them. */
function impliedTarget(card: Card, index: number): number | null {
  const innings = card.innings[index];
  const before = card.innings.slice(0, index);
  if (innings?.super_over) {
    const supers = before.filter((i) => i.super_over);
    return supers.length % 2 === 1 ? (supers.at(-1)?.runs ?? 0) + 1 : null;
  }
  if (before.length === 1 && !ofTwoInnings(card)) return (before[0]?.runs ?? 0) + 1;
  if (before.length !== 3 || !ofTwoInnings(card)) return null;
  const of = (own: boolean): number =>
    before.reduce((sum, i) => sum + ((i.batting === innings?.batting) === own ? i.runs : 0), 0);
  return of(false) >= of(true) ? of(false) - of(true) + 1 : null;
}

/** The result of a match of limited overs as the score decides it; of others, none. */
export function outcomeOf(card: Card): Outcome {
  const none = { winner: null, by: null, margin: null, result: null, eliminator: null, method: null };
  const [first, second] = card.innings;
  if (!first || !second || card.overs === null) return { ...none, result: 'no_result' };
  const { method } = second;
  const target = second.target?.runs ?? first.runs + 1;
  if (second.runs >= target) {
    return { ...none, winner: second.batting, by: 'wickets', margin: 10 - second.wickets, method };
  }
  if (second.runs < target - 1) {
    return { ...none, winner: first.batting, by: 'runs', margin: target - 1 - second.runs, method };
  }
  const supers = card.innings.filter((i) => i.super_over);
  const [a, b] = supers.slice(-2);
  const eliminator = a && b?.ended && a.runs !== b.runs ? (a.runs > b.runs ? a.batting : b.batting) : null;
  return { ...none, result: 'tie', eliminator, method };
}

/** In words, once it is decided. A tie may go on to a super over. */
export function decided(card: Card): Outcome | null {
  if (card.overs === null || !card.innings[1]?.ended) return null;
  const outcome = outcomeOf(card);
  return outcome.winner !== null || outcome.eliminator !== null ? outcome : null;
}
