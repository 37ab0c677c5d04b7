import { expect, test } from 'vitest';
import { Pass } from '../src/play/pass';

const EDGE = 'https://edge.example:8081';
const LIST = `${EDGE}/one/final/r1/main/hls/master.m3u8`;

function pass(): { pass: Pass; refused: string[] } {
  const refused: string[] = [];
  return { pass: new Pass(LIST, (reason) => refused.push(reason)), refused };
}

test('a renewed pass stands in every request, and players never see it', () => {
  const { pass: p } = pass();
  expect(p.asked(LIST)).toBe(LIST);
  p.answered(LIST, 200, 'two', () => '');
  const part = `${EDGE}/one/final/r1/main/v1/7a.3.m4s?x=1`;
  expect(p.asked(part)).toBe(`${EDGE}/two/final/r1/main/v1/7a.3.m4s?x=1`);
  expect(p.known(p.asked(part))).toBe(part);
  p.answered(p.asked(part), 206, 'three', () => '');
  expect(p.asked(part)).toContain('/three/final/');
  expect(p.renewals).toBe(2);
  // It was asked for with the second, and came when there was a third.
  expect(p.known(`${EDGE}/two/final/r1/main/hls/v1.m3u8`)).toBe(`${EDGE}/one/final/r1/main/hls/v1.m3u8`);
  p.answered(p.asked(part), 200, null, () => '');
  expect(p.renewals).toBe(2);
});

test('the first pass is known however often it was renewed', () => {
  const { pass: p } = pass();
  for (let n = 0; n < 100; n += 1) p.take(`next-${n}`);
  expect(p.asked(LIST)).toContain('/next-99/');
  expect(p.known(p.asked(LIST))).toBe(LIST);
});

test('what is not behind the pass stays as it is', () => {
  const { pass: p } = pass();
  p.take('two');
  for (const url of [
    'https://other.example/one/final/r1/main/x',
    `${EDGE}/oneself/final/x`,
    `${EDGE}:1/one/final`,
    'data:video/mp4;base64,AAAA',
  ]) {
    expect(p.asked(url)).toBe(url);
  }
});

test('an answer to a pass of before changes nothing', () => {
  const { pass: p, refused } = pass();
  p.answered(LIST, 200, 'two', () => '');
  p.answered(LIST, 200, 'late', () => '');
  p.answered(LIST, 401, null, () => '{"reason": "expired"}');
  expect(p.asked(LIST)).toContain('/two/');
  expect(refused).toEqual([]);
});

test('a refusal is told with its reason, if it has one', () => {
  const { pass: p, refused } = pass();
  p.answered(LIST, 403, null, () => '{"reason": "revoked"}');
  p.answered(LIST, 401, null, () => 'no JSON');
  p.answered(LIST, 404, null, () => '{"reason": "gone"}');
  p.answered(LIST, 403, null, () => 'null');
  expect(refused).toEqual(['revoked', '', '']);
});

test('what is no pass is not taken', () => {
  const { pass: p } = pass();
  for (const bad of ['', 'a/b', 'a b', '..%2f', null]) p.take(bad);
  expect(p.asked(LIST)).toBe(LIST);
});

test('a new playlist of the same match renews it, another is another', () => {
  const { pass: p } = pass();
  expect(p.takeFrom(`${EDGE}/new/final/r2/main/hls/master.m3u8`, LIST)).toBe(false);
  expect(p.takeFrom('https://other.example/new/final/r1/main/hls/master.m3u8', LIST)).toBe(false);
  expect(p.asked(LIST)).toBe(LIST);
  expect(p.takeFrom(`${EDGE}/new/final/r1/main/hls/master.m3u8`, LIST)).toBe(true);
  expect(p.asked(LIST)).toContain('/new/');
});
