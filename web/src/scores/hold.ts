/**
 * Hold until seen: what of a match may be shown while the picture stands at some venue time. A happening is shown
 * when the picture reaches its venue time, a correction when the picture reaches the correction's. Pure: the
 * picture's time is an argument.
 */

import { isAfter } from './cursor';
import type { Headline, Moment, ScoreEvent } from './wire';

/** The score as the server knows it at a moment: `GET card?at=`. */
export interface Base<C> {
  /** UTC, ms; null: all that was known. */
  readonly at: number | null;
  /** Of what stands after it in the log, all that is later than `at`. */
  readonly cursor: string | null;
  /** The newest that was looked at; null when the server does not say. */
  readonly upto: string | null;
  readonly score: Headline | null;
  readonly card: C | null;
}

/** A {@link Base} that is needed. */
export interface Pending {
  /** UTC, ms; null: all. */
  readonly at: number | null;
  /** It must have looked at this; null: whatever there is. */
  readonly since: string | null;
}

export interface HoldView<C> {
  /** Another number: something is to be drawn anew. */
  readonly version: number;
  /** Right for this moment; null: not known yet. */
  readonly headline: Headline | null;
  /** The newest happening that is shown, by its place on the field. */
  readonly newest: ScoreEvent | null;
  /** What must be fetched to be right. */
  readonly need: Pending | null;
  /** The card to start from, and what is shown beyond it, in the order of the field. Null: `need` comes first. */
  readonly base: Base<C> | null;
  readonly beyond: readonly ScoreEvent[];
  /** Shown now and not in the view before, if the picture went on: for announcing. */
  readonly news: readonly ScoreEvent[];
  /** The next venue time at which this view changes; null: nothing waits. */
  readonly due: number | null;
}

interface Happening {
  /** By revision, rising. */
  readonly revisions: ScoreEvent[];
}

/** As many as the client remembers. */
const HAPPENINGS_MAX = 10_000;

/** A jump of the picture by more than this is a seek: what lies between was not seen, and is no news. */
const NEWS_WITHIN_MS = 10_000;

/** Of one match, as many as are needed around a picture that steps back a little, with corrections ahead of it. */
const BASES_MAX = 12;

/** A card for the middle of nowhere is asked for by whole seconds, so that an edge can share it. */
const AT_STEP_MS = 1_000;

export class Hold<C = unknown> {
  readonly #happenings = new Map<number, Happening>();
  readonly #moments = new Map<number, Moment>();
  /** By when they came. */
  #bases: Base<C>[] = [];
  /** The base after whose cursor everything is held, or on its way. */
  #floor: Base<C> | null = null;
  #cache: { from: number; until: number; view: HoldView<C> } | null = null;
  #last: { at: number; shown: Map<number, number> } | null = null;
  /** What was right last, and since when in venue time. */
  #right: { since: number; headline: Headline | null } | null = null;
  #seenMs = Number.NEGATIVE_INFINITY;
  #version = 0;

  /** The server's score at a moment; the first one is the floor. */
  setBase(base: Base<C>): void {
    const known = this.prepare(base);
    this.#floor ??= known;
  }

  /** The server's score at a moment that the picture may come to. */
  prepare(base: Base<C>): Base<C> {
    // A server that does not say how far it looked has seen what we had before it answered.
    const known = base.upto === null ? { ...base, upto: this.#lastHeld() ?? base.cursor } : base;
    this.#bases = this.#bases.filter((b) => b.at !== base.at);
    this.#bases.push(known);
    if (this.#bases.length > BASES_MAX) this.#bases.shift();
    this.#cache = null;
    return known;
  }

  /** Events come from this base's cursor on: all that is later will be held. */
  setFloor(base: Base<C>): void {
    this.#floor = this.prepare(base);
  }

  /** Later than this (UTC, ms) everything is held, or on its way. */
  get wholeAfter(): number {
    return this.#floor ? (this.#floor.at ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  }

  /** A revision of a happening. Returns whether it is news to us. */
  take(event: ScoreEvent): boolean {
    let happening = this.#happenings.get(event.event_id);
    if (!happening) {
      happening = { revisions: [] };
      this.#happenings.set(event.event_id, happening);
    }
    const { revisions } = happening;
    const index = revisions.findIndex((e) => e.revision >= event.revision);
    if (revisions[index]?.revision === event.revision) return false;
    revisions.splice(index < 0 ? revisions.length : index, 0, event);
    if (this.#happenings.size > HAPPENINGS_MAX) {
      const oldest = this.#happenings.keys().next().value;
      if (oldest !== undefined) this.#happenings.delete(oldest);
    }
    this.#cache = null;
    return true;
  }

  /** Key moments that were fetched; those of events that are held are not overwritten. */
  takeMoments(moments: readonly Moment[]): void {
    for (const moment of moments) this.#moments.set(moment.event_id, moment);
  }

  /**
   * All that is held is void: another log, or a gap. After a gap what was shown was right, and stays until what is
   * right now is there; of another log nothing is known.
   */
  reset(gap = false): void {
    this.#happenings.clear();
    this.#moments.clear();
    this.#bases = [];
    this.#floor = null;
    this.#cache = null;
    if (gap) return;
    this.#last = null;
    this.#right = null;
  }

  /** Key moments of what the viewer has seen, in the order of the ground's clock. */
  moments(): Moment[] {
    const all = new Map(this.#moments);
    for (const [id, { revisions }] of this.#happenings) {
      const shown = newestBy(revisions, this.#seenMs);
      if (!shown) {
        const known = all.get(id);
        if (known && known.venue_ms > this.#seenMs) all.delete(id);
      } else if (shown.moment) all.set(id, shown.moment);
      else if (shown.revision > 1) all.delete(id);
    }
    return [...all.values()]
      .filter((m) => m.venue_ms <= this.#seenMs)
      .sort((a, b) => a.venue_ms - b.venue_ms || a.event_id - b.event_id);
  }

  /** What may be shown with the picture at `venueMs`; `Infinity`: there is no picture, all that is known. */
  view(venueMs: number): HoldView<C> {
    this.#seenMs = Math.max(this.#seenMs, venueMs);
    const cached = this.#cache;
    if (cached && venueMs >= cached.from && venueMs < cached.until) {
      if (this.#last) this.#last.at = venueMs;
      return cached.view;
    }
    const view = this.#look(venueMs);
    // The same moment, looked at again, has no news; and until the next thing is due nothing changes.
    const until = view.due ?? Number.POSITIVE_INFINITY;
    this.#cache = { from: this.#from(venueMs), until, view: { ...view, news: [] } };
    return view;
  }

  /** Since when what is shown at `venueMs` has been the same. */
  #from(venueMs: number): number {
    let from = Number.NEGATIVE_INFINITY;
    for (const { revisions } of this.#happenings.values()) {
      for (const e of revisions) if (e.venue_ms <= venueMs && e.venue_ms > from) from = e.venue_ms;
    }
    const at = this.#usable(venueMs)?.at ?? null;
    if (at !== null) from = Math.max(from, at);
    // Before what is known to be whole, any moment may be another.
    return venueMs < this.wholeAfter && Number.isFinite(venueMs) ? Math.max(from, venueMs) : from;
  }

  #look(at: number): HoldView<C> {
    const shown: ScoreEvent[] = [];
    let due = Number.POSITIVE_INFINITY;
    for (const { revisions } of this.#happenings.values()) {
      for (const e of revisions) if (e.venue_ms > at && e.venue_ms < due) due = e.venue_ms;
      const best = newestBy(revisions, at);
      if (best) shown.push(best);
    }
    shown.sort((a, b) => this.#order(a, b));
    const newest = shown.at(-1) ?? null;
    const base = this.#usable(at);
    const beyond = base ? shown.filter((e) => !included(base, e)) : [];
    const headline = this.#headline(at, base, beyond, newest);
    const need = headline === null ? this.#need(at, base, shown) : null;
    if (headline !== null) this.#right = { since: this.#from(at), headline };
    // While the right one is fetched what stood stays, unless the picture went back to before it.
    else if (this.#right && this.#right.since > at) this.#right = null;
    const news = this.#news(at, shown);
    this.#version += 1;
    return {
      version: this.#version,
      headline: this.#right?.headline ?? null,
      newest,
      need,
      base: need ? null : base,
      beyond,
      news,
      due: Number.isFinite(due) ? due : null,
    };
  }

  #lastHeld(): string | null {
    return lastCursor([...this.#happenings.values()].flatMap((h) => h.revisions));
  }

  /** The latest that is not later than `at`. */
  #usable(at: number): Base<C> | null {
    let best: Base<C> | null = null;
    for (const base of this.#floor ? [this.#floor, ...this.#bases] : this.#bases) {
      const fits = base.at === null ? at === Number.POSITIVE_INFINITY : base.at <= at;
      if (fits && (best === null || stands(base) >= stands(best))) best = base;
    }
    return best;
  }

  /** Null when what is held cannot tell. */
  #headline(
    at: number,
    base: Base<C> | null,
    beyond: readonly ScoreEvent[],
    newest: ScoreEvent | null,
  ): Headline | null {
    if (!base) return null;
    if (beyond.length === 0) return base.score;
    // What is newest among the held is so on the field only if it stands after everything in the base.
    if (!newest?.score || !beyond.includes(newest) || !this.#isPast(newest, base)) return null;
    for (const { revisions } of this.#happenings.values()) {
      const shown = newestBy(revisions, at);
      for (const e of revisions) {
        if (e === newest || this.#order(e, newest) > 0) continue;
        // It stands before the newest on the field, came after it, and is shown: that score does not count it.
        if (e === shown && isAfter(e.cursor, newest.cursor)) return null;
        // It is not yet to be seen, and that score counts it.
        if (e.venue_ms > at && isAfter(newest.cursor, e.cursor)) return null;
      }
    }
    return newest.score;
  }

  /** Whether an event stands after everything in the base, as far as headlines tell: cricket counts deliveries. */
  #isPast(event: ScoreEvent, base: Base<C>): boolean {
    const [now, then] = [event.score?.balls, base.score?.balls];
    const later = event.revision === 1 && (base.at === null || event.venue_ms > base.at);
    if (now === undefined || then === undefined) return later;
    // After as many deliveries: a first word, spoken later, of something that is no delivery (a review, a break).
    return now > then || (now === then && later && event.body.kind !== 'delivery');
  }

  #need(at: number, base: Base<C> | null, shown: readonly ScoreEvent[]): Pending {
    if (at === Number.POSITIVE_INFINITY) return { at: null, since: lastCursor(shown) };
    const latest = shown.reduce((ms, e) => Math.max(ms, e.venue_ms), Number.NEGATIVE_INFINITY);
    if (at <= this.wholeAfter || !Number.isFinite(latest)) {
      return { at: Math.floor(at / AT_STEP_MS) * AT_STEP_MS, since: lastCursor(shown) };
    }
    return { at: Math.max(latest, base?.at ?? latest), since: lastCursor(shown) };
  }

  #news(at: number, shown: readonly ScoreEvent[]): ScoreEvent[] {
    const before = this.#last;
    const now = new Map(shown.map((e) => [e.event_id, e.revision]));
    this.#last = { at, shown: now };
    if (!before || at < before.at) return [];
    // The picture came or went, or jumped.
    const other = Number.isFinite(at) !== Number.isFinite(before.at);
    return other || at - before.at > NEWS_WITHIN_MS
      ? []
      : shown.filter((e) => (before.shown.get(e.event_id) ?? 0) < e.revision);
  }

  /** By place on the field: cricket's ids are in that order, elsewhere the ground's clock is. */
  #order(a: ScoreEvent, b: ScoreEvent): number {
    if ((a.score?.sport ?? a.body.sport) === 'cricket') return a.event_id - b.event_id;
    return this.#first(a) - this.#first(b) || a.event_id - b.event_id;
  }

  /** When a happening was first told of: a goal that is taken back keeps its place. */
  #first(event: ScoreEvent): number {
    const revisions = this.#happenings.get(event.event_id)?.revisions ?? [event];
    return revisions.reduce((ms, e) => Math.min(ms, e.venue_ms), event.venue_ms);
  }
}

/** The highest revision that may be seen. */
function newestBy(revisions: readonly ScoreEvent[], at: number): ScoreEvent | null {
  return revisions.findLast((e) => e.venue_ms <= at) ?? null;
}

function stands(base: Base<unknown>): number {
  return base.at ?? Number.POSITIVE_INFINITY;
}

/** Whether a base counts an event. */
function included<C>(base: Base<C>, event: ScoreEvent): boolean {
  if (base.at !== null && event.venue_ms > base.at) return false;
  return !isAfter(event.cursor, base.upto);
}

function lastCursor(events: readonly ScoreEvent[]): string | null {
  return events.reduce<string | null>(
    (last, e) => (last === null || isAfter(e.cursor, last) ? e.cursor : last),
    null,
  );
}
