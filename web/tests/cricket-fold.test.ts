import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Happening } from '../src/scores/cricket/body';
import { type Card, readCard } from '../src/scores/cricket/card';
import { carryOn, emptyCard } from '../src/scores/cricket/fold';

interface Stated {
  readonly event_id: number;
  readonly revision: number;
  readonly venue_ms: number;
  readonly body: Happening;
}

/** The shipped match, and the server's own card (`scores::Book::card`) at some moments of it. */
const DEMO = JSON.parse(readFileSync(new URL('./demo-cards.json', import.meta.url), 'utf8')) as {
  readonly events: readonly Stated[];
  readonly cards: readonly { readonly at: number; readonly card: unknown }[];
};

/** Of each happening the highest revision in a span of venue time, in the order of the field. */
function between(from: number, to: number): Stated[] {
  const best = new Map<number, Stated>();
  for (const e of DEMO.events) {
    if (e.venue_ms <= from || e.venue_ms > to) continue;
    if ((best.get(e.event_id)?.revision ?? 0) < e.revision) best.set(e.event_id, e);
  }
  return [...best.values()].sort((a, b) => a.event_id - b.event_id);
}

function bodies(events: readonly Stated[]): Happening[] {
  return events.map((e) => e.body).filter((b) => b.sport === 'cricket');
}

/** Without what only we keep. */
function plain(card: Card): Card {
  const { owed: _, ...rest } = card;
  return rest;
}

test('folded from the beginning, the card is the server’s at every moment', () => {
  expect(DEMO.cards.length).toBeGreaterThan(5);
  for (const { at, card } of DEMO.cards) {
    const ours = carryOn(emptyCard(), bodies(between(Number.NEGATIVE_INFINITY, at)), true);
    expect(plain(ours), `at ${at}`).toEqual(readCard(card));
  }
});

test('carried on from the server’s card, it is the server’s next one', () => {
  let carried = 0;
  for (const [i, { at, card }] of DEMO.cards.entries()) {
    const next = DEMO.cards[i + 1];
    const base = readCard(card);
    if (!next || !base) continue;
    const beyond = between(at, next.at);
    // What corrects something that is in the card already is not carried on: then a new card is fetched.
    const known = new Set(between(Number.NEGATIVE_INFINITY, at).map((e) => e.event_id));
    if (beyond.some((e) => known.has(e.event_id))) continue;
    carried += 1;
    expect(plain(carryOn(base, bodies(beyond), true)), `from ${at}`).toEqual(readCard(next.card));
  }
  expect(carried).toBeGreaterThan(3);
});

test('what is not a card is none, and what is missing in one is empty', () => {
  for (const rubbish of [null, 7, 'card', [], {}, { sport: 'chess' }]) expect(readCard(rubbish)).toBeNull();
  expect(readCard({ sport: 'cricket' })).toEqual({ ...emptyCard(), innings: [] });
  const odd = readCard({ sport: 'cricket', innings: [null, { runs: -3, batters: 'x', over: [1, '4'] }] });
  expect(odd?.innings[1]).toMatchObject({ runs: 0, batters: [], over: ['4'], overs: '0.0' });
});
