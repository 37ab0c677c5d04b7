import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agrees, type Card, carryOn, isFootball, readAnswer } from '../src/scores/card';
import { type FootballCard, readCard } from '../src/scores/football/card';
import { headline, type ScoreEvent } from '../src/scores/wire';
import { minute, phase, sections } from '../src/ui/score/football';
import { event } from './support';

/** The shipped match, and the server's own card and headline (`scores::Book`) after each happening. */
const MATCH = JSON.parse(readFileSync(new URL('./football-cards.json', import.meta.url), 'utf8')) as {
  readonly body: ScoreEvent['body'];
  readonly revision: number;
  readonly card: unknown;
  readonly score: unknown;
}[];

const card = (value: unknown): FootballCard => {
  const { card } = readAnswer({ card: value });
  if (!card || !isFootball(card)) throw new TypeError('no card of football');
  return card;
};

test('carried on by each happening, the card is the server’s', () => {
  expect(MATCH.length).toBeGreaterThan(10);
  let carried = 0;
  for (const [i, { body, revision, card: after, score }] of MATCH.entries()) {
    const before = MATCH[i - 1];
    if (!before) continue;
    const server = card(after);
    const beyond = [event(1, revision, 'a-1', { body })];
    const ours = carryOn(card(before.card), beyond) as Card;
    // What takes a goal back, and who won, is the server's to say: then ours is not shown.
    const known = revision === 1 && server.result === null;
    expect(agrees(ours, headline(score)), `after ${i}`).toBe(known);
    expect(agrees(server, headline(score))).toBe(true);
    if (known) expect(ours, `after ${i}`).toEqual(server);
    if (known) carried += 1;
  }
  expect(carried).toBeGreaterThan(8);
});

test('a card that is not football’s is none, and what is missing in one is empty', () => {
  for (const rubbish of [null, 7, [], {}, { sport: 'chess' }]) expect(readCard(rubbish)).toBeNull();
  const odd = readCard({ sport: 'football', goals: [null, { side: 'left' }], home: 3 });
  expect(odd).toMatchObject({
    home: { name: '', goals: 0 },
    goals: [{ side: 'home', clock: '' }],
    cards: [],
  });
  expect(sections(odd as FootballCard)).toHaveLength(1);
});

test('the match is drawn as it went', () => {
  const last = card(MATCH.at(-1)?.card);
  expect(phase(last)).toBe('Draw, 2 – 2');
  const drawn = sections(last).map(([heading, rows]) => [
    heading,
    rows.map(({ minute, what, struck }) => `${minute} ${what}${struck ? ' ✗' : ''}`),
  ]);
  expect(drawn).toEqual([
    ['Goals', GOALS],
    ['Cards', ["13' J Corrin, yellow", "68' P Ellery, red"]],
    ['Substitutions', ["60' L Bastow for J Corrin"]],
  ]);
  expect(phase({ ...last, result: null, period: 'half_time' })).toBe('Half-time');
  expect(phase({ ...last, result: null, period: null })).toBe('');
});

const GOALS = [
  "24' A Delaney",
  "36' No goal: var offside ✗",
  "45+2' T Rask (penalty)",
  "79' T Rask",
  "90+3' A Delaney",
];

test('a shoot-out is counted', () => {
  const kick = (side: string, nth: number, scored: boolean): ScoreEvent =>
    event(nth, 1, 'a-1', {
      body: {
        sport: 'football',
        which: { side, nth },
        clock: '120:00',
        kind: 'shootout_kick',
        player: 'P',
        scored,
      },
    });
  const start = card({ sport: 'football', home: { name: 'A', goals: 1 }, away: { name: 'B', goals: 1 } });
  const after = carryOn(start, [kick('home', 1, true), kick('away', 1, false)]) as FootballCard;
  expect([after.home.shootout, after.away.shootout]).toEqual([1, 0]);
  expect(sections(after)[0]?.[1].map((row) => row.what)).toEqual(['P scores', 'P misses']);
  expect(start.shootout, 'the card that was given stays as it is').toEqual([]);
});

test('a clock is told in minutes, as people count them', () => {
  expect(['0:00', '23:10', '45:00+1:40', '90:00+10:00', '', 'x'].map(minute)).toEqual([
    "1'",
    "24'",
    "45+2'",
    "90+11'",
    '',
    '',
  ]);
});
