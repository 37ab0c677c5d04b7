/** The client: the {@link Core} with sockets, timers and storage around it. No DOM. */

import type { Backoff } from '../net/backoff';
import { localMs } from '../net/clock';
import { Core, type Effect, type Input, type State, type Update } from './core';
import { type CursorStore, MemoryStore } from './store';
import { type Connection, connect } from './transport';
import { snapshot as readSnapshot, type Snapshot } from './wire';

export interface Options {
  /** `wss://host:port/v1/stream`; http and https will do. */
  readonly stream: string;
  /** `https://host:port`, for snapshots. */
  readonly base: string;
  /**
   * A token, asked for before the first connection and again (`fresh`) before or after the last one expires. An empty
   * text: none is needed. It may throw or reject; it is then asked again after a while.
   */
  token(fresh: boolean): string | Promise<string>;
  /** Makes our own bounds between connections more patient, if the page is advised to be. */
  readonly patience?: (own: Backoff) => Backoff;
  /** Where cursors are kept; in memory unless given. */
  readonly store?: CursorStore & { flush?(): void };
}

export type Listener = (update: Update) => void;

/** A snapshot is small, and the role answers in 30 ms. */
const SNAPSHOT_TIMEOUT_MS = 8_000;

/** `setTimeout` counts in 32 bits. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export class ScoresClient {
  readonly #options: Options;
  readonly #store: CursorStore & { flush?(): void };
  readonly #core: Core;
  readonly #listeners = new Map<string, Listener>();
  readonly #life = new AbortController();
  #connection: Connection | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #token = '';
  readonly #inputs: Input[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#store = options.store ?? new MemoryStore();
    this.#core = new Core(Math.random, (match) => this.#store.get(match), options.patience);
    if (typeof addEventListener !== 'function') return;
    const { signal } = this.#life;
    addEventListener('online', () => this.#input({ on: 'online' }), { signal });
    addEventListener('pagehide', () => this.#store.flush?.(), { signal });
  }

  /**
   * Tells `listener` of every happening of a match after `since` (a cursor); without it, after what was kept of an
   * earlier visit, or from now on. One listener a match: another call replaces the first. Returns how to end it.
   */
  subscribe(match: string, listener: Listener, since: string | null = null): () => void {
    this.#listeners.set(match, listener);
    this.#input({ on: 'subscribe', match, since });
    return () => {
      if (this.#listeners.get(match) !== listener) return;
      this.#listeners.delete(match);
      this.#input({ on: 'unsubscribe', match });
    };
  }

  /** After what of a match everything was given out. */
  cursor(match: string): string | null {
    return this.#core.cursor(match);
  }

  /** For the curious: the transport in use, and frames that could not be read. */
  get health(): { readonly transport: string; readonly phase: string; readonly rubbish: number } {
    return { transport: this.#core.transport, phase: this.#core.phase, rubbish: this.#core.rubbish };
  }

  /** The last token that was given. */
  get token(): string {
    return this.#token;
  }

  close(): void {
    this.#life.abort();
    clearTimeout(this.#timer);
    this.#listeners.clear();
    this.#disconnect();
    this.#store.flush?.();
  }

  /** One at a time: a listener may subscribe while it is told something. */
  #input(input: Input): void {
    this.#inputs.push(input);
    if (this.#inputs.length > 1) return;
    for (let next = this.#inputs[0]; next; next = this.#inputs[0]) {
      if (this.#life.signal.aborted) break;
      for (const effect of this.#core.input(next, localMs())) this.#do(effect);
      this.#inputs.shift();
    }
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const at = this.#core.wakeAt;
    if (at === null || this.#life.signal.aborted) return;
    const ms = Math.min(TIMER_MAX_MS, Math.max(0, at - localMs()));
    this.#timer = setTimeout(() => this.#input({ on: 'timer' }), ms);
  }

  #do(effect: Effect): void {
    switch (effect.do) {
      case 'connect':
        this.#connect(effect);
        return;
      case 'disconnect':
        this.#disconnect();
        return;
      case 'send':
        this.#connection?.send(effect.text);
        return;
      case 'keep':
        this.#store.set(effect.match, effect.cursor);
        return;
      case 'token':
        void this.#askToken(effect.fresh);
        return;
      case 'snapshot':
        void this.#askSnapshot(effect.match, effect.url);
        return;
      case 'tell':
        this.#tell(effect.update);
        return;
    }
  }

  #connect({ transport, token, wanted }: Extract<Effect, { do: 'connect' }>): void {
    this.#disconnect();
    const connection = connect(transport, { stream: this.#options.stream, token, wanted }, (input) => {
      // What an earlier connection still says is of no interest.
      if (this.#connection === connection) this.#input(input);
    });
    this.#connection = connection;
  }

  #disconnect(): void {
    const before = this.#connection;
    this.#connection = null;
    before?.close();
  }

  #tell(update: Update): void {
    const match = update.type === 'event' ? update.event.match_id : update.match;
    try {
      this.#listeners.get(match)?.(update);
    } catch (error) {
      // A listener's fault is not the stream's: it is reported as uncaught, and the stream goes on.
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  async #askToken(fresh: boolean): Promise<void> {
    try {
      this.#token = await this.#options.token(fresh);
      this.#input({ on: 'token', token: this.#token });
    } catch {
      this.#input({ on: 'token', token: null });
    }
  }

  async #askSnapshot(match: string, url: string | null): Promise<void> {
    let snapshot: Snapshot | null = null;
    try {
      const path = url ?? `/v1/matches/${encodeURIComponent(match)}/snapshot`;
      const at = new URL(path, this.#options.base);
      // A token goes to its own server only, whatever a frame says.
      if (at.origin !== new URL(this.#options.base).origin) throw new TypeError('a snapshot elsewhere');
      const answer = await fetch(at, {
        headers: this.#token === '' ? {} : { authorization: `Bearer ${this.#token}` },
        signal: AbortSignal.any([this.#life.signal, AbortSignal.timeout(SNAPSHOT_TIMEOUT_MS)]),
        // The browser's copy may be the one that was too old.
        cache: 'no-cache',
      });
      if (answer.ok)
        snapshot = readSnapshot(await answer.json(), answer.headers.get('x-snapshot-stale') === 'true');
    } catch {
      // Asked for again by the core.
    }
    this.#input({ on: 'snapshot', match, snapshot });
  }
}

export type { State, Update };
