/**
 * The client's head: what is subscribed, what was seen, when to connect again. Pure: time, randomness and all I/O are
 * outside; what must be done comes back as {@link Effect}s.
 */

import { type Backoff, nextWaitMs } from '../net/backoff';
import * as codes from './codes';
import { isAfter, otherLog, parse } from './cursor';
import { readLastEventId } from './lastid';
import * as limits from './limits';
import type { Effect, Input, State, Transport, Update } from './messages';
import { Ways } from './ways';
import { type Frame, frame, readFrame, type ScoreEvent, type Snapshot } from './wire';

export type { Effect, Input, State, Transport, Update, Wanted } from './messages';

interface Sub {
  cursor: string | null;
  state: State;
  detail: string;
  /** Highest revision of each happening that was given out. */
  seen: Map<number, number>;
  /** Events that wait for a snapshot; null when none is awaited. */
  held: ScoreEvent[] | null;
  tries: number;
  snapshotUrl: string | null;
  /** When a snapshot is to be asked for (again), ms. */
  snapshotAt: number | null;
  snapshotWaitMs: number;
  /** What follows the awaited snapshot follows this. */
  after: string | null;
  /** The piece between a snapshot that was too old and the stream was asked for already. */
  rewound: boolean;
  /** Asked for, not yet granted: what still comes belongs to the subscription before. */
  asked: boolean;
  paused: boolean;
}

type Phase = 'off' | 'token' | 'connecting' | 'open' | 'waiting';

export class Core {
  phase: Phase = 'off';
  /** Frames that could not be read. */
  rubbish = 0;
  readonly #patience: (own: Backoff) => Backoff;
  readonly #random: () => number;
  readonly #stored: (match: string) => string | null;
  readonly #subs = new Map<string, Sub>();
  #effects: Effect[] = [];
  #now = 0;
  #token: string | null = null;
  #tokenAsked = false;
  #tokenRetryAt: number | null = null;
  #tokenWaitMs = limits.RECONNECT.baseMs;
  #waitMs = limits.RECONNECT.baseMs;
  #wakeAt: number | null = null;
  #openedAt: number | null = null;
  #heardAt = 0;
  #beats = false;
  #probedAt: number | null = null;
  /** Frames read on this connection. */
  #frames = 0;
  readonly #ways = new Ways();

  /** @param stored the cursor that was kept of a match. @param random from 0 to 1. */
  /** @param patience what of our own bounds is in force now: never less than them. */
  constructor(
    random: () => number,
    stored: (match: string) => string | null,
    patience: (own: Backoff) => Backoff = (own) => own,
  ) {
    this.#random = random;
    this.#patience = patience;
    this.#stored = stored;
  }

  /** When {@link input} wants a `timer`, ms; null: not at all. */
  get wakeAt(): number | null {
    let at = this.#wakeAt;
    const sooner = (other: number | null): void => {
      if (other !== null && (at === null || other < at)) at = other;
    };
    if (this.phase === 'open') sooner(this.#silentAt());
    sooner(this.#tokenRetryAt);
    for (const sub of this.#subs.values()) sooner(sub.snapshotAt);
    return at;
  }

  get transport(): Transport {
    return this.#ways.transport;
  }

  /** The cursor of a match, as far as it was given out. */
  cursor(match: string): string | null {
    return this.#subs.get(match)?.cursor ?? null;
  }

  input(input: Input, nowMs: number): Effect[] {
    this.#now = nowMs;
    this.#effects = [];
    this.#take(input);
    return this.#effects;
  }

  #take(input: Input): void {
    switch (input.on) {
      case 'subscribe':
        this.#subscribe(input.match, input.since);
        return;
      case 'unsubscribe':
        this.#unsubscribe(input.match);
        return;
      case 'opened':
        this.#opened();
        return;
      case 'frame':
        this.#heardAt = this.#now;
        this.#frame(readFrame(input.text));
        return;
      case 'polled':
        this.#polled(input.events, input.lastEventId);
        return;
      case 'heartbeat':
        this.#beat();
        return;
      case 'closed':
        this.#closed(input.code, input.status, input.retryAfterMs);
        return;
      case 'timer':
        this.#timer();
        return;
      case 'token':
        this.#gotToken(input.token);
        return;
      case 'snapshot':
        this.#gotSnapshot(input.match, input.snapshot);
        return;
      case 'online':
        if (this.phase === 'waiting') {
          const soon = this.#now + this.#random() * limits.RECONNECT.baseMs;
          this.#wakeAt = Math.min(this.#wakeAt ?? soon, soon);
        }
        return;
    }
  }

  // Subscriptions.

  #subscribe(match: string, since: string | null): void {
    const before = this.#subs.get(match);
    const sub: Sub = {
      cursor: since ?? this.#stored(match),
      state: 'connecting',
      detail: '',
      seen: new Map(),
      held: null,
      tries: 0,
      snapshotUrl: null,
      snapshotAt: null,
      snapshotWaitMs: limits.RECONNECT.baseMs,
      after: null,
      rewound: false,
      asked: false,
      paused: false,
    };
    this.#subs.set(match, sub);
    this.#tell({ type: 'state', match, state: sub.state, detail: '' });
    if (this.phase === 'off') this.#start();
    else this.#askAgain(match, sub, before !== undefined);
  }

  /** On a connection that is open, or being opened. */
  #askAgain(match: string, sub: Sub, known: boolean): void {
    if (this.transport !== 'ws') {
      if (this.phase === 'open' || this.phase === 'connecting') this.#reopen();
    } else if (this.phase === 'open') {
      if (known) this.#send({ op: 'unsubscribe', match_id: match });
      this.#ask(match, sub);
    }
  }

  #unsubscribe(match: string): void {
    if (!this.#subs.delete(match)) return;
    if (this.#subs.size === 0) {
      if (this.phase === 'open' || this.phase === 'connecting') this.#effects.push({ do: 'disconnect' });
      this.#off();
    } else if (this.phase === 'open') {
      if (this.transport === 'ws') this.#send({ op: 'unsubscribe', match_id: match });
      else this.#reopen();
    }
  }

  #ask(match: string, sub: Sub): void {
    sub.asked = true;
    this.#send({
      op: 'subscribe',
      match_id: match,
      ...(sub.cursor === null ? {} : { since_event_id: sub.cursor }),
    });
  }

  #send(message: Record<string, string>): void {
    this.#effects.push({ do: 'send', text: JSON.stringify(message) });
  }

  // Connection.

  #start(): void {
    if (this.#token === null) {
      this.phase = 'token';
      this.#needToken(false);
      return;
    }
    this.#connect();
  }

  #connect(): void {
    this.#ways.trying(this.#now);
    this.phase = 'connecting';
    // Long-polls are one connection in many requests.
    if (this.transport !== 'poll') this.#openedAt = null;
    this.#beats = false;
    this.#probedAt = null;
    this.#frames = 0;
    this.#heardAt = this.#now;
    // A long-poll is held by the server before anything is heard.
    const patience = this.transport === 'poll' ? limits.POLL_WAIT_S * 1_000 : 0;
    this.#wakeAt = this.#now + limits.CONNECT_MS + patience;
    const wanted = [...this.#subs]
      .filter(([, sub]) => sub.state !== 'refused')
      .map(([match, sub]) => ({ match, since: sub.cursor }));
    this.#effects.push({ do: 'connect', transport: this.transport, token: this.#token, wanted });
  }

  /** SSE and long-poll name their matches in the URL. */
  #reopen(): void {
    this.#effects.push({ do: 'disconnect' });
    this.#connect();
  }

  #opened(): void {
    if (this.phase !== 'connecting') return;
    this.phase = 'open';
    this.#openedAt ??= this.#now;
    this.#heardAt = this.#now;
    this.#wakeAt = null;
    if (this.transport !== 'ws') return;
    for (const [match, sub] of this.#subs) if (sub.state !== 'refused') this.#ask(match, sub);
  }

  #closed(code: number, status: number | null, retryAfterMs: number | null): void {
    if (this.phase !== 'open' && this.phase !== 'connecting') return;
    const heldMs = this.#openedAt === null ? 0 : this.#now - this.#openedAt;
    // Something on the way that lets a connection open and then cuts it does not let it through.
    const opened = this.phase === 'open' && (this.#frames > 0 || heldMs >= limits.CONNECT_MS);
    this.#openedAt = null;
    if (heldMs >= limits.GOOD_MS) this.#waitMs = limits.RECONNECT.baseMs;
    if (status === 403) {
      this.#refusedAll(status);
      return;
    }
    for (const [match, sub] of this.#subs) {
      if (sub.state !== 'refused') this.#state(match, sub, 'reconnecting', codes.why(code, status));
    }
    this.#ways.ended(opened, status, this.#now);
    if (code === codes.TOKEN || status === 401) {
      this.#token = null;
      if (heldMs >= limits.TOKEN_HELD_MS) {
        this.phase = 'token';
        this.#wakeAt = null;
        this.#needToken(true);
        return;
      }
    }
    // Our own fault does not go away by hurrying.
    if (code === codes.BAD_FRAME) this.#waitMs = limits.RECONNECT.capMs;
    this.#waitMs = this.#longer(this.#waitMs);
    this.phase = 'waiting';
    this.#wakeAt = this.#now + Math.max(this.#waitMs, retryAfterMs ?? 0);
  }

  #refusedAll(status: number): void {
    for (const [match, sub] of this.#subs) {
      sub.snapshotAt = null;
      this.#state(match, sub, 'refused', `status ${status}`);
    }
    this.#off();
  }

  #off(): void {
    this.phase = 'off';
    this.#wakeAt = null;
    this.#openedAt = null;
  }

  #timer(): void {
    const now = this.#now;
    for (const [match, sub] of this.#subs) {
      if (sub.snapshotAt !== null && now >= sub.snapshotAt) this.#wantSnapshot(match, sub);
    }
    if (this.#tokenRetryAt !== null && now >= this.#tokenRetryAt) this.#needToken(true);
    const silentAt = this.phase === 'open' ? this.#silentAt() : null;
    const silent = silentAt !== null && now >= silentAt && !this.#probe();
    const due = this.#wakeAt !== null && now >= this.#wakeAt;
    if (this.phase === 'waiting' && due) this.#start();
    else if (silent || (this.phase === 'connecting' && due)) {
      this.#effects.push({ do: 'disconnect' });
      this.#closed(1006, null, null);
    } else if (this.phase === 'open' && due) {
      // Long-polls follow each other.
      this.#connect();
    }
  }

  /** When silence is to be looked at; null: this connection has no pulse. */
  #silentAt(): number | null {
    if (this.#probedAt !== null && this.#probedAt > this.#heardAt) return this.#probedAt + limits.PROBE_MS;
    return this.#beats || this.transport === 'ws' ? this.#heardAt + limits.SILENT_MS : null;
  }

  /** Asks for what we have: the answer is short, and only a live connection gives it. False: it was asked already. */
  #probe(): boolean {
    if (this.transport !== 'ws') return false;
    if (this.#probedAt !== null && this.#probedAt > this.#heardAt) return false;
    this.#probedAt = this.#now;
    for (const [match, sub] of this.#subs) {
      if (sub.state === 'refused') continue;
      this.#ask(match, sub);
      return true;
    }
    // Nothing is subscribed that could be asked for.
    this.#heardAt = this.#now;
    return true;
  }

  #beat(): void {
    this.#heardAt = this.#now;
    this.#beats = true;
  }

  // Tokens.

  #longer(previousMs: number): number {
    return nextWaitMs(previousMs, this.#patience(limits.RECONNECT), this.#random);
  }

  #needToken(fresh: boolean): void {
    this.#tokenRetryAt = null;
    if (this.#tokenAsked) return;
    this.#tokenAsked = true;
    this.#effects.push({ do: 'token', fresh });
  }

  #gotToken(token: string | null): void {
    this.#tokenAsked = false;
    if (token === null) {
      this.#tokenWaitMs = this.#longer(this.#tokenWaitMs);
      this.#tokenRetryAt = this.#now + this.#tokenWaitMs;
      return;
    }
    this.#tokenWaitMs = limits.RECONNECT.baseMs;
    this.#token = token;
    if (this.phase === 'token') this.#connect();
    else if (this.phase === 'open' && this.transport === 'ws') this.#send({ op: 'token', token });
  }

  // Frames.

  #frame(read: Frame | null): void {
    if (!read) {
      this.rubbish += 1;
      return;
    }
    this.#frames += 1;
    this.#ways.through();
    switch (read.type) {
      case 'ping':
        this.#beat();
        return;
      case 'token_expiring':
        this.#needToken(true);
        return;
      case 'error':
        return;
    }
    const sub = this.#subs.get(read.match_id);
    if (!sub) return;
    switch (read.type) {
      case 'subscribed':
        this.#subscribed(read.match_id, sub, read.cursor);
        return;
      case 'live':
        sub.paused = false;
        this.#state(read.match_id, sub, 'live', '');
        return;
      case 'score_event':
        this.#event(sub, read);
        return;
      case 'feed_paused':
        sub.paused = true;
        sub.snapshotUrl = read.snapshot_url;
        this.#snapshotLater(sub, (read.retry_after_seconds ?? 0) * 1_000);
        this.#state(read.match_id, sub, 'reconnecting', read.reason);
        return;
      case 'feed_resumed':
        sub.paused = false;
        if (sub.held === null) sub.snapshotAt = null;
        this.#state(read.match_id, sub, 'live', '');
        return;
      case 'snapshot_required':
        this.#reset(read.match_id, sub, read.cursor, read.snapshot_url, 'gap');
        return;
      case 'refused':
        sub.snapshotAt = null;
        this.#state(read.match_id, sub, 'refused', read.detail === '' ? read.title : read.detail);
        return;
    }
  }

  #subscribed(match: string, sub: Sub, cursor: string): void {
    const before = sub.cursor;
    sub.asked = false;
    if (otherLog(before, cursor) || isAfter(cursor, before)) {
      // Another log, or the same one further on than we are: epoch and offset are adopted together, or not at all.
      this.#reset(match, sub, cursor, null, otherLog(before, cursor) ? 'new log' : 'gap');
    } else if (before === null) this.#move(match, sub, cursor);
    this.#state(match, sub, 'replaying', '');
  }

  #event(sub: Sub, event: ScoreEvent): void {
    const match = event.match_id;
    if (sub.asked) return;
    if (otherLog(sub.cursor, event.cursor)) {
      this.#reset(match, sub, event.cursor, null, 'new log');
    }
    // The cursor moves first: whoever subscribes again inside a callback does not get this event twice. What is
    // known already moves it too.
    const moves = sub.cursor === null || parse(event.cursor) === null || isAfter(event.cursor, sub.cursor);
    if (moves) this.#move(match, sub, event.cursor);
    if ((sub.seen.get(event.event_id) ?? 0) >= event.revision) return;
    sub.seen.set(event.event_id, event.revision);
    if (sub.seen.size > limits.SEEN_MAX) {
      const oldest = sub.seen.keys().next().value;
      if (oldest !== undefined) sub.seen.delete(oldest);
    }
    if (sub.held === null) this.#tell({ type: 'event', event });
    else if (sub.held.length < limits.HELD_MAX) sub.held.push(event);
    else this.#reset(match, sub, event.cursor, sub.snapshotUrl, 'overflow');
  }

  /** Everything that is known of the match is void. */
  #reset(match: string, sub: Sub, cursor: string | null, url: string | null, reason: string): void {
    sub.seen.clear();
    sub.held = [];
    sub.tries = 0;
    sub.snapshotUrl = url;
    sub.snapshotWaitMs = limits.RECONNECT.baseMs;
    sub.after = cursor;
    sub.asked = false;
    this.#move(match, sub, cursor);
    this.#tell({ type: 'reset', match, reason });
    this.#wantSnapshot(match, sub);
  }

  #move(match: string, sub: Sub, cursor: string | null): void {
    sub.cursor = cursor;
    this.#effects.push({ do: 'keep', match, cursor });
  }

  // Snapshots.

  #wantSnapshot(match: string, sub: Sub): void {
    sub.snapshotAt = null;
    this.#effects.push({ do: 'snapshot', match, url: sub.snapshotUrl });
  }

  #snapshotLater(sub: Sub, atLeastMs: number): void {
    sub.snapshotWaitMs = this.#longer(sub.snapshotWaitMs);
    sub.snapshotAt = this.#now + Math.max(atLeastMs, sub.snapshotWaitMs);
  }

  #gotSnapshot(match: string, snapshot: Snapshot | null): void {
    const sub = this.#subs.get(match);
    if (!sub) return;
    sub.tries += 1;
    if (snapshot === null && (sub.paused || (sub.held !== null && sub.tries < limits.SNAPSHOT_TRIES))) {
      this.#snapshotLater(sub, 0);
      return;
    }
    if (snapshot) this.#tell({ type: 'snapshot', match, snapshot });
    if (sub.paused && sub.held === null) this.#snapshotLater(sub, 0);
    const held = sub.held;
    sub.held = null;
    if (held === null) return;
    if (snapshot && isAfter(sub.after, snapshot.as_of_event_id) && !sub.rewound) {
      // It came from a cache, and ends before the stream begins: what lies between is asked for, once.
      sub.rewound = true;
      sub.seen.clear();
      this.#move(match, sub, snapshot.as_of_event_id);
      this.#askAgain(match, sub, true);
      return;
    }
    sub.rewound = false;
    for (const event of held) this.#tell({ type: 'event', event });
  }

  // Long-poll.

  #polled(events: readonly unknown[], lastEventId: string): void {
    if (this.phase !== 'connecting' || this.transport !== 'poll') return;
    const quick = this.#now - this.#heardAt < limits.POLL_GAP_MS && events.length === 0;
    const openedAt = this.#openedAt;
    this.#opened();
    this.#openedAt = openedAt ?? this.#now;
    for (const value of events) this.#frame(frame(value));
    for (const { match, since } of readLastEventId(lastEventId)) {
      const sub = this.#subs.get(match);
      if (!sub || since === null) continue;
      if (sub.cursor === null) this.#move(match, sub, since);
      if (!sub.paused && sub.state !== 'refused') this.#state(match, sub, 'live', '');
    }
    this.#ways.through();
    this.#wakeAt = this.#now + (quick ? limits.POLL_GAP_MS : 0);
  }

  #state(match: string, sub: Sub, state: State, detail: string): void {
    if (sub.state === state && sub.detail === detail) return;
    sub.state = state;
    sub.detail = detail;
    this.#tell({ type: 'state', match, state, detail });
  }

  #tell(update: Update): void {
    this.#effects.push({ do: 'tell', update });
  }
}
