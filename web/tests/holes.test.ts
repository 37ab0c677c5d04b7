import { expect, test } from 'vitest';
import { aheadS, farSide } from '../src/play/holes';

const hole = [
  { start: 0, end: 10 },
  { start: 11.92, end: 14 },
];

test('a playhead at, in or just before a hole goes to the far side', () => {
  for (const at of [9.95, 10, 10.7, 11.9]) expect(farSide(hole, at)).toBeCloseTo(11.93);
});

test('one with media ahead stays, and so does one with nothing beyond', () => {
  expect(farSide(hole, 9.5)).toBeNull();
  expect(farSide(hole, 12)).toBeNull();
  expect(farSide(hole, 14)).toBeNull();
  expect(farSide([], 3)).toBeNull();
});

test('an unrelated range far away is not the far side of a hole', () => {
  expect(
    farSide(
      [
        { start: 0, end: 10 },
        { start: 60, end: 70 },
      ],
      10,
    ),
  ).toBeNull();
});

test('a sliver is not landed on', () => {
  const sliver = [
    { start: 0, end: 10 },
    { start: 10.5, end: 10.55 },
    { start: 12, end: 14 },
  ];
  expect(farSide(sliver, 10)).toBeCloseTo(12.01);
});

test('what is ahead ends at the hole', () => {
  expect(aheadS(hole, 8)).toBe(2);
  expect(aheadS(hole, 10.5)).toBe(0);
});
