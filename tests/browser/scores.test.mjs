// Picture and scoreboard agree at every ball: the number that is burned into the picture and the one on the board,
// at the live edge in low-latency mode and 20 s behind in the DVR. A correction is shown as a correction.
//
// Environment: PAVILION_URL, MATCH, SCORE_SECONDS (SECONDS x 4) for each place.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BASE, match, open, SECONDS, screenshot, settled, stats, until, watchUrl } from './browser.mjs';
import { unexcused } from './machine.mjs';
import { board, scored, watchBalls } from './scores.mjs';

const WATCH_S = Number(process.env.SCORE_SECONDS ?? SECONDS * 4);
/** From the first frame with a new number to the board. */
const LATE_MS = 200;

/** Whether the match has a score at all. */
async function hasScores(name) {
  const answer = await fetch(`${BASE}/v1/matches/${encodeURIComponent(name)}/play`, { method: 'POST' });
  return answer.ok && (await answer.json()).scores != null;
}

function judge(found, where) {
  console.log(JSON.stringify({ suite: 'scores', where, ...found, balls: found.balls.length }));
  assert.deepEqual(found.wrong, [], `${where}: early, or false`);
  assert.ok(found.balls.length > WATCH_S / 60, `${where}: only ${found.balls.length} balls were seen`);
  assert.ok(found.frames > found.unread, `${where}: ${found.unread} frames could not be read`);
  assert.ok(found.frames > 2 * found.repeats, `${where}: ${found.repeats} of ${found.frames} frames are not of their time`);
  // The first is the one that stood when the watching began.
  const late = unexcused('late boards', found.late.slice(1).filter(({ ms }) => ms > LATE_MS));
  assert.deepEqual(late, [], `${where}: late`);
}

const name = await match();
const skip = (await hasScores(name)) ? false : 'this match has no score';

// Two viewers of the same balls, each with a browser of their own.
describe('the board agrees with the picture', { concurrency: true, skip }, () => {
  for (const player of ['hls', 'shaka']) {
    test(`${player}: the board agrees with the picture`, { timeout: (WATCH_S * 2 + 180) * 1000 }, async (t) => {
      const { page, errors, close } = await open();
      try {
        await page.goto(watchUrl(name, { player, profile: 'live' }));
        await settled(page, 60_000);
        await scored(page);

        await t.test('live', async () => judge(await watchBalls(page, WATCH_S), `${player} live`));

        await t.test('20 s behind', async () => {
          await page.evaluate(() => document.activeElement?.blur());
          const { behindMs } = await stats(page);
          await page.keyboard.press('ArrowLeft');
          await page.keyboard.press('ArrowLeft');
          await until('20 s behind', async () => {
            const at = await stats(page);
            return at.state === 'playing' && at.behindMs > behindMs + 15_000;
          });
          judge(await watchBalls(page, WATCH_S), `${player} 20 s behind`);
        });

        await t.test('back at the live edge, nothing of the past stays', async () => {
          await page.keyboard.press('l');
          await settled(page);
          judge(await watchBalls(page, Math.max(10, WATCH_S / 4)), `${player} live again`);
          await screenshot(page, `score-${player}`);
        });

        assert.deepEqual(errors, [], 'uncaught errors in the page');
      } finally {
        await close();
      }
    });
  }
});

test('the board and the card of the server say the same', { skip, timeout: 120_000 }, async () => {
  const { page, errors, close } = await open();
  try {
    await page.goto(watchUrl(name, { player: 'hls', profile: 'steady' }));
    await settled(page, 60_000);
    await scored(page);
    const play = await (await fetch(`${BASE}/v1/matches/${encodeURIComponent(name)}/play`, { method: 'POST' })).json();
    for (let n = 0; n < 5; n += 1) {
      // The board between two looks at the picture: if they are the same, it is the board of that moment.
      const before = await stats(page);
      const shown = await board(page);
      const url = `${play.scores.base}/v1/matches/${encodeURIComponent(name)}/card?at=${Math.floor(before.venueMs)}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${play.scores.token}` } });
      assert.equal(answer.status, 200);
      const { score } = await answer.json();
      const after = await board(page);
      if (after.text === shown.text) assert.equal(shown.text, score.text);
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});
