/** The arrival API, as the page needs it. What comes from outside is checked here and nowhere else. */

import { type Advice, readAdvice } from './advice';
import { deviceName } from './device';
import { askAsMe } from './identity';
import { array, count, numberOrNull, object, positive, text, word } from './narrow';
import { policy, request, requestJson } from './request';

const STATUSES = ['scheduled', 'live', 'final', 'postponed'] as const;

export interface Match {
  readonly match: string;
  readonly title: string;
  /** By language (BCP 47). */
  readonly titles: Readonly<Record<string, string>>;
  readonly live: boolean;
  readonly status: (typeof STATUSES)[number];
  /** When it begins or began, UTC ms. */
  readonly startMs: number;
  readonly league: string;
  /** `cricket`, `football`; empty when it has no score. */
  readonly sport: string;
  /** Has a picture. */
  readonly watchable: boolean;
  /** For everybody, without logging in. */
  readonly free: boolean;
}

export interface Play {
  readonly match: string;
  readonly title: string;
  readonly programme: string;
  readonly run: string;
  /** UTC, ms. */
  readonly epochMs: number;
  /** Absolute URL of the multivariant playlist; null for a match without a picture. */
  readonly playlist: string | null;
  /** UTC, ms: by then one must ask to play again; infinite where nobody says. */
  readonly untilMs: number;
  /** Where its keys are; null: it is in the clear. */
  readonly licence: Licence | null;
  /** Lines of the largest picture that the plan has; infinite: all. */
  readonly heightMax: number;
  /** Length of a segment and of a part, in seconds. */
  readonly segmentS: number;
  readonly partS: number;
  /** Where the score is; null: there is none. */
  readonly scores: Scores | null;
  /** How to keep the slot of this device; null: none is needed. */
  readonly slot: Slot | null;
  readonly advice: Advice | null;
}

export interface Slot {
  readonly id: string;
  readonly heartbeat: string;
  readonly everyS: number;
}

export interface Licence {
  /** `POST` here for ClearKey; null: it cannot be had so. */
  readonly clearKey: string | null;
  /** Lines of the largest picture whose keys are given so; infinite: all. */
  readonly heightMax: number;
}

export interface Scores {
  /** `wss://host:port/v1/stream`. */
  readonly stream: string;
  /** `https://host:port`. */
  readonly base: string;
  /** Good for some minutes. */
  readonly token: string;
}

/** `GET /v1/matches`: the same for everybody. */
export function matches(signal: AbortSignal): Promise<Match[]> {
  return requestJson('/v1/matches', (body) => array(body).map(readMatch), { signal });
}

/** `GET /v1/advice`, the same for everybody; obeyed from then on. */
export async function advice(signal: AbortSignal): Promise<void> {
  obey(await requestJson('/v1/advice', readAdvice, { signal, retries: 0 }));
}

/**
 * `POST /v1/matches/{match}/play`, as whoever is signed in. Its advice is obeyed from then on.
 *
 * @param stream the one that this page plays already: it goes on
 */
export async function play(match: string, stream: string | null, signal: AbortSignal): Promise<Play> {
  const url = `/v1/matches/${encodeURIComponent(match)}/play`;
  const name = deviceName(navigator.userAgent);
  const headers: Record<string, string> = name === '' ? {} : { 'pavilion-device-name': name };
  if (stream !== null) headers['pavilion-stream'] = stream;
  const play = await askAsMe(url, readPlay, { method: 'POST', headers, signal });
  obey(play.advice);
  return play;
}

export function obey(advice: Advice | null): void {
  if (advice !== null) policy.advise(advice, performance.now());
}

/** Asks for the playlist once: resolves when the stream has begun, throws `RequestError` when not yet. */
export async function begun(playlist: string, signal: AbortSignal): Promise<void> {
  const response = await request(playlist, { signal, retries: 0 });
  await response.arrayBuffer();
}

function readMatch(body: unknown): Match {
  const o = object(body);
  return {
    match: text(o, 'match'),
    title: text(o, 'title'),
    titles: readTitles(o.titles),
    live: o.live === true,
    status: word(o, 'status', STATUSES),
    startMs: count(o, 'start_ms'),
    league: typeof o.league === 'string' ? o.league : '',
    sport: typeof o.sport === 'string' ? o.sport : '',
    watchable: o.watchable !== false,
    free: o.free === true,
  };
}

function readTitles(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null) return {};
  const all = Object.entries(body as Record<string, unknown>);
  return Object.fromEntries(all.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function readPlay(body: unknown): Play {
  const o = object(body);
  const grid = object(o.grid);
  return {
    match: text(o, 'match'),
    title: text(o, 'title'),
    programme: text(o, 'programme'),
    run: text(o, 'run'),
    epochMs: Date.parse(text(o, 'epoch')),
    playlist: o.playlist == null ? null : new URL(text(o, 'playlist'), location.href).href,
    untilMs: typeof o.until_ms === 'number' ? o.until_ms : Number.POSITIVE_INFINITY,
    licence: o.licence == null ? null : readLicence(object(o.licence)),
    heightMax: height(object(o.plan ?? {}), 'height_max'),
    segmentS: positive(grid, 'segment_ms') / 1000,
    partS: positive(grid, 'part_ms') / 1000,
    scores: o.scores == null ? null : readScores(object(o.scores)),
    slot: o.stream == null ? null : readSlot(object(o.stream)),
    advice: o.advice == null ? null : readAdvice(o.advice),
  };
}

function readSlot(o: Record<string, unknown>): Slot {
  return { id: text(o, 'id'), heartbeat: text(o, 'heartbeat'), everyS: positive(o, 'every_s') };
}

function readLicence(o: Record<string, unknown>): Licence {
  const { clearkey } = object(o.systems);
  return {
    clearKey: typeof clearkey === 'string' ? new URL(clearkey, location.href).href : null,
    heightMax: height(o, 'software_height_max'),
  };
}

function height(o: Record<string, unknown>, key: string): number {
  return numberOrNull(o, key) ?? Number.POSITIVE_INFINITY;
}

function readScores(o: Record<string, unknown>): Scores {
  return {
    stream: new URL(text(o, 'stream'), location.href).href,
    base: new URL(text(o, 'base'), location.href).href,
    token: typeof o.token === 'string' ? o.token : '',
  };
}

/** Where a scorer's page sends what is entered: `GET /v1/scorer`. */
export function scorer(signal: AbortSignal): Promise<{ feeds: string }> {
  const read = (body: unknown): { feeds: string } => ({
    feeds: new URL(text(object(body), 'feeds'), location.href).href,
  });
  return requestJson('/v1/scorer', read, { signal });
}
