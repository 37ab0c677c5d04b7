import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RequestError, request } from '../src/net/request';

const answers: Response[] = [];
let asked: number[] = [];

const busy = (after: string, status = 503): Response =>
  new Response('{"type": "/problems/busy", "detail": "Very busy."}', {
    status,
    headers: { 'retry-after': after, 'content-type': 'application/problem+json' },
  });

beforeEach(() => {
  vi.useFakeTimers();
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => undefined);
  asked = [];
  vi.stubGlobal('fetch', () => {
    asked.push(performance.now());
    const answer = answers.shift();
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError('no network'));
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  answers.length = 0;
});

/** What came of it, once all time that it asks for has passed. */
async function outcome(ask: Promise<Response>): Promise<Response | RequestError> {
  const done = ask.catch((error: unknown) => error as RequestError);
  await vi.runAllTimersAsync();
  return done;
}

test('is tried again when it may be, and not before', async () => {
  answers.push(busy('2'), busy('3'), new Response('{}'));
  expect(await outcome(request('/v1/matches'))).toBeInstanceOf(Response);
  const gaps = asked.slice(1).map((at, i) => at - (asked[i] ?? 0));
  expect(gaps[0]).toBeGreaterThanOrEqual(2_000);
  expect(gaps[1]).toBeGreaterThanOrEqual(3_000);
});

test('a long Retry-After is told at once, with the problem', async () => {
  answers.push(busy('120'));
  const error = await outcome(request('/v1/matches'));
  expect(error).toMatchObject({ status: 503, retryAfterMs: 120_000, problem: { kind: 'busy' } });
  expect(asked).toHaveLength(1);
});

test('what must not be done twice is tried again only if it was not done', async () => {
  answers.push(busy('1'), busy('1', 500));
  const error = await outcome(request('/v1/identity/register', { method: 'POST', once: true }));
  expect(error).toMatchObject({ status: 500 });
  expect(asked).toHaveLength(2);
  asked = [];
  expect(await outcome(request('/v1/identity/register', { method: 'POST', once: true }))).toMatchObject({
    status: 0,
  });
  expect(asked).toHaveLength(1);
});

test('a page whose every request fails soon asks no more than its budget', async () => {
  const all = Array.from({ length: 10 }, () => outcome(request('/v1/matches')));
  for (const one of await Promise.all(all)) expect(one).toBeInstanceOf(RequestError);
  // Ten first tries; of the retries no more than the burst, and what came back meanwhile.
  expect(asked.length).toBeGreaterThanOrEqual(10);
  expect(asked.length).toBeLessThanOrEqual(10 + 10 + 20);
});
