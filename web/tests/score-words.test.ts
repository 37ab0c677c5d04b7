import { expect, test } from 'vitest';
import type { Innings } from '../src/scores/cricket/card';
import { emptyCard } from '../src/scores/cricket/fold';
import { ballClass, chase, correction, feed, parts, spokenBall } from '../src/ui/score/words';
import { event } from './support';

test('a headline is taken apart only when it has the usual form', () => {
  const of = (text: string): unknown => parts({ sport: 'cricket', text });
  expect(of('CSK 45/2 (5.3)')).toEqual({ team: 'CSK', score: '45/2', overs: '5.3' });
  expect(of('IND 245 & 45/2 (12.1)')).toEqual({ team: 'IND 245 &', score: '45/2', overs: '12.1' });
  expect(of('MI 5/2 (1.0) SO')).toEqual({ team: 'MI', score: '5/2 SO', overs: '1.0' });
  expect(of('CSK v KKR')).toBeNull();
  expect(of('LIV 1 – 1 ARS')).toBeNull();
});

test('a chase is told with what is needed', () => {
  const innings = {
    target: { runs: 193, overs: '20' },
    runs_needed: 48,
    balls_left: 32,
    required_rate: 9,
    run_rate: 8.1234,
  } as Innings;
  expect(chase(innings, null)).toBe('Need 48 from 32 balls · required 9.00 · run rate 8.12');
  expect(chase({ ...innings, balls_left: 1 }, null)).toContain('from 1 ball ·');
  expect(chase({ ...innings, balls_left: null, required_rate: null }, null)).toBe('Need 48 · run rate 8.12');
  expect(chase({ ...innings, runs_needed: 0 }, null)).toBe('Target reached');
  expect(chase({ ...innings, target: null }, null)).toBe('Run rate 8.12');
  expect(chase(innings, { ...emptyCard(), result: 'CSK won by 27 runs' })).toBe('CSK won by 27 runs');
});

test('a correction says what it corrects', () => {
  const at = { innings: 1, over: 5, ball: 3, slot: 0 };
  const body = { sport: 'cricket', kind: 'delivery', at, runs: 4 };
  const corrected = event(1_005_003_000, 2, 'a-1', { body });
  expect(correction(corrected, { sport: 'cricket', text: 'CSK 45/2 (5.3)' })).toBe(
    'Corrected: over 6, ball 3: 4. CSK 45/2 (5.3)',
  );
  const withdrawn = event(1_005_003_000, 2, 'a-1', { body: { sport: 'withdrawn' } });
  expect(correction(withdrawn, null)).toBe('Corrected: over 6, ball 3 does not count');
});

test('the state of the feed is told only when something is wrong', () => {
  expect(feed('live', '', false)).toBe('');
  expect(feed('replaying', '', false)).toBe('');
  expect(feed('live', '', true)).toMatch(/late/);
  expect(feed('reconnecting', 'shard_lost', false)).toMatch(/^Reconnecting/);
  expect(feed('refused', 'Not in your country.', false)).toBe('Not in your country.');
});

test('a ball has a look, and words', () => {
  expect(['.', '4', '6', 'W', '1W', '2wd', 'nb+4', 'nb+6', '1lb', '3', 'wd'].map(ballClass)).toEqual([
    'dot-ball',
    'four',
    'six',
    'wicket',
    'wicket',
    'extra',
    'four',
    'six',
    'extra',
    '',
    'extra',
  ]);
  expect(['.', '4', 'W', '2wd', 'nb+4', '1lb', '2b'].map(spokenBall)).toEqual([
    'no run',
    '4',
    'wicket',
    '2 wide',
    'no-ball, 4',
    '1 leg bye',
    '2 bye',
  ]);
});
