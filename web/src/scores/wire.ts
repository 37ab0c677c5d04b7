/** What the score plane sends, and its reader. Whatever cannot be read is null, never an exception. Pure. */

/** The score as it was after one happening, in the order of the field. */
export interface Headline {
  readonly sport: string;
  /** In words: `CSK 45/2 (5.3)`. */
  readonly text: string;
  /** Cricket: deliveries bowled in the match so far, wides and no-balls counted. */
  readonly balls?: number;
  readonly innings?: number;
  readonly batting?: string;
  readonly bowling?: string;
  readonly runs?: number;
  readonly wickets?: number;
  readonly overs?: string;
  /** Runs to win. */
  readonly target?: number | null;
  /** Football. */
  readonly home?: Side;
  readonly away?: Side;
  readonly clock?: string;
}

export interface Side {
  readonly name: string;
  readonly goals: number;
}

/** Something worth going back to. */
export interface Moment {
  readonly event_id: number;
  /** From when it may be told: UTC, ms, at the ground. */
  readonly venue_ms: number;
  /** Where its picture is. */
  readonly seek_ms: number;
  /** `wicket`, `four`, `six`, `fifty`, `hundred`, `review`, `goal`, `card` … */
  readonly kind: string;
  readonly text: string;
}

/** What happened, in the sport's own words; see `cricket/body.ts`. `sport` is `withdrawn` for what did not happen. */
export type Body = { readonly sport: string; readonly kind?: string } & Readonly<Record<string, unknown>>;

/** One revision of one happening. */
export interface ScoreEvent {
  readonly type: 'score_event';
  readonly match_id: string;
  /** From the place on the field: the same for every provider, and for every revision. */
  readonly event_id: number;
  /** From 1. The highest is right. */
  readonly revision: number;
  readonly cursor: string;
  /** UTC, ms, at the ground. */
  readonly venue_ms: number;
  readonly correction: boolean;
  readonly body: Body;
  readonly score: Headline | null;
  readonly moment: Moment | null;
}

export type Frame =
  | ScoreEvent
  | { readonly type: 'subscribed'; readonly match_id: string; readonly cursor: string }
  | { readonly type: 'live'; readonly match_id: string }
  | {
      readonly type: 'feed_paused';
      readonly match_id: string;
      readonly reason: string;
      readonly snapshot_url: string | null;
      readonly retry_after_seconds: number | null;
    }
  | { readonly type: 'feed_resumed'; readonly match_id: string }
  | {
      readonly type: 'snapshot_required';
      readonly match_id: string;
      readonly snapshot_url: string | null;
      readonly cursor: string | null;
    }
  | {
      readonly type: 'refused';
      readonly match_id: string;
      readonly title: string;
      readonly detail: string;
      readonly status: number;
    }
  | { readonly type: 'token_expiring'; readonly in_seconds: number }
  | { readonly type: 'ping' }
  | { readonly type: 'error'; readonly detail: string };

/** `GET /v1/matches/{m}/snapshot`. */
export interface Snapshot {
  readonly match_id: string;
  readonly as_of_event_id: string;
  readonly status: string;
  readonly title: string;
  readonly sport: string;
  readonly score: Headline | null;
  /** Nothing has come from the ground for longer than this sport's own pace explains. */
  readonly feed_delayed: boolean;
  readonly recent: readonly ScoreEvent[];
  /** It was served from memory, without the shard. */
  readonly stale: boolean;
}

/** Frames are well below this; more is not read. */
const FRAME_MAX = 256 * 1024;

type Fields = Record<string, unknown>;

/** A frame, or null. */
export function readFrame(text: string): Frame | null {
  if (text.length > FRAME_MAX) return null;
  try {
    return frame(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A frame that is parsed already, or null. */
export function frame(value: unknown): Frame | null {
  const o = fields(value);
  if (!o) return null;
  const match_id = string(o.match_id) ?? '';
  switch (o.type) {
    case 'score_event':
      return event(o);
    case 'subscribed': {
      const cursor = string(o.cursor);
      return match_id !== '' && cursor !== null ? { type: 'subscribed', match_id, cursor } : null;
    }
    case 'live':
    case 'feed_resumed':
      return match_id !== '' ? { type: o.type, match_id } : null;
    case 'feed_paused':
      if (match_id === '') return null;
      return {
        type: 'feed_paused',
        match_id,
        reason: string(o.reason) ?? '',
        snapshot_url: string(o.snapshot_url),
        retry_after_seconds: number(o.retry_after_seconds),
      };
    case 'snapshot_required':
      if (match_id === '') return null;
      return {
        type: 'snapshot_required',
        match_id,
        snapshot_url: string(o.snapshot_url),
        cursor: string(o.cursor),
      };
    case 'refused':
      return {
        type: 'refused',
        match_id,
        title: string(o.title) ?? 'Refused',
        detail: string(o.detail) ?? '',
        status: number(o.status) ?? 0,
      };
    case 'token_expiring':
      return { type: 'token_expiring', in_seconds: Math.max(0, number(o.in_seconds) ?? 0) };
    case 'ping':
      return { type: 'ping' };
    case 'error':
      return { type: 'error', detail: string(o.detail) ?? '' };
    default:
      return null;
  }
}

function event(o: Fields): ScoreEvent | null {
  const match_id = string(o.match_id);
  const cursor = string(o.cursor);
  const [event_id, revision, venue_ms] = [whole(o.event_id), whole(o.revision), number(o.venue_ms)];
  const body = fields(o.body);
  if (match_id === null || cursor === null || event_id === null || revision === null) return null;
  if (venue_ms === null || revision < 1 || !body || string(body.sport) === null) return null;
  return {
    type: 'score_event',
    match_id,
    event_id,
    revision,
    cursor,
    venue_ms,
    correction: o.correction === true || revision > 1,
    body: body as Body,
    score: headline(o.score),
    moment: moment(o.moment),
  };
}

/** A headline, or null. Further fields are kept as they are. */
export function headline(value: unknown): Headline | null {
  const o = fields(value);
  if (!o) return null;
  const [sport, text] = [string(o.sport), string(o.text)];
  if (sport === null || text === null) return null;
  return { ...o, sport, text } as Headline;
}

/** A moment, or null. */
export function moment(value: unknown): Moment | null {
  const o = fields(value);
  if (!o) return null;
  const [event_id, venue_ms, kind] = [whole(o.event_id), number(o.venue_ms), string(o.kind)];
  if (event_id === null || venue_ms === null || kind === null) return null;
  return { event_id, venue_ms, seek_ms: number(o.seek_ms) ?? venue_ms, kind, text: string(o.text) ?? kind };
}

/** A snapshot; throws when it is none. */
export function snapshot(value: unknown, stale: boolean): Snapshot {
  const o = fields(value);
  const as_of_event_id = string(o?.as_of_event_id);
  const match_id = string(o?.match_id);
  if (!o || match_id === null || as_of_event_id === null) throw new TypeError('not a snapshot');
  return {
    match_id,
    as_of_event_id,
    status: string(o.status) ?? '',
    title: string(o.title) ?? '',
    sport: string(o.sport) ?? '',
    score: headline(o.score),
    feed_delayed: o.feed_delayed === true,
    recent: list(o.recent).flatMap((f) => {
      const read = frame(f);
      return read?.type === 'score_event' ? [read] : [];
    }),
    stale,
  };
}

export function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function string(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function whole(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
