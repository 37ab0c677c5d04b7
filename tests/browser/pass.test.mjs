// A pass is renewed again and again while each player plays, and asked for anew when renewals end: nothing of it is seen.
//
// One JSON line for each to standard output. Environment: PAVILION_URL, PASS_LIFE_S (of the door: seconds), SECONDS, MATCH.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { match, open, SMALL, settled, stands, stats, until, watchPlayhead, watchUrl } from './browser.mjs';

const LIFE_S = Number(process.env.PASS_LIFE_S ?? 0);

/** Renewals that are watched, and the longest that may take: a pass is renewed in the last third of its life. */
const RENEWALS = 5;
const LIMIT_MS = (RENEWALS + 2) * LIFE_S * 1_000;

const skip = LIFE_S === 0 && 'PASS_LIFE_S is not set';

// Two viewers at a time, each with a browser of their own.
describe(`plays on while its pass is renewed ${RENEWALS} times`, { concurrency: true, skip }, () => {
  for (const player of ['hls', 'shaka']) test(player, { timeout: LIMIT_MS + 90_000 }, async () => {
    const { page, errors, slow, close } = await open({ viewport: SMALL });
    const refused = [];
    const passes = new Set();
    let plays = 0;
    page.on('response', (response) => {
      const path = new URL(response.url()).pathname;
      if (path.endsWith('/play')) plays += 1;
      if (!/\.(m3u8|m4s|mp4)$/.test(path)) return;
      passes.add(path.split('/')[1]);
      if (response.status() === 401 || response.status() === 403) refused.push(response.status());
    });
    try {
      await page.goto(watchUrl(await match(), { player, profile: 'balanced' }));
      await settled(page, 60_000);
      const first = (await stats(page)).passes;
      await watchPlayhead(page);
      await until('renewals', async () => (await stats(page)).passes >= first + RENEWALS, LIMIT_MS, 500);
      const end = await stats(page);
      const line = {
        suite: 'pass',
        player,
        life_s: LIFE_S,
        renewals: end.passes - first,
        passes: passes.size,
        plays,
        stalls: await stands(page),
        refused,
        errors: end.errors,
        slow,
      };
      console.log(JSON.stringify(line));
      assert.deepEqual(errors, [], 'uncaught errors in the page');
      assert.deepEqual(line.refused, [], 'no request is refused');
      assert.deepEqual(line.stalls, [], 'the playhead never stands for more than 250 ms');
      // The newest came a moment ago.
      assert.ok(passes.size >= RENEWALS, 'each pass stands in requests');
      assert.ok(plays >= 2, 'the door was asked again before renewals ended');
    } finally {
      await close();
    }
  });
});
