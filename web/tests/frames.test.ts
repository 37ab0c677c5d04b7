import { expect, test } from 'vitest';
import { FrameGaps } from '../src/play/frames';

test('a gap above 250 ms is a stall, one of 250 is not', () => {
  const gaps = new FrameGaps();
  expect(gaps.frame(0, 1_000)).toBeNull();
  expect(gaps.frame(250, 1_250)).toBeNull();
  expect(gaps.frame(501, 1_501)).toBe(251);
  expect(gaps.stalls).toEqual([{ at: 1_501, ms: 251 }]);
  expect(gaps.longestMs(600)).toBe(251);
});

test('the gap that is going on counts', () => {
  const gaps = new FrameGaps();
  gaps.frame(0, 0);
  expect(gaps.longestMs(900)).toBe(900);
  expect(gaps.openMs(900)).toBe(900);
});

test('time in which no frame was to come does not count', () => {
  const gaps = new FrameGaps();
  gaps.frame(0, 0);
  gaps.excuse();
  expect(gaps.frame(5_000, 5_000)).toBeNull();
  expect(gaps.longestMs(5_000)).toBe(0);
});
