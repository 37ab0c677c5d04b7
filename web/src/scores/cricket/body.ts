/** Cricket: what can happen, and where in the match; the JSON of `scores::cricket`. Pure. */

/** Innings 0 is before the match, this one after it. */
export const AFTER = 900;
/** The over that stands after every over of an innings, for its end. */
export const CLOSE = 999;

/** Where in a match. Ordered as the field is. */
export interface Place {
  /** From 1, super overs too; 0 before the match, {@link AFTER} after it. */
  readonly innings: number;
  /** From 0; {@link CLOSE} for the end of an innings. */
  readonly over: number;
  /** Deliveries of the over that were bowled, wides and no-balls counted; 0: before the first. */
  readonly ball: number;
  /** The delivery itself is 0; what else happened after it has the slots of its kind ({@link SLOTS}). */
  readonly slot: number;
}

/** The first slot of each kind of happening, and how many there are. */
export const SLOTS = {
  delivery: [0, 1],
  innings_ended: [0, 1],
  result: [0, 1],
  toss: [1, 1],
  innings_started: [1, 1],
  player_of_match: [1, 99],
  review: [100, 100],
  interruption: [200, 100],
  target_revised: [300, 100],
  penalty: [400, 100],
  retired: [500, 100],
} as const;

/** The id of what happened there: innings, then three digits each of over, ball and slot. */
export function eventId(at: Place): number {
  return ((at.innings * 1000 + at.over) * 1000 + at.ball) * 1000 + at.slot;
}

/** The place that an id names. */
export function placeOf(id: number): Place {
  const part = (n: number): number => Math.floor(id / n) % 1000;
  return { innings: part(1e9), over: part(1e6), ball: part(1e3), slot: part(1) };
}

export interface Extras {
  readonly wides?: number;
  readonly noballs?: number;
  readonly byes?: number;
  readonly legbyes?: number;
  readonly penalty?: number;
}

export const DISMISSALS = {
  bowled: 'Bowled',
  caught: 'Caught',
  caught_and_bowled: 'Caught and bowled',
  lbw: 'LBW',
  stumped: 'Stumped',
  run_out: 'Run out',
  hit_wicket: 'Hit wicket',
  obstructing_the_field: 'Obstructing the field',
  hit_the_ball_twice: 'Hit the ball twice',
  handled_the_ball: 'Handled the ball',
  timed_out: 'Timed out',
  retired_out: 'Retired out',
  retired_hurt: 'Retired hurt',
  retired_not_out: 'Retired not out',
} as const;

export type Dismissal = keyof typeof DISMISSALS;

export interface Wicket {
  readonly how: Dismissal;
  readonly player_out: string;
  readonly fielders?: readonly string[];
}

export interface Delivery {
  readonly batter: string;
  readonly non_striker: string;
  readonly bowler: string;
  readonly runs: number;
  readonly all_run?: boolean;
  readonly extras?: Extras;
  readonly wickets?: readonly Wicket[];
}

export interface Target {
  readonly runs: number;
  readonly overs: string | null;
}

export interface Outcome {
  readonly winner: string | null;
  readonly by: string | null;
  readonly margin: number | null;
  readonly result: string | null;
  readonly eliminator: string | null;
  readonly method: string | null;
}

export type Kind =
  | {
      readonly kind: 'toss';
      readonly teams: readonly [string, string];
      readonly winner: string;
      readonly decision: 'bat' | 'field';
      readonly balls_per_over: number;
      readonly overs: number | null;
      readonly format: string;
    }
  | {
      readonly kind: 'innings_started';
      readonly batting: string;
      readonly bowling: string;
      readonly super_over: boolean;
      readonly target: Target | null;
    }
  | ({ readonly kind: 'delivery' } & Delivery)
  | {
      readonly kind: 'review';
      readonly by: string;
      readonly umpire: string | null;
      readonly batter: string | null;
      readonly outcome: 'pending' | 'upheld' | 'struck_down';
      readonly umpires_call: boolean;
    }
  | { readonly kind: 'interruption'; readonly reason: string; readonly stopped: boolean }
  | {
      readonly kind: 'target_revised';
      readonly target: Target | null;
      readonly overs: number | null;
      readonly method: string;
    }
  | { readonly kind: 'penalty'; readonly team: string; readonly runs: number }
  | ({ readonly kind: 'retired' } & Wicket)
  | { readonly kind: 'innings_ended'; readonly how: string }
  | ({ readonly kind: 'result' } & Outcome)
  | { readonly kind: 'player_of_match'; readonly player: string };

/** One happening, as it stands in a statement's `body`. */
export type Happening = { readonly sport: 'cricket'; readonly at: Place } & Kind;

/** It did not happen. */
export interface Withdrawn {
  readonly sport: 'withdrawn';
  readonly event_id: number;
  readonly reason: string;
}

export function isLegal({ extras }: Delivery): boolean {
  return (extras?.wides ?? 0) === 0 && (extras?.noballs ?? 0) === 0;
}

export function extrasTotal(extras: Extras | undefined): number {
  if (!extras) return 0;
  const { wides = 0, noballs = 0, byes = 0, legbyes = 0, penalty = 0 } = extras;
  return wides + noballs + byes + legbyes + penalty;
}

/** The side loses a wicket. */
export function isWicket(how: Dismissal): boolean {
  return how !== 'retired_hurt' && how !== 'retired_not_out';
}

/** The bowler is credited with it. */
export function isBowlers(how: Dismissal): boolean {
  return ['bowled', 'caught', 'caught_and_bowled', 'lbw', 'stumped', 'hit_wicket'].includes(how);
}

/** `.`, `4`, `W`, `2wd`, `nb+4`, `1lb`: as scorers write a ball. */
export function ballText(delivery: Delivery): string {
  const { wides = 0, noballs = 0, byes = 0, legbyes = 0, penalty = 0 } = delivery.extras ?? {};
  const many = (n: number): string => (n > 1 ? String(n) : '');
  const parts: string[] = [];
  if (wides > 0) parts.push(`${many(wides)}wd`);
  if (noballs > 0) parts.push(`${many(noballs)}nb`);
  if (delivery.runs > 0) parts.push(String(delivery.runs));
  if (byes > 0) parts.push(`${byes}b`);
  if (legbyes > 0) parts.push(`${legbyes}lb`);
  if (penalty > 0) parts.push(`${penalty}pen`);
  const said = parts.join('+');
  if (delivery.wickets?.some((w) => isWicket(w.how))) return `${said}W`;
  return said === '' ? '.' : said;
}

/** `c Smith b Jones`. */
export function howOut(wicket: Wicket, bowler: string | null): string {
  const by = bowler ?? '?';
  const fielders = (wicket.fielders ?? []).join('/');
  const hands = (what: string): string => `${what}${fielders === '' ? '' : ` ${fielders}`} b ${by}`;
  switch (wicket.how) {
    case 'bowled':
      return `b ${by}`;
    case 'caught':
      return fielders === by ? `c & b ${by}` : hands('c');
    case 'caught_and_bowled':
      return `c & b ${by}`;
    case 'lbw':
      return `lbw b ${by}`;
    case 'stumped':
      return hands('st');
    case 'hit_wicket':
      return `hit wicket b ${by}`;
    case 'run_out':
      return fielders === '' ? 'run out' : `run out (${fielders})`;
    default:
      return DISMISSALS[wicket.how].toLowerCase();
  }
}

/** `5.3`. */
export function oversText(balls: number, perOver: number): string {
  return `${Math.floor(balls / perOver)}.${balls % perOver}`;
}
