/** To the feed and back: the one-time code, the queue, and what is kept on this phone. */

import { type Backoff, nextWaitMs, retryAfterMs } from '../net/backoff';
import { fields, list, number, string } from '../scores/wire';
import {
  type Answer,
  answered,
  batch,
  EMPTY,
  failed,
  gone,
  type Known,
  type Outbox,
  push,
  reconcile,
} from './outbox';
import { empty, restore, type State, type Statement } from './state';

/** A scorer looks at the phone every few seconds; a ground's network comes and goes. */
const RESEND: Backoff = { baseMs: 1_000, capMs: 15_000 };

const TIMEOUT_MS = 10_000;

/** How the way to the feed is. */
export type Line = 'closed' | 'sending' | 'sent' | 'offline' | 'refused';

export interface FeedEvents {
  line(line: Line): void;
  /** Another phone has gone on: this is what stands now. */
  restored(state: State): void;
}

interface Kept {
  state: State;
  outbox: Outbox;
  token: string;
  feed: string;
}

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem'>;

export class Feed {
  readonly #base: () => Promise<string>;
  readonly #storage: Storage;
  readonly #key: string;
  readonly #events: FeedEvents;
  readonly #life = new AbortController();
  readonly #kept: Kept;
  #busy = false;
  #waitMs = RESEND.baseMs;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether what the feed knows was asked for since the page was opened. */
  #joined = false;

  /** @param base where feeds are taken. */
  constructor(match: string, base: () => Promise<string>, storage: Storage, events: FeedEvents) {
    this.#base = base;
    this.#storage = storage;
    this.#key = `pavilion.scorer.${match}`;
    this.#events = events;
    this.#kept = read(storage, this.#key) ?? {
      state: empty(match),
      outbox: EMPTY,
      token: '',
      feed: `scorer-${match}`,
    };
    const { signal } = this.#life;
    addEventListener('online', () => this.#soon(0), { signal });
    if (this.#kept.token !== '') this.#soon(0);
  }

  get state(): State {
    return this.#kept.state;
  }

  get outbox(): Outbox {
    return this.#kept.outbox;
  }

  /** Whether a code was accepted on this phone. */
  get open(): boolean {
    return this.#kept.token !== '';
  }

  close(): void {
    this.#life.abort();
    clearTimeout(this.#timer);
  }

  /** Everything is on the phone before anything is on the way. */
  keep(state: State, statements: readonly Statement[]): void {
    this.#kept.state = state;
    this.#kept.outbox = push(this.#kept.outbox, statements);
    this.#save();
    if (statements.length > 0) this.#soon(0);
  }

  /** Trades the one-time code for a token. Rejects with a sentence for the scorer. */
  async unlock(code: string): Promise<void> {
    const answer = await this.#ask('/v1/feeds/scorer/open', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ match: this.#kept.state.match, code }),
    });
    if (answer.status === 429) throw new Error('Too many tries. Wait a minute, then try again.');
    if (!answer.ok) throw new Error('This code is not right, or was used before. Ask for another one.');
    const body = fields(await answer.json());
    const token = string(body?.token);
    if (token === null) throw new Error('The server answered something else. Try again.');
    this.#kept.token = token;
    this.#kept.feed = string(body?.feed) ?? this.#kept.feed;
    this.#save();
    this.#soon(0);
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#flush(), ms);
  }

  async #flush(): Promise<void> {
    if (this.#busy || this.#kept.token === '' || this.#life.signal.aborted) return;
    this.#busy = true;
    try {
      if (!this.#joined) await this.#join();
      await this.#send();
      if (this.#kept.outbox.lines.length === 0) this.#waitMs = RESEND.baseMs;
    } catch (error) {
      if (!this.#life.signal.aborted) this.#later(error);
    } finally {
      this.#busy = false;
    }
  }

  #later(error: unknown): void {
    this.#kept.outbox = failed(this.#kept.outbox);
    if (error instanceof Refused) {
      this.#kept.token = '';
      this.#save();
      this.#events.line('refused');
      return;
    }
    this.#events.line('offline');
    this.#waitMs = nextWaitMs(this.#waitMs, RESEND, Math.random);
    const asked = error instanceof Busy ? error.waitMs : 0;
    this.#soon(Math.max(this.#waitMs, asked));
  }

  /** What the feed knows: of this phone before it lost its memory, or of another one. */
  async #join(): Promise<void> {
    const match = encodeURIComponent(this.#kept.state.match);
    const body = fields(await this.#json(`/v1/feeds/scorer/state?match=${match}`, {}));
    const known = readKnown(body);
    this.#joined = true;
    const foreign = known.next > this.#kept.outbox.next;
    this.#kept.outbox = reconcile(this.#kept.outbox, known);
    if (foreign) {
      const waiting = this.#kept.outbox.lines;
      this.#kept.state = restore(this.#kept.state, [...known.statements, ...waiting]);
      this.#events.restored(this.#kept.state);
    }
    this.#save();
  }

  async #send(): Promise<void> {
    for (;;) {
      const lines = batch(this.#kept.outbox);
      const lost = gone(this.#kept.outbox);
      if (lines.length === 0 && lost.length === 0) break;
      const said = [...lines, ...(lost.length > 0 ? [{ gone: lost }] : [])];
      this.#events.line('sending');
      const body = fields(
        await this.#json(`/v1/feeds/${encodeURIComponent(this.#kept.feed)}`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson' },
          body: said.map((line) => `${JSON.stringify(line)}\n`).join(''),
        }),
      );
      const before = this.#kept.outbox;
      this.#kept.outbox = answered(before, lines, readAnswer(body));
      this.#save();
      // A feed that keeps missing what it was sent is not helped by haste.
      const { acked, sent } = this.#kept.outbox;
      const more = batch(this.#kept.outbox).length + gone(this.#kept.outbox).length > 0;
      if (more && acked === before.acked && sent === before.sent) throw new Busy(RESEND.baseMs);
    }
    if (this.#kept.outbox.lines.length === 0) {
      this.#events.line('sent');
      return;
    }
    // Sent, not missed, and not acknowledged: it may have been lost with whoever had it.
    this.#kept.outbox = failed(this.#kept.outbox);
    this.#waitMs = nextWaitMs(this.#waitMs, RESEND, Math.random);
    this.#soon(this.#waitMs);
  }

  async #json(path: string, init: RequestInit): Promise<unknown> {
    const headers = { ...init.headers, authorization: `Bearer ${this.#kept.token}` };
    const answer = await this.#ask(path, { ...init, headers });
    if (answer.ok) return (await answer.json()) as unknown;
    await answer.body?.cancel();
    if (answer.status === 401 || answer.status === 403) throw new Refused('the token is not taken any more');
    throw new Busy(retryAfterMs(answer.headers.get('retry-after'), Date.now()) ?? 0);
  }

  async #ask(path: string, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.any([this.#life.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    return fetch(new URL(path, await this.#base()), { ...init, signal });
  }

  #save(): void {
    try {
      this.#storage.setItem(this.#key, JSON.stringify(this.#kept));
    } catch {
      // Full or forbidden: it is still in memory, and goes to the feed.
    }
  }
}

class Refused extends Error {}

class Busy extends Error {
  constructor(readonly waitMs: number) {
    super('later');
  }
}

function read(storage: Storage, key: string): Kept | null {
  try {
    const kept = JSON.parse(storage.getItem(key) ?? 'null') as Kept | null;
    return kept && Array.isArray(kept.state.entries) && Array.isArray(kept.outbox.lines) ? kept : null;
  } catch {
    return null;
  }
}

function readAnswer(body: Record<string, unknown> | null): Answer {
  const acked = number(body?.acked);
  if (acked === null) throw new TypeError('no answer of a feed');
  return {
    acked,
    missing: ranges(body?.missing),
    rejected: list(body?.rejected).flatMap((r) => {
      const o = fields(r);
      const seq = number(o?.seq);
      return seq === null ? [] : [{ seq, why: string(o?.why) ?? '' }];
    }),
  };
}

function readKnown(body: Record<string, unknown> | null): Known {
  const acked = number(body?.acked);
  if (acked === null) throw new TypeError('no state of a feed');
  return {
    acked,
    next: number(body?.next_seq) ?? acked + 1,
    missing: ranges(body?.missing),
    statements: list(body?.statements).flatMap((s) => {
      const o = fields(s);
      const inner = fields(o?.body);
      const id = number(o?.event_id) ?? placeId(inner);
      if (!o || !inner || id === null) return [];
      return [{ ...o, event_id: id, revision: number(o.revision) ?? 1 } as unknown as Statement];
    }),
  };
}

function ranges(value: unknown): [number, number][] {
  return list(value).flatMap((pair) => {
    const [a, b] = list(pair).map(number);
    return a != null && b != null ? [[a, b] as [number, number]] : [];
  });
}

/** The id that a body's own place gives. */
function placeId(body: Record<string, unknown> | null): number | null {
  const at = fields(body?.at);
  const parts = [at?.innings, at?.over, at?.ball, at?.slot].map(number);
  if (parts.some((p) => p === null)) return number(body?.event_id);
  return parts.reduce<number>((id, part) => id * 1_000 + (part ?? 0), 0);
}
