/**
 * Statements on their way to the feed: numbered, kept until they are acknowledged, sent again when the feed says that
 * they are missing. Pure.
 */

import type { Statement } from './state';

export interface Line extends Statement {
  /** This feed's own number, from 1 without a hole. */
  readonly seq: number;
}

export interface Outbox {
  /** Of the next statement. */
  readonly next: number;
  /** Up to here the feed has everything for good. */
  readonly acked: number;
  /** What is not acknowledged, in order. */
  readonly lines: readonly Line[];
  /** Sent, and not yet acknowledged, up to here; less than `next - 1` when there is something new. */
  readonly sent: number;
  /** What the feed said it misses. */
  readonly missing: readonly (readonly [number, number])[];
  /** What the feed would not take, and why: shown to the scorer. */
  readonly rejected: readonly { readonly seq: number; readonly why: string }[];
}

export interface Answer {
  readonly acked: number;
  readonly missing: readonly (readonly [number, number])[];
  readonly rejected: readonly { readonly seq: number; readonly why: string }[];
}

/** Lines in one request: some 15 KB, which a bad network carries in a second or two. */
export const BATCH_MAX = 50;

/** Rejections that are kept for reading. */
const REJECTED_MAX = 20;

export const EMPTY: Outbox = { next: 1, acked: 0, lines: [], sent: 0, missing: [], rejected: [] };

export function push(outbox: Outbox, statements: readonly Statement[]): Outbox {
  const lines = statements.map((s, i) => ({ seq: outbox.next + i, ...s }));
  return { ...outbox, next: outbox.next + lines.length, lines: [...outbox.lines, ...lines] };
}

/** What is to be sent now: first what is missing, then what is new. Empty: nothing. */
export function batch(outbox: Outbox): Line[] {
  const lost = outbox.lines.filter((l) => outbox.missing.some(([a, b]) => l.seq >= a && l.seq <= b));
  const fresh = outbox.lines.filter((l) => l.seq > outbox.sent && !lost.includes(l));
  return [...lost, ...fresh].slice(0, BATCH_MAX);
}

/** Numbers that the feed misses and that are not here any more: acknowledged long ago, or another phone's. */
export function gone(outbox: Outbox): [number, number][] {
  const held = new Set(outbox.lines.map((l) => l.seq));
  const ranges: [number, number][] = [];
  for (const [a, b] of outbox.missing) {
    for (let n = a; n <= Math.min(b, outbox.next - 1); n += 1) {
      const last = ranges.at(-1);
      if (held.has(n)) continue;
      if (last && last[1] === n - 1) last[1] = n;
      else ranges.push([n, n]);
    }
  }
  return ranges;
}

/** The feed has answered to a batch. */
export function answered(outbox: Outbox, batch: readonly Line[], answer: Answer): Outbox {
  const acked = Math.max(outbox.acked, answer.acked);
  const sent = batch.reduce((most, l) => Math.max(most, l.seq), Math.max(outbox.sent, acked));
  return {
    ...outbox,
    acked,
    sent,
    lines: outbox.lines.filter((l) => l.seq > acked),
    missing: answer.missing,
    rejected: [...outbox.rejected, ...answer.rejected].slice(-REJECTED_MAX),
  };
}

/** There was no answer: whether the feed has it is not known, so all of it goes again. */
export function failed(outbox: Outbox): Outbox {
  return { ...outbox, sent: outbox.acked };
}

/** What the feed knows, when the page is opened. */
export interface Known {
  readonly acked: number;
  readonly next: number;
  readonly missing: readonly (readonly [number, number])[];
  readonly statements: readonly Statement[];
}

/**
 * Joins what waits here with what the feed knows. If another phone has gone on meanwhile, what waits here gets new
 * numbers behind it, and revisions above its.
 */
export function reconcile(outbox: Outbox, known: Known): Outbox {
  const base = { ...outbox, acked: known.acked, sent: known.acked, missing: known.missing };
  if (known.next <= outbox.next) return { ...base, lines: outbox.lines.filter((l) => l.seq > known.acked) };
  const theirs = new Map(known.statements.map((s) => [s.event_id, s]));
  const ours = outbox.lines.filter((l) => {
    const their = theirs.get(l.event_id);
    return !their || their.revision < l.revision || JSON.stringify(their.body) !== JSON.stringify(l.body);
  });
  const revisions = new Map([...theirs].map(([id, s]) => [id, s.revision]));
  let next = known.next;
  const lines = ours.map((l) => {
    const revision = Math.max(l.revision, (revisions.get(l.event_id) ?? 0) + 1);
    revisions.set(l.event_id, revision);
    next += 1;
    return { ...l, seq: next - 1, revision };
  });
  return { ...base, next, lines };
}
