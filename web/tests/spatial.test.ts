import { expect, test } from 'vitest';
import { type Box, nearest } from '../src/ui/spatial';

const box = (x: number, y: number, width = 48, height = 48): Box => ({
  left: x,
  right: x + width,
  top: y,
  bottom: y + height,
});

// A bar over a row of three.
const bar = box(0, 0, 400, 40);
const row = [box(0, 60), box(60, 60), box(300, 60)];

test('left and right stay in the row', () => {
  expect(nearest(row[0] as Box, [bar, ...row.slice(1)], 'ArrowRight')).toBe(1);
  expect(nearest(row[0] as Box, [bar, ...row.slice(1)], 'ArrowLeft')).toBe(-1);
});

test('up reaches the bar from anywhere, down the button nearest below', () => {
  for (const from of row) expect(nearest(from, [bar], 'ArrowUp')).toBe(0);
  expect(nearest(box(290, 0, 40, 40), row, 'ArrowDown')).toBe(2);
});
