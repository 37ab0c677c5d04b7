/**
 * A place in a match's log, as text: `{epoch in hex}-{offset}`. Other clients may treat it as opaque; this one reads
 * it, because it must know what came after what. Pure.
 */

export interface Cursor {
  /** Which log: a new one begins with a new epoch. */
  readonly epoch: string;
  readonly offset: number;
}

/** Null when it is none. */
export function parse(text: string | null | undefined): Cursor | null {
  const found = /^([0-9a-f]{1,16})-(\d{1,15})$/.exec(text ?? '');
  return found ? { epoch: found[1] ?? '', offset: Number(found[2]) } : null;
}

/**
 * Whether `a` stands after `b` in the same log. False when they cannot be compared: an offset without its epoch
 * says nothing.
 */
export function isAfter(a: string | null | undefined, b: string | null | undefined): boolean {
  const [x, y] = [parse(a), parse(b)];
  return x !== null && y !== null && x.epoch === y.epoch && x.offset > y.offset;
}

/** Whether they are known to be of two logs. */
export function otherLog(a: string | null | undefined, b: string | null | undefined): boolean {
  const [x, y] = [parse(a), parse(b)];
  return x !== null && y !== null && x.epoch !== y.epoch;
}
