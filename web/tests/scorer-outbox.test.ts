import { describe, expect, test } from 'vitest';
import {
  type Answer,
  answered,
  BATCH_MAX,
  batch,
  EMPTY,
  failed,
  gone,
  type Line,
  type Outbox,
  push,
  reconcile,
} from '../src/scorer/outbox';
import type { Statement } from '../src/scorer/state';
import { LIMIT_MS, numbers } from './support';

function statement(event_id: number, revision = 1, reason = 'r'): Statement {
  const body = { sport: 'withdrawn' as const, event_id, reason };
  return { match: 'm', at: '2026-11-30T09:00:00.000Z', revision, event_id, body };
}

const ack = (acked: number, more: Partial<Answer> = {}): Answer => ({
  acked,
  missing: [],
  rejected: [],
  ...more,
});
const seqs = (lines: readonly Line[]): number[] => lines.map((l) => l.seq);

describe('the outbox', () => {
  test('numbers, sends what is new once, and forgets what is acknowledged', () => {
    let box = push(EMPTY, [statement(1), statement(2)]);
    expect(seqs(batch(box))).toEqual([1, 2]);
    box = answered(box, batch(box), ack(1));
    expect(seqs(box.lines)).toEqual([2]);
    // Sent, only not acknowledged yet.
    expect(batch(box)).toEqual([]);
    box = push(box, [statement(3)]);
    expect(seqs(batch(box))).toEqual([3]);
    box = answered(box, batch(box), ack(3));
    expect(box.lines).toEqual([]);
  });

  test('sends all again when there was no answer, and first what is missing', () => {
    let box = push(
      EMPTY,
      [1, 2, 3, 4].map((n) => statement(n)),
    );
    box = failed(box);
    expect(seqs(batch(box))).toEqual([1, 2, 3, 4]);
    box = answered(box, batch(box), ack(1, { missing: [[3, 3]] }));
    box = push(box, [statement(5)]);
    expect(seqs(batch(box))).toEqual([3, 5]);
  });

  test('sends no more at once than a bad network carries', () => {
    const box = push(
      EMPTY,
      Array.from({ length: 120 }, (_, n) => statement(n)),
    );
    expect(seqs(batch(box))).toEqual(Array.from({ length: BATCH_MAX }, (_, n) => n + 1));
  });

  test('says what it does not have any more', () => {
    let box = push(
      EMPTY,
      [1, 2, 3, 4, 5].map((n) => statement(n)),
    );
    box = answered(box, batch(box), ack(3));
    // The feed was restarted, and has forgotten how far it was.
    box = answered(box, [], ack(0, { missing: [[1, 4]] }));
    expect(gone(box)).toEqual([[1, 3]]);
    expect(seqs(batch(box))).toEqual([4]);
    expect(gone(EMPTY)).toEqual([]);
  });

  test('keeps what was rejected for the scorer to read', () => {
    const box = push(EMPTY, [statement(1)]);
    const after = answered(box, batch(box), ack(1, { rejected: [{ seq: 1, why: 'no such match' }] }));
    expect(after.rejected).toEqual([{ seq: 1, why: 'no such match' }]);
  });
});

describe('joining what the feed knows', () => {
  test('an answer that was lost is found again', () => {
    const box = push(EMPTY, [statement(1), statement(2), statement(3)]);
    const joined = reconcile(box, { acked: 2, next: 3, missing: [], statements: [] });
    expect(seqs(joined.lines)).toEqual([3]);
    expect(joined.next).toBe(4);
  });

  test('a phone that lost its memory goes on behind what is known', () => {
    const joined = reconcile(EMPTY, { acked: 7, next: 8, missing: [], statements: [statement(1)] });
    expect(push(joined, [statement(9)]).lines[0]?.seq).toBe(8);
  });

  test('what waits here goes behind what another phone stated, above its revisions', () => {
    const box = push(EMPTY, [statement(1), statement(2, 1, 'ours'), statement(2, 2, 'ours'), statement(5)]);
    const theirs = [statement(1), statement(2, 3, 'theirs')];
    const joined = reconcile(box, { acked: 9, next: 10, missing: [], statements: theirs });
    expect(joined.lines.map((l) => [l.seq, l.event_id, l.revision])).toEqual([
      [10, 2, 4],
      [11, 2, 5],
      [12, 5, 1],
    ]);
    expect(joined.next).toBe(13);
  });
});

/** A feed behind a bad network: requests and answers are lost, lines within a request are lost. */
class BadFeed {
  readonly got = new Set<number>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  post(lines: readonly Line[]): Answer | null {
    if (this.#random() < 0.2) return null;
    for (const line of lines) if (this.#random() > 0.1) this.got.add(line.seq);
    const acked = this.acked;
    const most = Math.max(acked, ...this.got);
    const missing: [number, number][] = [];
    for (let n = acked + 1; n < most; n += 1) if (!this.got.has(n)) missing.push([n, n]);
    return this.#random() < 0.2 ? null : { acked, missing, rejected: [] };
  }

  get acked(): number {
    let n = 0;
    while (this.got.has(n + 1)) n += 1;
    return n;
  }
}

test('whatever the network loses, the feed has everything in the end', { timeout: LIMIT_MS }, () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = numbers(seed);
    const feed = new BadFeed(random);
    let box: Outbox = EMPTY;
    let all = 0;
    const exchange = (): void => {
      const lines = batch(box);
      const answer = feed.post(lines);
      box = answer ? answered(box, lines, answer) : failed(box);
    };
    for (let step = 0; step < 100; step += 1) {
      if (random() < 0.5) {
        all += 1;
        box = push(box, [statement(all)]);
      }
      if (random() < 0.6) exchange();
      // The page is loaded again, and asks what is known.
      if (random() < 0.05)
        box = reconcile(JSON.parse(JSON.stringify(box)) as Outbox, {
          acked: feed.acked,
          next: box.next,
          missing: [],
          statements: [],
        });
    }
    for (let n = 0; n < 200 && box.acked < all; n += 1) {
      exchange();
      // The last lines of a request may be lost without leaving a hole: after a while they go again.
      if (batch(box).length === 0 && box.acked < all) box = failed(box);
    }
    expect(box.acked, `seed ${seed}`).toBe(all);
    expect(box.lines).toEqual([]);
  }
});
