import { expect, test } from 'vitest';
import { preferred } from '../src/words';
import { en } from '../src/words/en';
import { hi } from '../src/words/hi';
import { ta } from '../src/words/ta';

/** Every text by its path; functions are asked with 3 or a name. */
function texts(of: unknown, path = ''): [string, string][] {
  if (typeof of === 'string') return [[path, of]];
  if (typeof of === 'function') return [[path, String(of('\u2068x\u2069', '\u2068y\u2069'))]];
  return Object.entries(of as object).flatMap(([key, value]) => texts(value, `${path}.${key}`));
}

test.each([
  ['Hindi', hi, /[\u0900-\u097f]/],
  ['Tamil', ta, /[\u0b80-\u0bff]/],
])('%s is written in its own script throughout, and says what it is given', (_, words, script) => {
  const english = new Map(texts(en));
  const all = texts(words);
  expect(all.map(([path]) => path)).toEqual([...english.keys()]);
  for (const [path, text] of all) {
    // Figures as heads of columns are the same everywhere.
    if (!/^\d$/.test(text)) expect(text, path).toMatch(script);
    for (const given of ['\u2068x\u2069', '\u2068y\u2069']) {
      if (english.get(path)?.includes(given)) expect(text, path).toContain(given);
    }
  }
});

test('the choice of the viewer comes first, then what they read', () => {
  expect(preferred(null, ['ta-IN', 'en'])).toBe('ta');
  expect(preferred('hi', ['ta-IN', 'en'])).toBe('hi');
  expect(preferred('fr', ['de', 'hi-Latn'])).toBe('hi');
  expect(preferred(null, ['de', 'fr'])).toBe('en');
  expect(preferred('toString', [])).toBe('en');
});
