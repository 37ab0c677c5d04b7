/** Follows what the door advises, for as long as the page is there. */

import { advice } from './api';
import type { Backoff } from './backoff';
import { pause, policy, restAgain } from './request';

/** Unless advised otherwise, ms. The answer is the same for everybody, so caches give it. */
const EVERY_MS = 60_000;
/** The first look is soon, but not among what the page needs to be drawn, ms. */
const FIRST_MS = 5_000;
const AWAY: Backoff = { baseMs: 10_000, capMs: 120_000 };

/** Never ends; a page that is not seen asks nothing. */
export async function followAdvice(): Promise<never> {
  const { signal } = new AbortController();
  let awayMs = AWAY.baseMs;
  await pause(FIRST_MS * (1 + Math.random()), signal);
  for (;;) {
    if (document.hidden) {
      await pause(EVERY_MS, signal);
      continue;
    }
    try {
      await advice(signal);
      awayMs = AWAY.baseMs;
      const everyMs = policy.everyMs('advice', EVERY_MS, Math.random);
      await pause(everyMs, signal, everyMs);
    } catch (error) {
      awayMs = await restAgain(error, awayMs, AWAY, signal);
    }
  }
}
