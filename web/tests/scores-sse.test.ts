import { expect, test } from 'vitest';
import { readLastEventId, writeLastEventId } from '../src/scores/lastid';
import { SseReader } from '../src/scores/sse';
import { LocalStore, MATCHES_KEPT } from '../src/scores/store';
import { numbers } from './support';

const STREAM =
  ': hello\n\nid: m:a-1\ndata: {"n":1}\n\nevent: x\r\ndata: two\r\ndata: lines\r\n\r\nretry: 3000\n\ndata:three\n\n';

test('events are read wherever the stream is cut', () => {
  const whole = new SseReader();
  const expected = whole.push(STREAM);
  expect(expected.map((e) => e.data)).toEqual(['{"n":1}', 'two\nlines', 'three']);
  expect(expected.map((e) => e.id)).toEqual(['m:a-1', 'm:a-1', 'm:a-1']);
  expect([whole.retryMs, whole.comments]).toEqual([3_000, 1]);
  for (let seed = 1; seed < 200; seed += 1) {
    const random = numbers(seed);
    const reader = new SseReader();
    const got = [];
    for (let at = 0; at < STREAM.length; ) {
      const size = 1 + Math.floor(random() * 9);
      got.push(...reader.push(STREAM.slice(at, at + size)));
      at += size;
    }
    expect(got).toEqual(expected);
  }
});

test('a line without end is let go', () => {
  const reader = new SseReader();
  for (let n = 0; n < 400; n += 1) reader.push('data: '.padEnd(1_000, 'x'));
  expect(reader.push('\n\ndata: y\n\n').at(-1)?.data).toBe('y');
});

test('cursors of many matches are written and read back', () => {
  const wanted = [
    { match: 'a', since: '1f-2' },
    { match: 'epl:LIV-ARS', since: '20-3' },
    { match: 'new', since: null },
  ];
  expect(writeLastEventId(wanted)).toBe('a:1f-2,epl:LIV-ARS:20-3');
  expect(readLastEventId('a:1f-2,epl:LIV-ARS:20-3')).toEqual(wanted.slice(0, 2));
  expect(readLastEventId('')).toEqual([]);
  expect(readLastEventId(':,,x')).toEqual([]);
});

test('cursors are kept over a reload, so many and no more', () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (k: string) => kept.get(k) ?? null,
    setItem: (k: string, v: string) => void kept.set(k, v),
  };
  const store = new LocalStore(storage);
  for (let n = 0; n < MATCHES_KEPT + 10; n += 1) store.set(`m${n}`, `a-${n}`);
  store.set('m20', 'a-99');
  store.set('m21', null);
  store.flush();
  const again = new LocalStore(storage);
  expect(again.get('m20')).toBe('a-99');
  expect(again.get('m21')).toBeNull();
  expect(again.get('m0')).toBeNull();
  expect(again.get(`m${MATCHES_KEPT + 9}`)).toBe(`a-${MATCHES_KEPT + 9}`);
  for (const broken of ['', '{', '{"a":1}', '[1,[2,3],["a"]]', 'null']) {
    kept.set('pavilion.scores.cursors', broken);
    expect(new LocalStore(storage).get('m20')).toBeNull();
  }
  const full = new LocalStore({
    getItem: () => null,
    setItem: () => {
      throw new Error('full');
    },
  });
  full.set('a', 'a-1');
  full.flush();
  expect(full.get('a')).toBe('a-1');
});
