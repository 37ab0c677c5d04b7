// The pages themselves: axe finds nothing, the keyboard reaches everything, and each looks right in its sizes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { axe, BASE, DESKTOP, match, open, PHONE, screenshot, settled, stats, until, watchUrl } from './browser.mjs';

const SIZES = {
  phone: { viewport: PHONE, isMobile: true, hasTouch: true },
  desktop: { viewport: DESKTOP },
};

for (const [size, options] of Object.entries(SIZES)) {
  test(`pages on a ${size}`, { timeout: 180_000 }, async (t) => {
    const { page, errors, close } = await open(options);
    const name = await match();
    try {
      await t.test('home', async () => {
        await page.goto(`${BASE}/`);
        await page.getByRole('link', { name: /Live/ }).first().waitFor();
        await axe(page, 'home');
        await screenshot(page, `home-${size}`);
      });

      await t.test('watch', async () => {
        await page.goto(watchUrl(name, { player: 'hls', profile: 'balanced' }));
        await settled(page, 60_000);
        await page.mouse.move(200, 200);
        await page.mouse.move(210, 210);
        await axe(page, 'watch');
        await screenshot(page, `watch-${size}`);
      });

      await t.test('settings', async () => {
        await page.keyboard.press('s');
        await page.getByRole('dialog', { name: 'Settings' }).waitFor();
        await axe(page, 'settings');
        await screenshot(page, `settings-${size}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
      });

      await t.test('no such match', async () => {
        await page.goto(watchUrl('no-such-match'));
        await page.getByText('There is no such match.').first().waitFor();
        await axe(page, 'an unknown match');
        await screenshot(page, `unknown-${size}`);
        await page.getByRole('link', { name: 'All matches' }).last().click();
        await page.getByRole('heading', { name: 'Matches' }).waitFor();
      });

      await t.test('goes on with what was watched', async () => {
        await page.getByRole('heading', { name: 'Continue' }).waitFor();
        await page.getByRole('link', { name: /Go on/ }).first().waitFor();
        await screenshot(page, `home-continue-${size}`);
        await page.goto(watchUrl(name, { player: 'hls', profile: 'balanced', at: String(Date.now() - 20_000) }));
        await until('where it was left', async () => {
          const { state, behindMs } = (await stats(page)) ?? {};
          return state === 'playing' && behindMs > 12_000;
        }, 60_000);
      });

      assert.deepEqual(errors, [], 'uncaught errors in the page');
    } finally {
      await close();
    }
  });
}

test('everything by keyboard', { timeout: 180_000 }, async (t) => {
  const { page, close } = await open({ viewport: DESKTOP });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  const slider = page.getByRole('slider', { name: 'Match time' });
  try {
    await t.test('from the list into the match', async () => {
      await page.goto(`${BASE}/?player=hls`);
      await page.getByRole('link', { name: /Live/ }).first().waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/watch\//);
      await settled(page, 60_000);
    });

    await t.test('space, k and m', async () => {
      const paused = () => page.evaluate(() => document.querySelector('video').paused);
      await page.keyboard.press(' ');
      await until('paused', paused);
      await page.keyboard.press('k');
      await until('playing', async () => !(await paused()));
      const muted = () => page.evaluate(() => document.querySelector('video').muted);
      const before = await muted();
      await page.keyboard.press('m');
      assert.equal(await muted(), !before);
      await page.keyboard.press('m');
      assert.equal(await muted(), before);
    });

    await t.test('a remote reaches the buttons and the bar', async () => {
      await page.keyboard.press('ArrowDown');
      assert.equal(await focused(), 'Pause');
      await page.keyboard.press('ArrowRight');
      assert.equal(await focused(), 'Forward 10 seconds');
      await page.keyboard.press('ArrowUp');
      assert.equal(await focused(), 'Match time');
      await page.keyboard.press('ArrowLeft');
      await until('behind live', async () => (await stats(page)).following === false);
      await until('words for it', async () => /behind live$/.test((await slider.getAttribute('aria-valuetext')) ?? ''));
      await page.keyboard.press('End');
      await until('live again', async () => (await stats(page)).following === true);
      await until('words for that', async () => /^Live/.test((await slider.getAttribute('aria-valuetext')) ?? ''));
    });

    await t.test('full screen and back', async () => {
      const full = () => page.evaluate(() => document.fullscreenElement !== null);
      await page.keyboard.press('f');
      await until('full screen', full);
      await page.keyboard.press('f');
      await until('not full screen', async () => !(await full()));
    });

    await t.test('Tab passes every control once', async () => {
      await page.evaluate(() => document.activeElement?.blur());
      const seen = [];
      for (let n = 0; n < 20; n += 1) {
        await page.keyboard.press('Tab');
        const at = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
        if (seen.includes(at)) break;
        seen.push(at);
      }
      for (const control of ['All matches', 'Match time', 'Pause', 'Settings', 'Full screen']) {
        assert.ok(seen.includes(control), `${control} is not among ${seen.join(', ')}`);
      }
    });
  } finally {
    await close();
  }
});
