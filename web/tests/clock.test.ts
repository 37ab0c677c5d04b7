import { expect, test } from 'vitest';
import { offsetMs } from '../src/net/clock';

test('the quickest exchange is believed', () => {
  const exchanges = [
    { sentMs: 0, receivedMs: 400, serverMs: 5_390 },
    { sentMs: 1_000, receivedMs: 1_020, serverMs: 6_010 },
    { sentMs: 2_000, receivedMs: 2_100, serverMs: 7_090 },
  ];
  expect(offsetMs(exchanges)).toBe(5_000);
});

test('without an exchange nothing is known, and one that ended before it began is none', () => {
  expect(offsetMs([])).toBeNull();
  expect(offsetMs([{ sentMs: 10, receivedMs: 0, serverMs: 5 }])).toBeNull();
});

test('the error is at most half the round trip, however it is split', () => {
  for (const outward of [0, 20, 50, 80, 100]) {
    const offset = offsetMs([{ sentMs: 0, receivedMs: 100, serverMs: 1_000 + outward }]) ?? Number.NaN;
    expect(Math.abs(offset - 1_000)).toBeLessThanOrEqual(50);
  }
});
