import { expect, test } from 'vitest';
import { readFeeds, readLetters, readOverview, readScorers } from '../src/console/api';
import { waitAfter } from '../src/console/poll';
import { gaps, punctual, scorerUrl, start, visible } from '../src/console/words';

const provider = {
  provider: 'push',
  connections: 1,
  contiguous: 11,
  newest: 40,
  gaps: 2,
  missing: [
    [12, 14],
    [20, 20],
  ],
  waiting: 0,
  silent_ms: 1_200,
  age_ms: null,
  matches: [{ match_id: 'demo', silent_ms: 1_200, age_ms: 800 }],
};
const match = {
  match_id: 'demo',
  title: 'Demo match',
  status: 'live',
  happenings: 3,
  age_ms: 4_000,
  cadence_ms: 40_000,
  delayed: false,
};

test('feeds are read, and what is not what was promised is refused', () => {
  const read = readFeeds({ providers: [provider], matches: [match] });
  expect(read.providers[0]?.matches[0]).toEqual({ match: 'demo', silentMs: 1_200, ageMs: 800 });
  expect(read.matches[0]?.cadenceMs).toBe(40_000);
  for (const wrong of [
    null,
    {},
    { providers: [], matches: {} },
    { providers: [{ ...provider, missing: [[1]] }], matches: [] },
    { providers: [], matches: [{ ...match, status: 'rained off' }] },
    { providers: [], matches: [{ ...match, happenings: -1 }] },
  ]) {
    expect(() => readFeeds(wrong)).toThrow(TypeError);
  }
  expect(() =>
    readOverview({ roles: [{ name: 'x', at: 'y', state: 'fine', said: '', ms: 1 }], app: null }),
  ).toThrow();
  expect(() => readLetters({ dead_letters: [{ offset: 1 }], before: null })).toThrow();
  expect(() => readScorers({ scorers: [{ id: 'x', match: 'y', state: 'used' }], more: 0 })).toThrow();
});

test('gaps are told by their numbers, and not all of many', () => {
  const [one] = readFeeds({ providers: [provider], matches: [] }).providers;
  if (!one) throw new Error('none');
  expect(gaps(one)).toBe('2: 12–14, 20');
  expect(gaps({ ...one, gaps: 0, missing: [] })).toBe('none');
  const missing = Array.from({ length: 9 }, (_, n): [number, number] => [n * 2, n * 2]);
  expect(gaps({ ...one, gaps: 9, missing })).toBe('9: 0, 2, 4, 6, 8 …');
});

test('a late feed is bad, a silent one is not good', () => {
  const [one] = readFeeds({ providers: [], matches: [match] }).matches;
  if (!one) throw new Error('none');
  expect(punctual(one).tone).toBe('good');
  expect(punctual({ ...one, delayed: true }).tone).toBe('bad');
  expect(punctual({ ...one, ageMs: null }).tone).toBe('plain');
});

test('what came cannot be made to look like something else', () => {
  expect(visible('{"a":1}\n\tend')).toBe('{"a":1}\n\tend');
  expect(visible('\u202egnp.exe\u0000\u001b[2J')).toBe('\\u202egnp.exe\\u0000\\u001b[2J');
  expect(visible('हिन्दी 🏏')).toBe('हिन्दी 🏏');
  expect(start('x'.repeat(240))).toBeNull();
  expect(start('x'.repeat(241))).toBe(`${'x'.repeat(240)}…`);
});

test('the wait is bounded and never the same for all', () => {
  for (const random of [() => 0, () => 0.5, () => 0.999]) {
    expect(waitAfter(true, 20_000, random)).toBeGreaterThanOrEqual(4_000);
    expect(waitAfter(true, 20_000, random)).toBeLessThanOrEqual(6_000);
    let wait = 2_000;
    for (let n = 0; n < 50; n += 1) wait = waitAfter(false, wait, random);
    expect(wait).toBeGreaterThanOrEqual(2_000);
    expect(wait).toBeLessThanOrEqual(20_000);
  }
  expect(waitAfter(true, 0, () => 0)).not.toBe(waitAfter(true, 0, () => 1));
});

test('the scorer’s address is of the app', () => {
  expect(scorerUrl('https://watch.example', 'club')).toBe('https://watch.example/score/club');
  expect(scorerUrl(null, 'a b')).toBe('/score/a%20b');
});
