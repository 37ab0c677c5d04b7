/** What was watched on this device last, to go on with. Kept here only, and forgotten at logging out. */

export interface Watched {
  readonly match: string;
  /** Where the picture was, venue time, UTC ms; null: at the live edge. */
  readonly venueMs: number | null;
  /** When it was watched last, UTC ms. */
  readonly atMs: number;
}

const KEY = 'pavilion-watched';

/** More do not fit on a phone's home page. */
const KEPT_MAX = 12;

/** What was left so long ago is not gone on with, ms: a week. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** The newest first, one for each match. */
export function withWatched(all: readonly Watched[], one: Watched): Watched[] {
  return [one, ...all.filter((w) => w.match !== one.match)].slice(0, KEPT_MAX);
}

/** Whatever stands there, read with care. */
export function readWatched(stored: string | null, nowMs: number): Watched[] {
  try {
    const all: unknown = JSON.parse(stored ?? '[]');
    if (!Array.isArray(all)) return [];
    return all.filter((w): w is Watched => isWatched(w) && nowMs - w.atMs < KEPT_MS).slice(0, KEPT_MAX);
  } catch {
    return [];
  }
}

export function watched(): Watched[] {
  try {
    return readWatched(localStorage.getItem(KEY), Date.now());
  } catch {
    return [];
  }
}

export function keepWatched(one: Watched): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(withWatched(watched(), one)));
  } catch {
    // Storage is forbidden: nothing is gone on with.
  }
}

export function forgetWatched(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There was nothing.
  }
}

function isWatched(value: unknown): boolean {
  const w = value as Partial<Watched> | null;
  const place = w?.venueMs === null || Number.isFinite(w?.venueMs);
  return typeof w?.match === 'string' && Number.isFinite(w.atMs) && place;
}
