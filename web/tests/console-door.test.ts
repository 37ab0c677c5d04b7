import { expect, test } from 'vitest';
import {
  KINDS,
  readAdvice,
  readBlackout,
  readHistory,
  readPanic,
  readReport,
  readRight,
} from '../src/console/door/api';
import { plain } from '../src/console/door/operator';
import {
  area,
  called,
  panicWord,
  rightWhere,
  showing,
  span,
  template,
  when,
} from '../src/console/door/words';

const right = readRight({ id: 'in', matches: ['final'], countries: ['IN'], from_ms: 1_000, until_ms: 2_000 });
const blackout = readBlackout({
  id: 'chennai',
  name: 'Chennai',
  matches: ['final'],
  areas: [
    {
      country: 'IN',
      cities: [1_264_527],
      polygon: [
        [1, 2],
        [1, 3],
        [2, 3],
      ],
    },
  ],
});
const match = { id: 'final', title: 'The Final', status: 'live', startMs: 0 };

test('where a match is shown is said for people', () => {
  expect(rightWhere(right)).toBe('India (IN)');
  expect(rightWhere({ ...right, countries: null })).toBe('Everywhere');
  expect(blackout.areas.map(area)).toEqual(['India (IN): city 1264527; an outline of 3 corners']);
  expect(area({ country: 'XX', subdivisions: [], cities: [], postcodes: [], corners: 0 })).toBe('all of XX');
  const many = Array.from({ length: 40 }, (_, n) => String(n));
  expect(area({ country: 'IN', subdivisions: [], cities: [], postcodes: many, corners: 0 })).toMatch(
    /and 28 more$/,
  );
  expect(span({ fromMs: null, untilMs: null })).toBe('always');
  expect(span({ fromMs: 0, untilMs: 60_000 }, 'UTC')).toBe('from 1 Jan 1970, 00:00, until 1 Jan 1970, 00:01');
});

test('what holds now is what the door holds: the end is not in it', () => {
  expect([999, 1_000, 1_999, 2_000].map((now) => when(right, now))).toEqual(['later', 'now', 'now', 'over']);
  const word = (now: number, rights = [right], shut: (typeof blackout)[] = []) =>
    showing([match], rights, shut, now)[0]?.now.words;
  expect(word(1_500)).toBe('Shown');
  expect(word(500)).toBe('Not yet');
  expect(word(2_500)).toBe('Shown nowhere');
  expect(word(1_500, [])).toBe('Shown nowhere');
  expect(word(1_500, [right], [blackout])).toBe('Shown, with a blackout');
  expect(word(1_500, [right], [{ ...blackout, matches: ['other'] }])).toBe('Shown');
});

const panic = {
  lever: { positive: 'auto', negative: false, note: '', by: '', at_ms: 0 },
  panic: false,
  lets_in: false,
  store_bad_since_ms: null,
  pending: 0,
  settled_here: {},
  pressure: 0.1,
};

test('the state of the panic is read, and what is not what was promised is refused', () => {
  const calm = readPanic(panic);
  expect(panicWord(calm).words).toBe('Calm');
  expect(panicWord({ ...calm, panic: true }).tone).toBe('bad');
  expect(panicWord({ ...calm, lever: { ...calm.lever, positive: 'off' } }).words).toBe('Nobody unchecked');
  expect(() => readPanic({ ...panic, lever: { ...panic.lever, positive: 'maybe' } })).toThrow(TypeError);
  expect(() => readReport({ since_ms: 0, issued: -1 })).toThrow(TypeError);
  expect(() => readAdvice({ back_off: {}, refresh_s: {}, off: [] })).toThrow(TypeError);
  expect(() => readRight({ id: 'x', matches: [1] })).toThrow(TypeError);
  expect(readHistory([{ id: 'x', at_ms: 1, who: 'a', what: 'lever/panic' }])[0]?.before).toBeNull();
});

test('documents have names and beginnings, and operators names that a header can carry', () => {
  expect(called({ id: 'in', matches: ['a', 'b'] })).toBe('a, b');
  expect(called({ id: 'x', title: 'The Final' })).toBe('The Final');
  for (const kind of KINDS) expect(template(kind, 1)).toHaveProperty('id');
  expect(plain('  Zoë\nÅ ')).toBe('ZoeA');
  expect(plain('ஆஷா')).toBe('');
});
