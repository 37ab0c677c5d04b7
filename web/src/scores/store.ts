/** Where cursors are kept between visits. */

/** Kept per match; `null` forgets. Never throws. */
export interface CursorStore {
  get(match: string): string | null;
  set(match: string, cursor: string | null): void;
}

/** For pages without storage, and for tests. */
export class MemoryStore implements CursorStore {
  readonly #cursors = new Map<string, string>();

  get(match: string): string | null {
    return this.#cursors.get(match) ?? null;
  }

  set(match: string, cursor: string | null): void {
    if (cursor === null) this.#cursors.delete(match);
    else this.#cursors.set(match, cursor);
  }
}

/** A season's weekend of matches; the ones not heard of for longest go first. */
export const MATCHES_KEPT = 50;

/** A ball comes every half minute, but a replay comes at once: written at most this often, ms. */
const WRITE_EVERY_MS = 250;

/** What it needs of `localStorage`. */
export type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem'>;

/** In `localStorage`, under one key, so that it is bounded and read at once. */
export class LocalStore implements CursorStore {
  readonly #storage: Storage;
  readonly #key: string;
  #cursors: Map<string, string>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(storage: Storage, key = 'pavilion.scores.cursors') {
    this.#storage = storage;
    this.#key = key;
    this.#cursors = read(storage, key);
  }

  get(match: string): string | null {
    return this.#cursors.get(match) ?? null;
  }

  set(match: string, cursor: string | null): void {
    // Taken out and put back: a Map keeps its order of insertion, so the oldest stands first.
    this.#cursors.delete(match);
    if (cursor !== null) this.#cursors.set(match, cursor);
    while (this.#cursors.size > MATCHES_KEPT) {
      const oldest = this.#cursors.keys().next().value;
      if (oldest === undefined) break;
      this.#cursors.delete(oldest);
    }
    this.#timer ??= setTimeout(() => this.flush(), WRITE_EVERY_MS);
  }

  /** Writes now; the client does it when the page is hidden. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#storage.setItem(this.#key, JSON.stringify([...this.#cursors]));
    } catch {
      // Full, or forbidden: the next visit begins with a snapshot.
    }
  }
}

function read(storage: Storage, key: string): Map<string, string> {
  try {
    const value: unknown = JSON.parse(storage.getItem(key) ?? '[]');
    if (!Array.isArray(value)) return new Map();
    const pairs = value.filter(
      (p): p is [string, string] =>
        Array.isArray(p) && p.length === 2 && typeof p[0] === 'string' && typeof p[1] === 'string',
    );
    return new Map(pairs.slice(-MATCHES_KEPT));
  } catch {
    return new Map();
  }
}
