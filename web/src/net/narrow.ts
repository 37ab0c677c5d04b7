/** What came from outside, made certain: each throws when it is not what was promised. */

export function array(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value as unknown[];
}

export function object(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object');
  return value as Record<string, unknown>;
}

export function text(from: Record<string, unknown>, key: string): string {
  const value = from[key];
  if (typeof value !== 'string') throw new TypeError(`${key} is not a text`);
  return value;
}

export function positive(from: Record<string, unknown>, key: string): number {
  const value = from[key];
  if (typeof value !== 'number' || !(value > 0)) throw new TypeError(`${key} is not a positive number`);
  return value;
}

/** A count, a time or a length: finite, not below 0. */
export function count(from: Record<string, unknown>, key: string): number {
  const value = from[key];
  if (typeof value !== 'number' || !(value >= 0) || !Number.isFinite(value))
    throw new TypeError(`${key} is not a count`);
  return value;
}

/** A number, or null where there is none. */
export function numberOrNull(from: Record<string, unknown>, key: string): number | null {
  const value = from[key] ?? null;
  if (value !== null && (typeof value !== 'number' || !Number.isFinite(value)))
    throw new TypeError(`${key} is not a number`);
  return value;
}

/** One of these words. */
export function word<T extends string>(from: Record<string, unknown>, key: string, words: readonly T[]): T {
  const found = words.find((w) => w === from[key]);
  if (found === undefined) throw new TypeError(`${key} is none of ${words.join(', ')}`);
  return found;
}
