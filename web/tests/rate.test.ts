import { expect, test } from 'vitest';
import { Delay, lagS, type Position, playbackRate } from '../src/play/rate';

const there: Position = { behindS: 1.3, delayS: 0.34, holdBackS: 0.96, aheadS: 0.9, rateMax: 1.25 };

test('in its place a playhead plays at its own pace', () => {
  expect(lagS(there)).toBeCloseTo(0);
  expect(playbackRate(there)).toBe(1);
  expect(playbackRate({ ...there, behindS: 1.35 })).toBe(1);
});

test('late is faster up to the limit, early is a little slower, much too near slower still', () => {
  expect(playbackRate({ ...there, behindS: 1.8 })).toBeCloseTo(1.1);
  expect(playbackRate({ ...there, behindS: 9 })).toBe(1.25);
  expect(playbackRate({ ...there, behindS: 9, rateMax: 1.1 })).toBeCloseTo(1.1);
  expect(playbackRate({ ...there, behindS: 1.05 })).toBeCloseTo(0.95);
  expect(playbackRate({ ...there, behindS: 0.5 })).toBe(0.85);
});

test('nothing is hurried without media to hurry through, nor in a profile that does not hurry', () => {
  expect(playbackRate({ ...there, behindS: 3, aheadS: 0.2 })).toBe(1);
  expect(playbackRate({ ...there, behindS: 3, rateMax: 1 })).toBe(1);
});

test('a clock that is wrong moves nothing: its error is in both ages', () => {
  const wrong = 40;
  const off = { ...there, behindS: there.behindS + wrong, delayS: there.delayS + wrong };
  expect(playbackRate(off)).toBe(playbackRate(there));
});

test('it settles: half a second late is gone in 20 s without passing the place', () => {
  let behindS = there.behindS + 0.5;
  for (let t = 0; t < 20; t += 0.25) {
    behindS -= (playbackRate({ ...there, behindS }) - 1) * 0.25;
    expect(behindS).toBeGreaterThanOrEqual(there.behindS - 0.001);
  }
  expect(behindS - there.behindS).toBeLessThan(0.09);
});

test('the delay is the least age seen in the window', () => {
  const delay = new Delay();
  expect(delay.seconds).toBeNull();
  delay.see(0, 0.2);
  delay.see(1_000, 0.5);
  expect(delay.seconds).toBe(0.2);
  delay.see(9_000, 0.45);
  expect(delay.seconds).toBe(0.45);
});
