import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Poll } from '../src/console/poll';

/** A tab that can be hidden. */
class Tab extends EventTarget {
  hidden = false;

  hide(hidden: boolean): void {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

let tab: Tab;
let life: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  tab = new Tab();
  life = new AbortController();
  const target = new EventTarget();
  vi.stubGlobal('document', tab);
  vi.stubGlobal('addEventListener', target.addEventListener.bind(target));
  vi.stubGlobal('removeEventListener', target.removeEventListener.bind(target));
});

afterEach(() => {
  life.abort();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('it asks at once and then every few seconds, until its life ends', async () => {
  const ask = vi.fn(async () => true);
  new Poll(ask, life.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(ask).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask.mock.calls.length).toBeGreaterThanOrEqual(10);
  expect(ask.mock.calls.length).toBeLessThanOrEqual(16);
  life.abort();
  const before = ask.mock.calls.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ask).toHaveBeenCalledTimes(before);
});

test('a hidden tab asks for nothing, and at once when it is shown', async () => {
  const ask = vi.fn(async () => true);
  new Poll(ask, life.signal);
  await vi.advanceTimersByTimeAsync(0);
  tab.hide(true);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(ask).toHaveBeenCalledTimes(1);
  tab.hide(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(ask).toHaveBeenCalledTimes(2);
});

test('it can be told to ask now, also while it asks', async () => {
  const answers: ((good: boolean) => void)[] = [];
  const ask = vi.fn(() => new Promise<boolean>((resolve) => answers.push(resolve)));
  const poll = new Poll(ask, life.signal);
  await vi.advanceTimersByTimeAsync(0);
  poll.now();
  answers[0]?.(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(ask).toHaveBeenCalledTimes(2);
  answers[1]?.(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(ask).toHaveBeenCalledTimes(2);
  poll.now();
  await vi.advanceTimersByTimeAsync(0);
  expect(ask).toHaveBeenCalledTimes(3);
});

test('while there is no answer it waits longer and longer, up to a bound', async () => {
  const ask = vi.fn(async () => false);
  new Poll(ask, life.signal);
  await vi.advanceTimersByTimeAsync(3_600_000);
  // One in 2 to 20 s.
  expect(ask.mock.calls.length).toBeGreaterThanOrEqual(180);
  expect(ask.mock.calls.length).toBeLessThanOrEqual(1_800);
});
