/** The arrival API, as the page needs it. What comes from outside is checked here and nowhere else. */

import { array, numberOrNull, object, positive, text } from './narrow';
import { request, requestJson } from './request';

export interface Match {
  readonly match: string;
  readonly title: string;
  readonly live: boolean;
  /** `cricket`, `football`; empty when it has no score. */
  readonly sport: string;
  /** Has a picture. */
  readonly watchable: boolean;
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

/** `GET /v1/matches`. */
export function matches(signal: AbortSignal): Promise<Match[]> {
  return requestJson('/v1/matches', (body) => array(body).map(readMatch), { signal });
}

/** `POST /v1/matches/{match}/play`. */
export function play(match: string, signal: AbortSignal): Promise<Play> {
  const url = `/v1/matches/${encodeURIComponent(match)}/play`;
  return requestJson(url, readPlay, { method: 'POST', signal });
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
    live: o.live === true,
    sport: typeof o.sport === 'string' ? o.sport : '',
    watchable: o.watchable !== false,
  };
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
  };
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
