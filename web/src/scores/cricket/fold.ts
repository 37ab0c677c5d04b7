/**
 * Carries a card on by what happens, in the order of the field: from nothing (the scorer's page) or from the server's
 * card at some moment (the watch page). Says what `scores::card` says. Pure.
 */

import {
  ballText,
  type Delivery,
  extrasTotal,
  type Happening,
  howOut,
  isBowlers,
  isLegal,
  isWicket,
  type Outcome,
  oversText,
  type Place,
  type Target,
  type Wicket,
} from './body';
import type { Card, Innings, Over } from './card';
import { conclude, decided } from './decide';
import { after } from './ends';

export function emptyCard(): Card {
  return {
    teams: [],
    toss: null,
    balls_per_over: 6,
    overs: null,
    interrupted: null,
    innings: [],
    deliveries: 0,
    result: null,
    player_of_match: [],
  };
}

/**
 * The card after happenings that stand after everything in it. The card that is given is left as it is.
 *
 * @param concluded whether what the score alone decides is in it, as in the server's; a scorer decides.
 */
export function carryOn(card: Card, happenings: readonly Happening[], concluded = false): Card {
  const next = structuredClone(card);
  for (const happening of happenings) take(next, happening);
  if (concluded) conclude(next);
  for (const innings of next.innings) derive(next, innings);
  const outcome = concluded && next.result === null ? decided(next) : null;
  if (outcome) next.result = resultText(outcome);
  return next;
}

/** Those that count, of balls as scorers write them. */
function legalBalls(balls: readonly string[]): number {
  return balls.filter((b) => !/wd|nb/.test(b)).length;
}

function take(card: Card, happening: Happening): void {
  const { at } = happening;
  switch (happening.kind) {
    case 'toss':
      card.teams = [...happening.teams];
      card.toss = { winner: happening.winner, decision: happening.decision };
      card.balls_per_over = happening.balls_per_over;
      card.overs = happening.overs;
      return;
    case 'innings_started': {
      const innings = inningsOf(card, at.innings);
      innings.batting = happening.batting;
      innings.bowling = happening.bowling;
      innings.super_over = happening.super_over;
      innings.overs_max = happening.super_over ? 1 : card.overs;
      if (happening.target) setTarget(card, innings, happening.target, null);
      for (const { team, runs } of card.owed ?? []) if (team === innings.batting) penalise(innings, runs);
      card.owed = card.owed?.filter(({ team }) => team !== innings.batting) ?? [];
      return;
    }
    case 'delivery':
      card.deliveries += 1;
      card.interrupted = null;
      bowl(inningsOf(card, at.innings), at, happening, card.balls_per_over);
      return;
    case 'interruption':
      card.interrupted = happening.stopped ? happening.reason : null;
      return;
    case 'target_revised': {
      // Before the match: for both sides.
      if (at.innings === 0) {
        card.overs = happening.overs ?? card.overs;
        return;
      }
      const innings = inningsOf(card, at.innings);
      if (happening.overs !== null) innings.overs_max = happening.overs;
      if (happening.target) setTarget(card, innings, happening.target, happening.method);
      return;
    }
    case 'penalty': {
      // To a side that has not batted yet: when it does.
      const innings = card.innings.findLast((i) => i.batting === happening.team);
      if (innings) penalise(innings, happening.runs);
      else card.owed = [...(card.owed ?? []), { team: happening.team, runs: happening.runs }];
      return;
    }
    case 'retired':
      dismiss(inningsOf(card, at.innings), happening, null);
      return;
    case 'innings_ended':
      inningsOf(card, at.innings).ended = happening.how;
      return;
    case 'result':
      card.result = resultText(happening);
      return;
    case 'player_of_match':
      if (!card.player_of_match.includes(happening.player)) card.player_of_match.push(happening.player);
      return;
    case 'review':
      return;
  }
}

function penalise(innings: Innings, runs: number): void {
  innings.runs += runs;
  innings.extras.penalty += runs;
  innings.extras.total += runs;
}

function inningsOf(card: Card, n: number): Innings {
  const found = card.innings.find((i) => i.innings === n);
  if (found) return found;
  const made: Innings = {
    innings: n,
    batting: '',
    bowling: '',
    super_over: false,
    runs: 0,
    wickets: 0,
    overs: '0.0',
    balls_per_over: card.balls_per_over,
    balls: 0,
    deliveries: 0,
    run_rate: null,
    extras: { wides: 0, noballs: 0, byes: 0, legbyes: 0, penalty: 0, total: 0 },
    batters: [],
    bowlers: [],
    partnerships: [],
    fall: [],
    over_summaries: [],
    ended: null,
    target: null,
    method: null,
    runs_needed: null,
    balls_left: null,
    required_rate: null,
    overs_max: card.overs,
    striker: null,
    non_striker: null,
    bowler: null,
    over: [],
  };
  card.innings.push(made);
  card.innings.sort((a, b) => a.innings - b.innings);
  return made;
}

function setTarget(card: Card, innings: Innings, target: Target, method: string | null): void {
  const max = ballsOf(target.overs, card.balls_per_over) ?? limit(card, innings);
  innings.target = target;
  innings.method = method;
  innings.balls_left = max === null ? null : Math.max(0, max - innings.balls);
}

/** Legal balls that the innings may last. */
function limit(card: Card, innings: Innings): number | null {
  return innings.overs_max === null ? null : innings.overs_max * card.balls_per_over;
}

function ballsOf(overs: string | null, perOver: number): number | null {
  const found = /^(\d{1,3})(?:\.(\d))?$/.exec(overs ?? '');
  return found ? Number(found[1]) * perOver + Number(found[2] ?? 0) : null;
}

function bowl(innings: Innings, at: Place, ball: Delivery, perOver: number): void {
  let over = innings.over_summaries.at(-1);
  if (over?.number !== at.over + 1) {
    if (over) maiden(innings, over, perOver, true);
    over = { number: at.over + 1, bowlers: [], runs: 0, wickets: 0, balls: [], score: '' };
    innings.over_summaries.push(over);
    innings.balls = at.over * perOver;
  }
  const legal = isLegal(ball);
  const wide = (ball.extras?.wides ?? 0) > 0;
  const total = ball.runs + extrasTotal(ball.extras);
  innings.deliveries += 1;
  innings.runs += total;
  for (const kind of ['wides', 'noballs', 'byes', 'legbyes', 'penalty'] as const) {
    innings.extras[kind] += ball.extras?.[kind] ?? 0;
  }
  innings.extras.total += extrasTotal(ball.extras);
  bat(innings, ball, wide);
  partner(innings, ball, wide, total);
  // An umpire may allow a ball too many; the over still counts as one.
  const counted = Math.min((at.over + 1) * perOver, innings.balls + (legal ? 1 : 0));
  if (innings.balls_left !== null)
    innings.balls_left = Math.max(0, innings.balls_left - (counted - innings.balls));
  innings.balls = counted;
  if (!over.bowlers.includes(ball.bowler)) over.bowlers.push(ball.bowler);
  over.runs += total;
  over.balls.push(ballText(ball));
  const bowler = bowlerOf(innings, ball.bowler);
  bowler.balls += legal ? 1 : 0;
  bowler.runs += ball.runs + (ball.extras?.wides ?? 0) + (ball.extras?.noballs ?? 0);
  bowler.wides += wide ? 1 : 0;
  bowler.noballs += (ball.extras?.noballs ?? 0) > 0 ? 1 : 0;
  for (const wicket of ball.wickets ?? []) dismiss(innings, wicket, ball.bowler);
  over.score = `${innings.runs}/${innings.wickets}`;
  innings.over = over.balls;
  const ends = after(ball, false, legal && legalBalls(over.balls) >= perOver);
  innings.striker = ends.striker;
  innings.non_striker = ends.nonStriker;
  innings.bowler = ball.bowler;
  if (legal) maiden(innings, over, perOver, false);
}

/** A whole over by one bowler without a run against their name. `called`: the umpire called it, and it ends now. */
function maiden(innings: Innings, { bowlers, balls }: Over, perOver: number, called: boolean): void {
  const [name] = bowlers;
  if (name === undefined || bowlers.length > 1) return;
  const legal = legalBalls(balls);
  if (called ? legal >= perOver : legal !== perOver) return;
  // Byes, leg byes and penalties are not the bowler's.
  if (balls.every((b) => /^(\.|W|\d+l?b(\+\d+pen)?W?|\d+penW?)$/.test(b)))
    bowlerOf(innings, name).maidens += 1;
}

function bat(innings: Innings, ball: Delivery, wide: boolean): void {
  for (const name of [ball.batter, ball.non_striker]) {
    const batter = batterOf(innings, name);
    if (batter.status === 'retired') Object.assign(batter, { status: 'batting', out: null });
  }
  const striker = batterOf(innings, ball.batter);
  striker.runs += ball.runs;
  striker.balls += wide ? 0 : 1;
  striker.fours += ball.runs === 4 && !ball.all_run ? 1 : 0;
  striker.sixes += ball.runs === 6 && !ball.all_run ? 1 : 0;
}

function partner(innings: Innings, ball: Delivery, wide: boolean, total: number): void {
  const pair = [ball.batter, ball.non_striker];
  let last = innings.partnerships.at(-1);
  if (!last?.unbroken || !pair.every((n) => last?.batters.some((s) => s.name === n))) {
    // A pair that somebody left without being out does not go on either.
    if (last) last.unbroken = false;
    const batters = pair.map((name) => ({ name, runs: 0, balls: 0 }));
    last = { wicket: innings.wickets + 1, batters, runs: 0, balls: 0, unbroken: true };
    innings.partnerships.push(last);
  }
  last.runs += total;
  last.balls += wide ? 0 : 1;
  const share = last.batters.find((s) => s.name === ball.batter);
  if (!share) return;
  share.runs += ball.runs;
  share.balls += wide ? 0 : 1;
}

function dismiss(innings: Innings, wicket: Wicket, bowler: string | null): void {
  const batter = batterOf(innings, wicket.player_out);
  batter.out = howOut(wicket, bowler);
  batter.status = isWicket(wicket.how) ? 'out' : 'retired';
  if (!isWicket(wicket.how)) return;
  const over = innings.over_summaries.at(-1);
  innings.wickets += 1;
  innings.fall.push({
    wicket: innings.wickets,
    runs: innings.runs,
    player: wicket.player_out,
    // The last ball of an over is its sixth, not the next one's start.
    overs: `${Math.max(0, (over?.number ?? 1) - 1)}.${legalBalls(over?.balls ?? [])}`,
  });
  if (bowler === null && innings.striker === wicket.player_out) innings.striker = null;
  if (bowler === null && innings.non_striker === wicket.player_out) innings.non_striker = null;
  const last = innings.partnerships.at(-1);
  if (last?.batters.some((s) => s.name === wicket.player_out)) last.unbroken = false;
  if (bowler === null) return;
  if (over) over.wickets += 1;
  if (isBowlers(wicket.how)) bowlerOf(innings, bowler).wickets += 1;
}

/** What follows from the rest. */
function derive(card: Card, innings: Innings): void {
  const per = card.balls_per_over;
  innings.overs = oversText(innings.balls, per);
  innings.run_rate = rate(innings.runs, innings.balls, per);
  for (const b of innings.batters) {
    b.strike_rate = rate(b.runs, b.balls, 100);
    if (innings.ended !== null && b.status === 'batting') b.status = 'not_out';
  }
  for (const b of innings.bowlers) {
    b.overs = oversText(b.balls, per);
    b.economy = rate(b.runs, b.balls, per);
  }
  if (innings.ended !== null) Object.assign(innings, { striker: null, non_striker: null, bowler: null });
  const { target, balls_left: left } = innings;
  if (!target) return;
  innings.runs_needed = Math.max(0, target.runs - innings.runs);
  const open = innings.runs_needed > 0 && left !== null && left > 0;
  innings.required_rate = open ? rate(innings.runs_needed, left, per) : null;
}

function batterOf(innings: Innings, name: string): Innings['batters'][number] {
  let found = innings.batters.find((b) => b.name === name);
  if (!found) {
    found = {
      name,
      runs: 0,
      balls: 0,
      fours: 0,
      sixes: 0,
      strike_rate: null,
      status: 'batting',
      out: null,
    };
    innings.batters.push(found);
  }
  return found;
}

function bowlerOf(innings: Innings, name: string): Innings['bowlers'][number] {
  let found = innings.bowlers.find((b) => b.name === name);
  if (!found) {
    found = {
      name,
      overs: '0.0',
      balls: 0,
      maidens: 0,
      runs: 0,
      wickets: 0,
      wides: 0,
      noballs: 0,
      economy: null,
    };
    innings.bowlers.push(found);
  }
  return found;
}

function rate(n: number, of: number, per: number): number | null {
  return of > 0 ? Math.round((n * per * 100) / of) / 100 : null;
}

/** `Chennai Super Kings won by 27 runs`. */
export function resultText(outcome: Outcome): string {
  const { winner, by, margin, result, eliminator, method } = outcome;
  let said = 'No result';
  if (winner !== null) {
    if (by === null) said = `${winner} won`;
    else if (by === 'innings') said = `${winner} won by an innings and ${margin} runs`;
    else said = `${winner} won by ${margin} ${margin === 1 ? by.replace(/s$/, '') : by}`;
  } else if (result === 'tie') said = 'Match tied';
  else if (result === 'draw') said = 'Match drawn';
  if (eliminator !== null) said += ` (${eliminator} won the super over)`;
  if (method !== null) said += ` (${method.toUpperCase()} method)`;
  return said;
}
