import { expect, test } from 'vitest';
import { bits, lag, languageName, length, rungName, spokenLag, wallClock } from '../src/format';

test('lags are as precise as is useful', () => {
  expect([0, 1.34, 9.94, 9.96, 59.4, 125, 3_725].map(lag)).toEqual([
    '0.0 s',
    '1.3 s',
    '9.9 s',
    '10 s',
    '59 s',
    '2 min 05 s',
    '1 h 02 min',
  ]);
  expect(lag(-0.2)).toBe('0.0 s');
});

test('spoken lags are words', () => {
  expect([0.2, 1, 4.2, 60, 125, 3_725].map(spokenLag)).toEqual([
    '0 seconds',
    '1 second',
    '4 seconds',
    '1 minute',
    '2 minutes 5 seconds',
    '1 hour 2 minutes',
  ]);
});

test('lengths and clocks', () => {
  expect([5, 65, 3_725].map(length)).toEqual(['0:05', '1:05', '1:02:05']);
  expect(wallClock(Date.parse('2026-11-29T14:03:27.900Z'), 'UTC')).toBe('14:03:27');
  expect(wallClock(Date.parse('2026-11-29T00:00:00Z'), 'UTC')).toBe('00:00:00');
});

test('rungs that look alike are told apart', () => {
  const a = { id: '0', height: 720, frameRate: 25, bandwidth: 2_400_000 };
  const b = { id: '1', height: 720, frameRate: 50, bandwidth: 3_600_000 };
  const c = { id: '2', height: 360, frameRate: 25, bandwidth: 800_000 };
  expect(rungName(c, [a, c])).toBe('360p');
  expect(rungName(b, [b, c])).toBe('720p50');
  expect(rungName(a, [a, b, c])).toBe('720p · 2.4 Mbit/s');
  expect(bits(380_400)).toBe('380 kbit/s');
});

test('languages name themselves', () => {
  const name = (language: string): string => languageName({ id: '', language, name: 'as listed' });
  expect(['en', 'hi', 'ta'].map(name)).toEqual(['English', 'हिन्दी', 'தமிழ்']);
  expect(['', 'und', 'not a language'].map(name)).toEqual(['as listed', 'as listed', 'as listed']);
});
