// Each player plays an encrypted match from its clear lead on, across the first encrypted segment and a change of the key. Both
// watch at once, so that it does not take twice as long. Run by tests/tests/drm_browser.rs, which starts the match.
//
// Environment: PAVILION_URL, PAVILION_METRICS, JOIN_MS and ROTATION_MS (venue time of both, UTC).

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { READERS } from './blockcode.mjs';
import { match, open, settled, stands, stats, until, watchPlayhead, watchUrl } from './browser.mjs';
import { unexcused } from './machine.mjs';

const JOIN_MS = Number(process.env.JOIN_MS);
const ROTATION_MS = Number(process.env.ROTATION_MS);
const METRICS = process.env.PAVILION_METRICS;

/** Watched after the change, ms: longer than anything is buffered in this profile. */
const AFTER_MS = 4_000;

/** Of each of the three parts so many frames are read at least. */
const READ_MIN = 3;

/** Licences that were given, by the server's count. */
async function given() {
  const text = await (await fetch(METRICS)).text();
  const line = text.split('\n').filter((l) => l.startsWith('arrival_licence_requests_total{'));
  const count = (answer) =>
    line.filter((l) => l.includes(`answer="given"`) === answer).reduce((sum, l) => sum + Number(l.split(' ').at(-1)), 0);
  return { given: count(true), refused: count(false) };
}

/**
 * The venue clock in the picture, ms; null if it cannot be read. From a screenshot: Chromium gives a canvas nothing of a video that
 * has MediaKeys.
 */
async function readPixels(page) {
  const picture = (await page.screenshot()).toString('base64');
  return page.evaluate(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    Object.assign(image, { videoWidth: image.naturalWidth, videoHeight: image.naturalHeight });
    const { ok, ms } = window.readVenueMs(image, document.createElement('canvas'));
    return ok ? ms : null;
  }, `data:image/png;base64,${picture}`);
}

/** Nothing but the picture, in all of the window. */
const BARE = `body * { visibility: hidden !important; }
  video { visibility: visible !important; position: fixed !important; inset: 0 !important; z-index: 9999 !important;
    width: 100vw !important; height: 100vh !important; object-fit: fill !important; }`;

async function watch(player) {
  const { page, errors, slow, close } = await open();
  try {
    await page.goto(watchUrl(await match(), { player, profile: 'balanced' }));
    const begun = await settled(page, 40_000);
    assert.ok(begun.venueMs < JOIN_MS, 'the picture came only after the clear lead: this machine is too slow for it');
    await watchPlayhead(page);
    await page.evaluate(READERS);
    await page.addStyleTag({ content: BARE });
    const readings = [];
    await until(
      'the picture past the change of the key',
      async () => {
        readings.push(await readPixels(page));
        return ((await stats(page))?.venueMs ?? 0) > ROTATION_MS + AFTER_MS;
      },
      ROTATION_MS + AFTER_MS - begun.venueMs + 20_000,
      500,
    );
    const end = await stats(page);
    return {
      player,
      licences: end.licences,
      stalls: await stands(page),
      jumps: unexcused('jumps', end.jumps).map((j) => j.ms),
      unread: readings.filter((ms) => ms === null).length,
      clear: readings.filter((ms) => ms !== null && ms < JOIN_MS).length,
      first: readings.filter((ms) => ms !== null && ms >= JOIN_MS && ms < ROTATION_MS).length,
      second: readings.filter((ms) => ms !== null && ms >= ROTATION_MS).length,
      hold_back_ms: end.holdBackMs,
      errors: [...errors, ...end.errors],
      slow,
    };
  } finally {
    await close();
  }
}

test('both players play from a clear lead across the join and a rotation', { timeout: 150_000 }, async (t) => {
  const before = await given();
  const watched = await Promise.all(['hls', 'shaka'].map(watch));
  const after = await given();
  for (const one of watched) console.log(JSON.stringify({ suite: 'encrypted', ...one }));
  for (const one of watched) {
    await t.test(one.player, () => {
      assert.deepEqual(one.errors, []);
      assert.deepEqual(one.stalls, [], 'the playhead never stands for more than 250 ms');
      assert.deepEqual(one.jumps, [], 'nothing is jumped over');
      for (const part of ['clear', 'first', 'second']) {
        assert.ok(one[part] >= READ_MIN, `frames of the ${part} part that were read: ${one[part]}`);
      }
      // The next period is announced when one begins, and each viewer asks for its key at an instant of their own.
      assert.ok(one.licences === 2 || one.licences === 3, `one licence for each period: ${one.licences}`);
    });
  }
  const licences = watched.reduce((sum, one) => sum + one.licences, 0);
  assert.equal(after.given - before.given, licences, 'the endpoint saw each viewer once a period');
  assert.equal(after.refused, before.refused, 'nothing was refused');
});
