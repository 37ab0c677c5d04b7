// Reads the ball number that is burned into the picture, and compares it with the scoreboard, frame by frame.

import { READERS } from './blockcode.mjs';
import { until } from './browser.mjs';

/** A frame was drawn for its time within this, ms: one and a half frames. An older one is a repeat. */
const REPEATED_MS = 60;

/** The scoreboard, for a machine. */
export const board = (page) =>
  page.evaluate(() => {
    const element = document.querySelector('.scoreboard');
    return element ? { ...element.dataset, hidden: element.hidden } : null;
  });

/** Waits until the scoreboard says the score. */
export const scored = (page, limitMs = 30_000) =>
  until('a score', async () => ((await board(page))?.text ? board(page) : null), limitMs);

/**
 * Watches for a while. At each frame the board says what the frame says, or what the frame before the last change
 * said, and then not for longer than `lateMs`.
 *
 * @returns {{frames: number, unread: number, repeats: number, balls: number[], late: {ms: number, at: number}[], wrong: object[]}}
 *   the numbers that were seen burned in, how late the board was at each change, and what was neither right nor late: early, or
 *   false
 */
export async function watchBalls(page, seconds) {
  await page.evaluate(READERS);
  return page.evaluate(async ([ms, repeatedMs]) => {
    const video = document.querySelector('video');
    const element = document.querySelector('.scoreboard');
    const canvas = document.createElement('canvas');
    const found = { frames: 0, unread: 0, repeats: 0, balls: [], late: [], wrong: [] };
    let [burned, before, changedAt, waiting] = [null, null, 0, false];
    const end = performance.now() + ms;
    while (performance.now() < end) {
      const presented = await Promise.race([
        new Promise((resolve) => video.requestVideoFrameCallback(() => resolve(true))),
        new Promise((resolve) => setTimeout(resolve, 1_000, false)),
      ]);
      if (!presented || video.seeking) continue;
      const now = performance.now();
      const ball = window.readBall(video, canvas);
      if (ball === null) {
        found.unread += 1;
        continue;
      }
      found.frames += 1;
      // A ground that is late leaves frames out: an old picture stands for their time, and the board is of that time.
      const { ok, ms: drawn } = window.readVenueMs(video, canvas);
      if (ok && drawn < window.pavilion.stats().venueMs - repeatedMs) {
        found.repeats += 1;
        continue;
      }
      if (ball !== burned) {
        if (waiting) found.wrong.push({ what: 'never shown', ball: burned });
        [before, burned, changedAt, waiting] = [burned, ball, now, true];
        found.balls.push(ball);
      }
      const shown = element.dataset.ball === '' ? null : Number(element.dataset.ball);
      if (shown === burned) {
        if (waiting) found.late.push({ ms: Math.round(now - changedAt), at: Date.now() });
        waiting = false;
      } else if (!waiting || shown !== before) {
        found.wrong.push({ what: shown > burned ? 'early' : 'false', shown, burned, before, at: Math.round(now) });
      }
    }
    return found;
  }, [seconds * 1000, REPEATED_MS]);
}
