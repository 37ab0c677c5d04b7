import { expect, test } from 'vitest';
import {
  CLEAN_BEFORE_NARROWING_MS,
  HoldBack,
  NARROWING_EVERY_MS,
  ONE_STALL_WITHIN_MS,
} from '../src/play/holdback';
import { PROFILES, profile } from '../src/play/profile';

const grid = { segmentS: 1.92, partS: 0.32 };

test('the profiles are those of the design', () => {
  expect(profile('live', grid).holdBackS).toBeCloseTo(0.96);
  expect(profile('balanced', grid).holdBackS).toBeGreaterThan(3);
  expect(profile('steady', grid).holdBackS).toBe(6);
  expect(PROFILES.map((p) => profile(p, grid).lowLatency)).toEqual([true, true, false]);
  expect(profile('steady', { segmentS: 2.1333, partS: 0.2667 }).holdBackS).toBe(6);
});

test('a stall widens by a step, once for a burst, and never beyond the bound', () => {
  const p = profile('live', grid);
  const h = new HoldBack(p);
  let now = 0;
  expect(h.stalled(now)).toBe(true);
  expect(h.seconds).toBeCloseTo(p.holdBackS + p.widenStepS);
  expect(h.stalled(now + 500)).toBe(false);
  expect(h.seconds).toBeCloseTo(p.holdBackS + p.widenStepS);
  let wider = 1;
  for (let n = 0; n < 20; n += 1) {
    now += ONE_STALL_WITHIN_MS + 1_000;
    if (h.stalled(now)) wider += 1;
  }
  expect(h.extraS).toBe(p.widenMaxS);
  expect(wider).toBe(Math.ceil(p.widenMaxS / p.widenStepS));
});

test('it comes back slowly, only after a long clean time, and not below the profile', () => {
  const p = profile('balanced', grid);
  const h = new HoldBack(p);
  h.stalled(0);
  expect(h.settle(CLEAN_BEFORE_NARROWING_MS - 1)).toBe(false);
  let now = CLEAN_BEFORE_NARROWING_MS;
  expect(h.settle(now)).toBe(true);
  expect(h.settle(now + 1_000)).toBe(false);
  for (let n = 0; n < 20; n += 1) {
    now += NARROWING_EVERY_MS;
    h.settle(now);
  }
  expect(h.seconds).toBe(p.holdBackS);
  h.stalled(now);
  expect(h.settle(now + NARROWING_EVERY_MS)).toBe(false);
});
