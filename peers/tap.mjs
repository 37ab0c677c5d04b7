// Taps on a match in Chromium, again and again, and says how long it took until its first picture. The bench runs it:
//
//   PAVILION_URL=http://… node tap.mjs MATCH TAPS
//
// It writes one JSON object. It ends, and its browser with it, when standard input does.

import { BASE, open, percentile, until } from '../tests/browser/browser.mjs';

const CARD_MS = 20_000;
const FRAME_MS = 20_000;

const [match, taps] = process.argv.slice(2);

const { page, errors, close } = await open();
let closed;
const end = () => (closed ??= close());
// What is under way then fails, and so do we.
process.stdin.resume();
process.stdin.once('end', end);

try {
  const seen = [];
  for (let n = 0; n < Number(taps); n += 1) {
    await page.goto(`${BASE}/`);
    const card = `a[href="/watch/${encodeURIComponent(match)}"]`;
    await until('the card', () => page.evaluate((card) => document.querySelector(card) !== null, card), CARD_MS);
    seen.push(await page.evaluate(tap, { card, limitMs: FRAME_MS }));
  }
  const frames = seen.map(({ frameMs }) => frameMs);
  process.stdout.write(
    JSON.stringify({
      taps: seen.length,
      errors,
      p50Ms: percentile(frames, 0.5),
      p95Ms: percentile(frames, 0.95),
      maxMs: percentile(frames, 1),
      playP50Ms: percentile(
        seen.map(({ playMs }) => playMs),
        0.5,
      ),
    }),
  );
} finally {
  await end();
}
process.exit(0);

/** Runs in the page: milliseconds from the tap to the door's answer and to the first frame on screen. */
async function tap({ card, limitMs }) {
  const began = performance.now();
  document.querySelector(card).click();
  const frameMs = await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`no picture within ${limitMs} ms`)), limitMs);
    const look = () => {
      const video = document.querySelector('video');
      if (!video) return void requestAnimationFrame(look);
      // When the compositor was given the frame.
      video.requestVideoFrameCallback((now) => resolve(now - began));
    };
    look();
  });
  const play = performance.getEntriesByType('resource').find((r) => r.name.endsWith('/play'));
  return { frameMs, playMs: (play?.responseEnd ?? began) - began };
}
