/** The admin API behind the console, as its pages need it. What comes is checked here and nowhere else. */

import { array, count, numberOrNull, object, text, word } from '../net/narrow';
import { requestJson } from '../net/request';

export interface Overview {
  readonly roles: readonly Role[];
  /** Base URL of the app, as scorers reach it; null when the console was not told. */
  readonly app: string | null;
}

export interface Role {
  readonly name: string;
  /** host:port of its admin port. */
  readonly at: string;
  readonly state: RoleState;
  /** What it said, if it is not ready. */
  readonly said: string;
  /** How long it took to answer. */
  readonly ms: number;
}

export const ROLE_STATES = ['ready', 'not_ready', 'unreachable', 'unknown'] as const;
export type RoleState = (typeof ROLE_STATES)[number];

export interface Feeds {
  readonly providers: readonly Provider[];
  readonly matches: readonly Match[];
}

export interface Provider {
  readonly provider: string;
  /** Open WebSockets. */
  readonly connections: number;
  /** Everything up to this number is had. */
  readonly contiguous: number;
  readonly newest: number;
  readonly gaps: number;
  /** The first of the gaps, as [from, to]. */
  readonly missing: readonly (readonly [number, number])[];
  /** Statements that wait for a gap to close. */
  readonly waiting: number;
  readonly silentMs: number | null;
  readonly ageMs: number | null;
  readonly matches: readonly Spoken[];
}

/** When a provider last spoke of a match, and how long after the happening that was. */
export interface Spoken {
  readonly match: string;
  readonly silentMs: number | null;
  readonly ageMs: number | null;
}

export interface Match {
  readonly match: string;
  readonly title: string;
  readonly status: Life;
  readonly happenings: number;
  /** Since the newest happening. */
  readonly ageMs: number | null;
  /** What is usual between two. */
  readonly cadenceMs: number;
  readonly delayed: boolean;
}

export const LIVES = ['scheduled', 'live', 'final', 'postponed'] as const;
export type Life = (typeof LIVES)[number];

export interface Letters {
  /** The newest first. */
  readonly letters: readonly Letter[];
  /** Asks for the page before this one; null: there is none. */
  readonly before: number | null;
}

export interface Letter {
  readonly offset: number;
  readonly provider: string;
  readonly seq: number | null;
  readonly why: string;
  /** Cut to 4 KiB. */
  readonly said: string;
  /** UTC. */
  readonly atMs: number;
}

export interface Scorers {
  readonly scorers: readonly Scorer[];
  /** How many older ones are not told of. */
  readonly more: number;
}

export interface Scorer {
  readonly id: string;
  readonly match: string;
  readonly state: ScorerState;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export const SCORER_STATES = ['waiting', 'open', 'revoked'] as const;
export type ScorerState = (typeof SCORER_STATES)[number];

export interface Code {
  readonly match: string;
  readonly code: string;
  /** How long it can be used. */
  readonly seconds: number;
}

/** Dead letters on one page: some screens of a phone. */
const LETTERS_PAGE = 25;

/** Pages ask again by themselves, so that nothing here does. */
const ONCE = { retries: 0 } as const;

export function overview(signal: AbortSignal): Promise<Overview> {
  return requestJson('/admin/overview', readOverview, { ...ONCE, signal });
}

export function feeds(signal: AbortSignal): Promise<Feeds> {
  return requestJson('/admin/scores/feeds', readFeeds, { ...ONCE, signal });
}

/** The newest page (0), or the one before an offset. */
export function letters(before: number, signal: AbortSignal): Promise<Letters> {
  const url = `/admin/scores/dead-letters?before=${before}&limit=${LETTERS_PAGE}`;
  return requestJson(url, readLetters, { ...ONCE, signal });
}

export function scorers(signal: AbortSignal): Promise<Scorers> {
  return requestJson('/admin/scores/scorers', readScorers, { ...ONCE, signal });
}

/** A one-time code. It is told once. */
export function makeCode(match: string, signal: AbortSignal): Promise<Code> {
  return requestJson('/admin/scores/scorer-codes', readCode, {
    ...ONCE,
    method: 'POST',
    body: { match },
    signal,
  });
}

/** Neither the code nor the page that it opened works from now on. */
export async function revoke(id: string, signal: AbortSignal): Promise<void> {
  const read = (): null => null;
  await requestJson('/admin/scores/scorers/revoke', read, { ...ONCE, method: 'POST', body: { id }, signal });
}

export function readOverview(body: unknown): Overview {
  const o = object(body);
  const role = (one: unknown): Role => {
    const r = object(one);
    const state = word(r, 'state', ROLE_STATES);
    return { name: text(r, 'name'), at: text(r, 'at'), state, said: text(r, 'said'), ms: count(r, 'ms') };
  };
  return { roles: array(o.roles).map(role), app: o.app === null ? null : text(o, 'app') };
}

export function readFeeds(body: unknown): Feeds {
  const o = object(body);
  return { providers: array(o.providers).map(readProvider), matches: array(o.matches).map(readMatch) };
}

function readProvider(body: unknown): Provider {
  const o = object(body);
  const range = (one: unknown): [number, number] => {
    const [from, to] = array(one);
    if (typeof from !== 'number' || typeof to !== 'number') throw new TypeError('a gap is two numbers');
    return [from, to];
  };
  const spoken = (one: unknown): Spoken => {
    const s = object(one);
    return {
      match: text(s, 'match_id'),
      silentMs: numberOrNull(s, 'silent_ms'),
      ageMs: numberOrNull(s, 'age_ms'),
    };
  };
  return {
    provider: text(o, 'provider'),
    connections: count(o, 'connections'),
    contiguous: count(o, 'contiguous'),
    newest: count(o, 'newest'),
    gaps: count(o, 'gaps'),
    missing: array(o.missing).map(range),
    waiting: count(o, 'waiting'),
    silentMs: numberOrNull(o, 'silent_ms'),
    ageMs: numberOrNull(o, 'age_ms'),
    matches: array(o.matches).map(spoken),
  };
}

function readMatch(body: unknown): Match {
  const o = object(body);
  return {
    match: text(o, 'match_id'),
    title: text(o, 'title'),
    status: word(o, 'status', LIVES),
    happenings: count(o, 'happenings'),
    ageMs: numberOrNull(o, 'age_ms'),
    cadenceMs: count(o, 'cadence_ms'),
    delayed: o.delayed === true,
  };
}

export function readLetters(body: unknown): Letters {
  const o = object(body);
  const letter = (one: unknown): Letter => {
    const l = object(one);
    return {
      offset: count(l, 'offset'),
      provider: text(l, 'provider'),
      seq: numberOrNull(l, 'seq'),
      why: text(l, 'why'),
      said: text(l, 'said'),
      atMs: count(l, 'at_ms'),
    };
  };
  return { letters: array(o.dead_letters).map(letter), before: numberOrNull(o, 'before') };
}

export function readScorers(body: unknown): Scorers {
  const o = object(body);
  const scorer = (one: unknown): Scorer => {
    const s = object(one);
    return {
      id: text(s, 'id'),
      match: text(s, 'match'),
      state: word(s, 'state', SCORER_STATES),
      sinceMs: count(s, 'since_ms'),
      untilMs: count(s, 'until_ms'),
    };
  };
  return { scorers: array(o.scorers).map(scorer), more: count(o, 'more') };
}

function readCode(body: unknown): Code {
  const o = object(body);
  return { match: text(o, 'match'), code: text(o, 'code'), seconds: count(o, 'seconds') };
}
