import { expect, test } from 'vitest';
import type { Match } from '../src/net/api';
import { deviceName } from '../src/net/device';
import { asProblem } from '../src/net/problem';
import { readWatched, type Watched, withWatched } from '../src/play/history';
import { isRefusal, opensMs } from '../src/play/refusal';
import { ourPath } from '../src/ui/go';
import { shelves } from '../src/ui/shelves';
import { told } from '../src/ui/told';

const match = (name: string, status: Match['status'], startMs = 0, watchable = true): Match => ({
  match: name,
  title: name,
  titles: {},
  live: status === 'live',
  status,
  startMs,
  league: '',
  sport: '',
  watchable,
  free: true,
});

test('what is on, what to go on with, what is next', () => {
  const all = [
    match('b', 'scheduled', 2),
    match('live', 'live'),
    match('a', 'scheduled', 1),
    match('old', 'final'),
    match('text', 'final', 0, false),
    match('tv', 'live'),
  ];
  const watched: Watched[] = [
    { match: 'live', venueMs: 5_000, atMs: 3 },
    { match: 'old', venueMs: null, atMs: 2 },
    { match: 'gone', venueMs: 1, atMs: 1 },
  ];
  const stream = (name: string, here: boolean): Parameters<typeof shelves>[2][number] => ({
    id: name,
    name: 'TV',
    match: name,
    sinceMs: 0,
    here,
  });
  const { now, goOn, next, before } = shelves(all, watched, [stream('tv', false), stream('live', true)]);
  const names = (entries: typeof now): string[] => entries.map((e) => e.match.match);
  expect(names(now)).toEqual(['live', 'tv']);
  expect(goOn.map((e) => [e.match.match, e.at, e.device])).toEqual([
    ['tv', null, 'TV'],
    ['live', 5_000, undefined],
  ]);
  expect(names(next)).toEqual(['a', 'b']);
  expect(names(before)).toEqual(['old']);
});

test('what was watched is kept once each, bounded, and rubbish is nothing', () => {
  let kept: Watched[] = [];
  for (let n = 0; n < 40; n += 1) kept = withWatched(kept, { match: `m${n % 20}`, venueMs: n, atMs: n });
  expect(kept).toHaveLength(12);
  expect(kept[0]).toEqual({ match: 'm19', venueMs: 39, atMs: 39 });
  expect(readWatched(JSON.stringify(kept), 40)).toEqual(kept);
  expect(readWatched(JSON.stringify(kept), 8 * 24 * 3_600_000)).toEqual([]);
  for (const bad of [
    null,
    '',
    '{',
    '7',
    '[1, null, {"match": 1}, {"match": "a", "atMs": "x", "venueMs": 1}]',
  ]) {
    expect(readWatched(bad, 0)).toEqual([]);
  }
});

test('each refusal has words, and what can be done about it', () => {
  const of = (kind: string, more: object = {}): ReturnType<typeof told> =>
    told(asProblem({ type: `/problems/${kind}`, detail: 'As the server says.', ...more }));
  expect(of('log-in').actions).toEqual(['log-in']);
  expect(of('not-bought').actions).toContain('account');
  expect(of('country', { country: 'IE' }).words).toBe('This match is not available in Ireland.');
  expect(of('country', { country: '??' }).words).toContain('??');
  expect(of('not-bought', { products: ['A', 'B', 'C'] }).words).toBe('This match comes with A, B, or C.');
  expect(of('not-bought', { products: [] }).words).toBe('This match is not on sale.');
  expect(of('blackout', { area: 'Chennai' }).words).toContain('Chennai');
  expect(of('blackout', { area: null }).words).toContain('where you are');
  expect(of('devices', { devices: [{}, {}] }).words).toBe('Two devices are already watching.');
  expect(of('not-begun', { start_ms: Date.parse('2026-12-01T14:00:00Z') }).help).toMatch(/^It begins .*Dec/);
  expect(of('something-new').help).toBe('As the server says.');
});

test('what time opens is opened by time, and refusals are told from trouble', () => {
  const of = (kind: string, more: object): number | null =>
    opensMs(asProblem({ type: `/problems/${kind}`, ...more }));
  expect(of('not-begun', { start_ms: 3_600_000 })).toBe(2_700_000);
  expect(of('not-yet', { from_ms: 7 })).toBe(7);
  expect(of('not-yet', {})).toBeNull();
  expect(of('over', { from_ms: 7 })).toBeNull();
  expect(isRefusal(asProblem({ type: '/problems/devices' }))).toBe(true);
  expect(isRefusal(asProblem({ type: '/problems/busy' }))).toBe(false);
  expect(asProblem({ type: 'https://elsewhere.example/', title: 'No' })).toMatchObject({
    kind: '',
    detail: 'No',
  });
});

test('one goes on to pages of ours only', () => {
  expect(ourPath('/watch/final?at=1')).toBe('/watch/final?at=1');
  for (const bad of [
    null,
    '',
    'watch',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/a b',
  ]) {
    expect(ourPath(bad)).toBeNull();
  }
});

test('a device is called what people call it', () => {
  const chrome = 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36';
  expect(deviceName(chrome)).toBe('Chrome, Android');
  expect(deviceName('Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Version/17.0 Safari/604.1')).toBe(
    'Safari, iPhone',
  );
  expect(deviceName('Mozilla/5.0 (Web0S; Linux/SmartTV) Chrome/108.0 Safari/537.36')).toBe('Chrome, TV');
  expect(deviceName('curl/8')).toBe('');
});
