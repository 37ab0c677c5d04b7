/**
 * Follows one match on a page: the stream, the resources beside it, and the picture that holds both back. Says what
 * is to be shown, and when. No DOM.
 */

import { nextWaitMs } from '../net/backoff';
import { policy, RequestError } from '../net/request';
import { agrees, type Card, carryOn } from './card';
import { ScoresClient } from './client';
import type { State, Update } from './core';
import { isAfter, otherLog } from './cursor';
import { type Base, Hold, type HoldView, type Pending } from './hold';
import { Resources } from './resources';
import type { CursorStore } from './store';
import type { Headline, Moment, ScoreEvent } from './wire';

/** Where the score plane is, as the play answer says. */
export interface Access {
  readonly stream: string;
  readonly base: string;
  readonly token: string;
}

export interface Picture {
  /** Venue time on screen, UTC ms; `Infinity`: there is no picture to wait for; null: not known yet. */
  readonly ms: number | null;
  /** Venue time passes this much faster than the clock; 0 when it stands. */
  readonly rate: number;
}

export interface Shown {
  readonly headline: Headline | null;
  readonly card: Card | null;
  readonly newest: ScoreEvent | null;
  readonly news: readonly ScoreEvent[];
  readonly moments: readonly Moment[];
}

export interface FollowEvents {
  show(shown: Shown): void;
  /** How the feed is; `delayed`: nothing has come from the ground for too long. */
  status(state: State, detail: string, delayed: boolean): void;
  watching(count: number): void;
}

/** A fetch that failed, or that did not help, is tried again: soon, and never in a loop. */
const AGAIN = { baseMs: 500, capMs: 10_000 };

/** Whoever was told so recently that the stream does not reach back so far is not helped by asking again. */
const GAP_FOR_MS = 10 * 60_000;

/** Then cards are fetched this often. Whole seconds, so that an edge shares them. */
const BEHIND_EVERY_MS = 2_000;

/** Without a happening for this long the page asks whether the feed is late. Both are cached at the edge. */
const QUIET_MS = 60_000;
const ASK_EVERY_MS = 30_000;

export class Follow {
  readonly #match: string;
  readonly #client: ScoresClient;
  readonly #resources: Resources;
  readonly #picture: () => Picture;
  readonly #events: FollowEvents;
  readonly #hold = new Hold<Card>();
  readonly #life = new AbortController();
  #fetching: string | null = null;
  #waitMs = AGAIN.baseMs;
  #notBefore = 0;
  #drawn = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;
  #end: (() => void) | null = null;
  /** From here on every event of the log was given to us. */
  #from: string | null = null;
  #gapAt = Number.NEGATIVE_INFINITY;
  /** The picture is further back than the stream can begin: the score comes from cards alone, one after the other. */
  #behind: Base<Card> | null = null;
  #behindEveryMs = BEHIND_EVERY_MS;
  #heardAt = performance.now();
  #state: State = 'connecting';
  #detail = '';
  #delayed = false;
  #card: Card | null = null;
  #cardAt = Number.NEGATIVE_INFINITY;

  /** @param token a fresh one. */
  constructor(
    match: string,
    access: Access,
    token: () => Promise<string>,
    store: CursorStore,
    picture: () => Picture,
    events: FollowEvents,
  ) {
    this.#match = match;
    this.#picture = picture;
    this.#events = events;
    this.#client = new ScoresClient({
      stream: access.stream,
      base: access.base,
      store,
      patience: (own) => policy.backoff(own),
      token: (fresh) => (fresh ? token() : access.token),
    });
    this.#resources = new Resources(access.base, match, () => this.#client.token || access.token);
    void this.#moments();
    this.#ask();
    this.tick();
  }

  close(): void {
    this.#life.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#asking);
    this.#end?.();
    this.#client.close();
  }

  /** For tests and the curious. */
  get health(): object {
    return { ...this.#client.health, cursor: this.#client.cursor(this.#match), state: this.#state };
  }

  /** The picture moved: called with each frame, and whenever it may have jumped. Cheap when nothing is due. */
  tick(): void {
    clearTimeout(this.#timer);
    if (this.#life.signal.aborted) return;
    const { ms, rate } = this.#picture();
    if (ms === null) return;
    const view = this.#hold.view(ms);
    if (view.version !== this.#drawn) this.#draw(view, ms);
    if (view.need) this.#want(view.need);
    else if (this.#behind && Number.isFinite(ms) && ms - (this.#behind.at ?? ms) > this.#behindEveryMs) {
      this.#want({ at: Math.floor(ms / 1_000) * 1_000, since: null });
    }
    if (view.due !== null && rate > 0) {
      // Frames come sooner; this is for a page whose frames are not drawn.
      this.#timer = setTimeout(() => this.tick(), Math.max(5, (view.due - ms) / rate));
    }
  }

  #draw(view: HoldView<Card>, at: number): void {
    this.#drawn = view.version;
    // What belongs to a later moment is not shown while the right one is fetched.
    if (at < this.#cardAt) this.#card = null;
    if (view.base) {
      const card = carryOn(view.base.card, view.beyond);
      if (card === null || agrees(card, view.headline)) this.#card = card;
      else
        this.#want({
          at: Number.isFinite(at) ? latest(view, at) : null,
          since: this.#client.cursor(this.#match),
        });
    }
    this.#cardAt = at;
    const { headline, newest, news } = view;
    this.#events.show({ headline, newest, news, card: this.#card, moments: this.#hold.moments() });
  }

  #want(need: Pending): void {
    const key = `${need.at} ${need.since}`;
    if (this.#fetching === key) return;
    this.#fetching = key;
    void this.#fetch(need, key);
  }

  async #fetch(need: Pending, key: string): Promise<void> {
    const { signal } = this.#life;
    const now = performance.now();
    try {
      if (now < this.#notBefore) await sleep(this.#notBefore - now, signal);
      if (this.#fetching !== key) return;
      const base = await this.#base(need);
      this.#notBefore = performance.now() + this.#waitMs;
      this.#waitMs = nextWaitMs(this.#waitMs, AGAIN, Math.random);
      if (this.#fetching === key) this.#fetching = null;
      this.#take(base);
    } catch (error) {
      if (signal.aborted) return;
      const after = error instanceof RequestError ? error.retryAfterMs : null;
      const wait = policy.again(after, this.#waitMs, AGAIN, performance.now(), Math.random);
      this.#notBefore = performance.now() + Math.max(wait.drawnMs, wait.leastMs);
      this.#waitMs = wait.drawnMs;
      if (this.#fetching === key) this.#fetching = null;
      // Without a card the stream alone may do: from what was kept of an earlier visit, or from now on.
      if (this.#end === null) this.#subscribe(null);
      this.tick();
    }
  }

  async #base(need: Pending): Promise<Base<Card>> {
    const { cursor, upto, score, card } = await this.#resources.card(need.at, need.since, this.#life.signal);
    return { at: need.at, cursor, upto, score, card };
  }

  #take(base: Base<Card>): void {
    const floor = this.#hold.wholeAfter;
    this.#hold.setBase(base);
    const earlier = (base.at ?? Number.POSITIVE_INFINITY) < floor;
    // What lies between this and what we are given is asked for.
    const gap = performance.now() - this.#gapAt < GAP_FOR_MS;
    const from = this.#from ?? this.#client.cursor(this.#match);
    if (this.#end === null || (earlier && isAfter(from, base.cursor) && !gap)) this.#subscribe(base.cursor);
    if (earlier) this.#hold.setFloor(base);
    this.#behind = this.#end !== null && isAfter(this.#from, base.cursor) ? base : null;
    this.#behindEveryMs = policy.everyMs('card', BEHIND_EVERY_MS, Math.random);
    this.tick();
    const { ms } = this.#picture();
    if (ms === null || this.#hold.view(ms).need || this.#behind) return;
    // What is shown is right: the next fetch need not wait.
    this.#waitMs = AGAIN.baseMs;
    this.#notBefore = 0;
  }

  #subscribe(since: string | null): void {
    this.#end?.();
    this.#from = since;
    this.#end = this.#client.subscribe(this.#match, (update) => this.#update(update), since);
  }

  #update(update: Update): void {
    switch (update.type) {
      case 'event':
        this.#heardAt = performance.now();
        this.#late(false);
        if (this.#hold.take(update.event)) this.#ahead(update.event);
        this.tick();
        return;
      case 'reset':
        if (update.reason === 'gap') this.#gapAt = performance.now();
        this.#hold.reset(update.reason === 'gap');
        this.#from = this.#client.cursor(this.#match);
        void this.#moments();
        this.tick();
        return;
      case 'snapshot':
        this.#late(update.snapshot.feed_delayed);
        for (const event of update.snapshot.recent) this.#hold.take(event);
        this.tick();
        return;
      case 'state':
        this.#state = update.state;
        this.#detail = update.detail;
        this.#say();
        return;
    }
  }

  /** A correction that the picture has not reached: its card is fetched now, so that it is there in time. */
  #ahead(event: ScoreEvent): void {
    const { ms } = this.#picture();
    if (!event.correction || ms === null || event.venue_ms <= ms || !Number.isFinite(ms)) return;
    void this.#base({ at: event.venue_ms, since: event.cursor }).then(
      (base) => {
        if (!otherLog(base.upto, this.#client.cursor(this.#match))) this.#hold.prepare(base);
      },
      // It is fetched when it is due.
      () => undefined,
    );
  }

  async #moments(): Promise<void> {
    if (policy.isOff('moments')) return;
    try {
      this.#hold.takeMoments(await this.#resources.moments(this.#life.signal));
      this.#drawn = -1;
      this.tick();
    } catch {
      // Those of events that come are shown.
    }
  }

  /** From time to time: how many watch, and, if it is quiet, whether it is too quiet. */
  #ask(): void {
    const { signal } = this.#life;
    const again = (): void => {
      if (signal.aborted) return;
      this.#asking = setTimeout(() => this.#ask(), policy.everyMs('watching', ASK_EVERY_MS, Math.random));
    };
    const quiet = performance.now() - this.#heardAt > QUIET_MS;
    const off = policy.isOff('watching');
    const watching = off
      ? Promise.resolve()
      : this.#resources.watching(signal).then((n) => {
          if (n !== null) this.#events.watching(n);
        });
    const late = quiet
      ? this.#resources.snapshot(signal).then((s) => this.#late(s.feed_delayed || s.stale))
      : Promise.resolve();
    void Promise.allSettled([watching, late]).then(again);
  }

  #late(delayed: boolean): void {
    if (delayed === this.#delayed) return;
    this.#delayed = delayed;
    this.#say();
  }

  #say(): void {
    this.#events.status(this.#state, this.#detail, this.#delayed);
  }
}

function latest(view: HoldView<unknown>, at: number): number {
  const ms = view.beyond.reduce(
    (most, e) => Math.max(most, e.venue_ms),
    view.base?.at ?? Number.NEGATIVE_INFINITY,
  );
  return Number.isFinite(ms) ? ms : Math.floor(at);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
