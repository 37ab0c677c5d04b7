// Watches a match in Chromium and says how old the picture on screen is. The bench runs it:
//
//   PAVILION_URL=http://… node glass.mjs MATCH PLAYER PROFILE SETTLE_SECONDS WATCH_SECONDS
//
// It writes one JSON object. It ends, and its browser with it, when standard input does.

import { readVenueMs } from '../tests/browser/blockcode.mjs';
import { open, percentile, until, watchUrl } from '../tests/browser/browser.mjs';

// Not a multiple of a frame, so that samples fall anywhere between two frames. What is read is what is on screen at
// that moment, new or not: a picture that stands grows old.
const SAMPLE_MS = 47;
const FIRST_PICTURE_MS = 60_000;

const [match, player, profile, settle, watch] = process.argv.slice(2);

const { page, errors, close } = await open();
let closed;
const end = () => (closed ??= close());
// What is under way then fails, and so do we.
process.stdin.resume();
process.stdin.once('end', end);

try {
  // Not a script element: the page's Content-Security-Policy refuses those, and stays in force.
  await page.addInitScript(`window.readVenueMs = ${readVenueMs}`);
  await page.goto(watchUrl(match, { player, profile }));
  await until(
    'the first picture',
    () => page.evaluate(() => window.pavilion?.stats().state === 'playing'),
    FIRST_PICTURE_MS,
  );
  const seen = await page.evaluate(measure, {
    settleMs: Number(settle) * 1_000,
    watchMs: Number(watch) * 1_000,
    everyMs: SAMPLE_MS,
  });
  const { ages, ...rest } = seen;
  if (ages.length === 0) throw new Error(`no picture had a readable code: ${JSON.stringify(rest)}`);
  process.stdout.write(
    JSON.stringify({
      ...rest,
      errors,
      p50Ms: percentile(ages, 0.5),
      p95Ms: percentile(ages, 0.95),
      maxMs: percentile(ages, 1),
    }),
  );
} finally {
  await end();
}
process.exit(0);

/** Runs in the page. */
async function measure({ settleMs, watchMs, everyMs }) {
  const video = document.querySelector('video');
  const canvas = document.createElement('canvas');
  const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await pass(settleMs);
  const quality = () => video.getVideoPlaybackQuality();
  const before = { stats: window.pavilion.stats(), dropped: quality().droppedVideoFrames, frames: quality().totalVideoFrames };

  // The page keeps the longest gap since its start; this is of the time that is measured.
  let longestFrameGapMs = 0;
  let lastFrame = performance.now();
  const onFrame = () => {
    longestFrameGapMs = Math.max(longestFrameGapMs, performance.now() - lastFrame);
    lastFrame = performance.now();
    video.requestVideoFrameCallback(onFrame);
  };
  video.requestVideoFrameCallback(onFrame);

  const ages = [];
  let samples = 0;
  let unreadable = 0;
  const sampling = setInterval(() => {
    const { ok, ms } = window.readVenueMs(video, canvas);
    samples += 1;
    if (ok) ages.push(Date.now() - ms);
    else unreadable += 1;
  }, everyMs);
  await pass(watchMs);
  clearInterval(sampling);
  longestFrameGapMs = Math.max(longestFrameGapMs, performance.now() - lastFrame);

  // A player that started anew on the way counts anew.
  const since = (before, after) => (after < before ? after : after - before);
  const stats = window.pavilion.stats();
  return {
    ages,
    samples,
    unreadable,
    level: stats.level,
    stalls: since(before.stats.stalls.length, stats.stalls.length),
    longestFrameGapMs,
    restarted: quality().totalVideoFrames < before.frames,
    widenedMs: stats.widenedMs,
    dropped: since(before.dropped, quality().droppedVideoFrames),
    frames: since(before.frames, quality().totalVideoFrames),
  };
}
