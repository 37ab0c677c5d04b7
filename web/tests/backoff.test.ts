import { expect, test } from 'vitest';
import { nextWaitMs, RETRY_AFTER_CAP_MS, RetryBudget, retryAfterMs } from '../src/net/backoff';

const backoff = { baseMs: 100, capMs: 5_000 };

test('waits lie between the base and three times the last, and never above the cap', () => {
  let wait = backoff.baseMs;
  for (let n = 0; n < 200; n += 1) {
    const before = wait;
    wait = nextWaitMs(wait, backoff, Math.random);
    expect(wait).toBeGreaterThanOrEqual(backoff.baseMs);
    expect(wait).toBeLessThanOrEqual(Math.min(backoff.capMs, before * 3));
  }
  expect(nextWaitMs(4_000, backoff, () => 1)).toBe(5_000);
  expect(nextWaitMs(4_000, backoff, () => 0)).toBe(100);
});

test('Retry-After is seconds or a date, bounded, and nonsense is none', () => {
  const now = Date.parse('2026-11-29T14:00:00Z');
  expect(retryAfterMs('3', now)).toBe(3_000);
  expect(retryAfterMs('0.5', now)).toBe(500);
  expect(retryAfterMs('Sun, 29 Nov 2026 14:00:10 GMT', now)).toBe(10_000);
  expect(retryAfterMs('Sun, 29 Nov 2026 13:00:00 GMT', now)).toBe(0);
  expect(retryAfterMs('86400', now)).toBe(RETRY_AFTER_CAP_MS);
  expect(retryAfterMs('-1', now)).not.toBe(-1_000);
  expect(retryAfterMs('soon', now)).toBeNull();
  expect(retryAfterMs(null, now)).toBeNull();
});

test('the budget runs dry, and fills again at its pace', () => {
  const budget = new RetryBudget(2, 1_000, 0);
  expect([budget.take(0), budget.take(0), budget.take(0)]).toEqual([true, true, false]);
  expect([budget.take(1_000), budget.take(1_500)]).toEqual([true, false]);
  expect([budget.take(60_000), budget.take(60_000), budget.take(60_000)]).toEqual([true, true, false]);
});
