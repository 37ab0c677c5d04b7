// With each player: another rung, another language, back in the DVR and to live again, and the other player.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { match, open, settled, stats, until, watchUrl } from './browser.mjs';

/** Chooses in the settings as a viewer does. */
async function choose(page, group, label) {
  await page.keyboard.press('s');
  await page.getByRole('dialog').getByRole('group', { name: group }).getByLabel(label).check();
  await page.keyboard.press('Escape');
}

/** Frames go on coming. */
async function moving(page) {
  const { framesPresented } = await stats(page);
  await until('more frames', async () => (await stats(page)).framesPresented > framesPresented + 20);
}

for (const player of ['hls', 'shaka']) {
  test(`${player}: rung, language, DVR, other player`, { timeout: 240_000 }, async (t) => {
    const { page, errors, close } = await open();
    try {
      await page.goto(watchUrl(await match(), { player, profile: 'balanced' }));
      const start = await settled(page);

      await t.test('switches rung', async () => {
        assert.ok(start.levels.length > 1, 'there is more than one rung');
        const lowest = Math.min(...start.levels);
        await choose(page, 'Quality', new RegExp(`^${lowest}p`));
        await until('the lowest rung on screen', () =>
          page.evaluate((height) => document.querySelector('video').videoHeight === height, lowest),
        );
        await choose(page, 'Quality', 'Automatic');
        await moving(page);
      });

      await t.test('switches language', async () => {
        const other = start.audios.find((l) => l !== start.audio);
        assert.ok(other, 'there is more than one language');
        const name = new Intl.DisplayNames([other], { type: 'language' }).of(other);
        await choose(page, 'Commentary', name);
        await until(`commentary in ${other}`, async () => (await stats(page)).audio === other);
        await moving(page);
      });

      await t.test('goes back in the DVR, and returns to live', async () => {
        await page.evaluate(() => document.activeElement?.blur());
        const before = (await stats(page)).behindMs;
        for (let n = 0; n < 3; n += 1) await page.keyboard.press('ArrowLeft');
        const back = await until('picture from the past', async () => {
          const at = await stats(page);
          return at.state === 'playing' && at.behindMs > before + 15_000 ? at : null;
        });
        assert.equal(back.following, false);
        await moving(page);
        assert.equal(await page.getByRole('button', { name: 'Go live' }).isVisible(), true);
        await page.keyboard.press('l');
        const live = await settled(page);
        assert.equal(live.following, true);
      });

      await t.test('switches to the other player', async () => {
        const other = player === 'hls' ? 'shaka' : 'hls';
        await choose(page, 'Player', other === 'hls' ? 'hls.js' : 'Shaka Player');
        await until('the other player', async () => (await stats(page)).player === other);
        await settled(page);
      });

      assert.deepEqual(errors, [], 'uncaught errors in the page');
    } finally {
      await close();
    }
  });
}
