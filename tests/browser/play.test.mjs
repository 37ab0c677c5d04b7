// Each player plays in each latency profile without a stall, and says truly how far behind the ground it is.
//
// One JSON line for each to standard output. Environment: PAVILION_URL, SECONDS (30), MATCH, PLAYERS, PROFILES.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  match,
  open,
  percentile,
  SECONDS,
  settled,
  stands,
  stats,
  watchFor,
  watchPlayhead,
  watchUrl,
} from './browser.mjs';
import { unexcused } from './machine.mjs';

const list = (name, all) => (process.env[name] ?? all).split(',');

/** Of the page's own figure against the clock in the picture: two frames, the page's clock, and rounding. */
const FIGURE_OFF_MS = 200;

for (const profile of list('PROFILES', 'live,balanced,steady')) {
  // Two viewers of the same minute, each with a browser of their own.
  describe(profile, { concurrency: true }, () => {
    for (const player of list('PLAYERS', 'hls,shaka')) test(`${player} plays ${profile} for ${SECONDS} s`, { timeout: (SECONDS + 90) * 1000 }, async () => {
      const { page, errors, slow, close } = await open();
      try {
        const opened = Date.now();
        await page.goto(watchUrl(await match(), { player, profile }));
        await settled(page, 60_000);
        const from = Date.now();
        await watchPlayhead(page);
        const { pixels, figures } = await watchFor(page, SECONDS);
        const stood = await stands(page);
        const end = await stats(page);
        const frameGaps = end.stalls.filter((s) => s.at - s.ms > from);
        const line = {
          suite: 'play',
          player,
          profile,
          seconds: SECONDS,
          picture: `${end.level}p`,
          settled_ms: from - opened,
          glass_ms_p50: percentile(pixels, 0.5) ?? null,
          glass_ms_p95: percentile(pixels, 0.95) ?? null,
          figure_ms_p50: percentile(figures, 0.5) ?? null,
          frames_read: pixels.length,
          stalls: stood,
          frame_gaps: frameGaps.map((s) => s.ms),
          jumps: unexcused('jumps', end.jumps.filter((j) => j.at > from)).map((j) => j.ms),
          hold_back_ms: end.holdBackMs,
          errors: end.errors,
          slow,
        };
        console.log(JSON.stringify(line));
        assert.deepEqual(errors, [], 'uncaught errors in the page');
        assert.equal(end.player, player);
        assert.equal(end.profile, profile);
        assert.deepEqual(line.stalls, [], 'the playhead never stands for more than 250 ms');
        assert.deepEqual(line.jumps, [], 'nothing is jumped over');
        assert.ok(pixels.length > SECONDS, `the venue clock was read only ${pixels.length} times`);
        const off = Math.abs(line.figure_ms_p50 - line.glass_ms_p50);
        assert.ok(off < FIGURE_OFF_MS, `the page's figure is ${off} ms off the clock in the picture`);
      } finally {
        await close();
      }
    });
  });
}
