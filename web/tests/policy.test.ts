import { expect, test } from 'vitest';
import { NO_ADVICE, readAdvice } from '../src/net/advice';
import { PATIENCE_MS, Policy } from '../src/net/policy';

const own = { baseMs: 100, capMs: 5_000 };
const half = (): number => 0.5;
const failed = { status: 503, retryAfterMs: null };

const advised = (more: object = {}): ReturnType<typeof readAdvice> =>
  readAdvice({
    back_off: { base_ms: 500, cap_ms: 30_000, per_minute: 10 },
    refresh_s: { matches: 30 },
    off: ['moments'],
    ...more,
  });

test('only what passes is tried again', () => {
  for (const status of [0, 408, 425, 429, 500, 503]) {
    expect(new Policy(0).retry({ status, retryAfterMs: null }, 100, own, 0, half)).not.toBeNull();
  }
  for (const status of [400, 401, 403, 404, 409, 410, 451]) {
    expect(new Policy(0).retry({ status, retryAfterMs: null }, 100, own, 0, half)).toBeNull();
  }
});

test('Retry-After is waited for, and a part of a second more; nobody waits long without being told', () => {
  const after = (retryAfterMs: number): unknown =>
    new Policy(0).retry({ status: 503, retryAfterMs }, 100, own, 0, half);
  expect(after(2_000)).toEqual({ drawnMs: 200, leastMs: 2_500 });
  expect(after(PATIENCE_MS)).toBeNull();
  // What goes on by itself waits as long as it must.
  expect(new Policy(0).again(60_000, 100, own, 0, half).leastMs).toBe(60_500);
});

test('all requests share one budget, and loops wait for it', () => {
  const policy = new Policy(0);
  const retries = Array.from({ length: 30 }, () => policy.retry(failed, 100, own, 0, half));
  expect(retries.filter((wait) => wait !== null)).toHaveLength(10);
  // Twenty a minute: one token in three seconds, and two loops do not get the same one.
  expect(policy.again(null, 100, own, 0, half).leastMs).toBe(3_000);
  expect(policy.again(null, 100, own, 0, half).leastMs).toBe(6_000);
  expect(policy.retry(failed, 100, own, 8_900, half)).toBeNull();
  expect(policy.retry(failed, 100, own, 9_000, half)).not.toBeNull();
});

test('advice makes more patient, and never less', () => {
  const policy = new Policy(0);
  policy.advise(advised(), 0);
  expect(policy.backoff(own)).toEqual({ baseMs: 500, capMs: 30_000 });
  expect(policy.backoff({ baseMs: 1_000, capMs: 60_000 })).toEqual({ baseMs: 1_000, capMs: 60_000 });
  expect(policy.isOff('moments')).toBe(true);
  expect(policy.isOff('continue')).toBe(false);
  expect(policy.everyMs('matches', 10_000, () => 0)).toBe(30_000);
  expect(policy.everyMs('matches', 40_000, () => 0)).toBe(40_000);
  expect(policy.everyMs('watching', 10_000, () => 1)).toBe(15_000);
});

test('so many tries in a minute as advised, and none if that is the advice', () => {
  const tries = (policy: Policy, seconds: number): number => {
    let n = 0;
    for (let s = 0; s < seconds; s += 1) if (policy.retry(failed, 100, own, s * 1_000, half)) n += 1;
    return n;
  };
  const four = new Policy(0);
  four.advise(advised({ back_off: { base_ms: 50, cap_ms: 60, per_minute: 4 } }), 0);
  expect(tries(four, 600)).toBeLessThanOrEqual(4 + 40);
  const none = new Policy(0);
  none.advise(advised({ back_off: { base_ms: 50, cap_ms: 60, per_minute: 0 } }), 0);
  expect(tries(none, 500)).toBe(0);
  expect(none.again(null, 100, own, 500_000, half).leastMs).toBeGreaterThan(60_000);
});

test('advice is bounded, and rubbish is none', () => {
  const wild = advised({ back_off: { base_ms: 1e9, cap_ms: 1, per_minute: -3 }, refresh_s: { a: 1e9 } });
  expect(wild.backoff).toEqual({ baseMs: 600_000, capMs: 600_000 });
  expect(wild.perMinute).toBe(0);
  expect(wild.refreshS.get('a')).toBe(3_600);
  for (const bad of [null, {}, { back_off: {}, refresh_s: {}, off: [] }, { ...NO_ADVICE }]) {
    expect(() => readAdvice(bad)).toThrow(TypeError);
  }
});
