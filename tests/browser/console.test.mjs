// The operators' console of a running Pavilion: roles, feeds, a dead letter with its reason, a code with which a scorer's
// page opens, and taking it back.
//
// Environment: PAVILION_VAR, whose ports.json has "console" (without it: skipped).

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { axe, DESKTOP, open, PHONE, screenshot, until } from './browser.mjs';

const file = join(process.env.PAVILION_VAR ?? '', 'ports.json');
const ports = process.env.PAVILION_VAR && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const skip = ports.console ? false : 'there is no console';

/** The status of a request with these fields, which no browser would let a page set. */
const status = (path, method, headers, body = '') =>
  new Promise((resolve, reject) => {
    const asked = request(new URL(path, ports.console), { method, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    asked.on('error', reject);
    asked.end(body);
  });

/** More than one page of dead letters. */
const RUBBISH = 30;

test('no stranger reaches the console', { skip }, async () => {
  const here = new URL(ports.console);
  const json = { 'content-type': 'application/json' };
  const body = JSON.stringify({ match: ports.scorer_match });
  for (const path of ['/', '/admin/overview', '/admin/scores/scorers', '/metrics']) {
    assert.equal(await status(path, 'GET', {}), 200, path);
    assert.equal(await status(path, 'GET', { host: `evil.example:${here.port}` }), 421, path);
  }
  for (const path of ['/admin/scores/scorer-codes', '/admin/purge']) {
    assert.equal(await status(path, 'POST', { ...json, origin: 'https://evil.example' }, body), 403, path);
  }
});

test('an operator at the console', { skip, timeout: 180_000 }, async (t) => {
  const { page, context, errors, close } = await open({ viewport: DESKTOP, colorScheme: 'light' });
  const go = async (name) => {
    const nav = page.getByRole('navigation', { name: 'Pages of the console' });
    await nav.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const makeCode = async () => {
    await page.getByLabel('Match', { exact: true }).selectOption(ports.scorer_match);
    const before = page.locator('.code');
    const old = (await before.count()) ? await before.locator('.big').textContent() : null;
    await page.getByRole('button', { name: 'Make a code' }).click();
    const code = await until('a new code', async () => {
      const shown = (await before.count()) ? await before.locator('.big').textContent() : null;
      return shown === old ? null : shown;
    });
    return { code, url: await before.getByRole('link').getAttribute('href') };
  };
  try {
    await t.test('sees which roles are ready', async () => {
      await page.goto(ports.console);
      for (const role of ['page, edge, shield, origin', 'pipeline a', 'pipeline b', 'ingest', 'shard', 'fanout']) {
        await page.locator(`[data-role="${role}"][data-state="ready"]`).waitFor();
      }
      await axe(page, 'overview');
      await screenshot(page, 'console-overview-desktop');
    });

    await t.test('sees the feeds of the match', async () => {
      await go('Feeds');
      const match = page.locator(`[data-match="${ports.match}"]`);
      for (const feed of ['push', 'wire']) {
        await match.getByRole('row').filter({ hasText: feed }).filter({ hasText: 'ago' }).waitFor({ timeout: 60_000 });
        await page.locator(`[data-provider="${feed}"]`).getByText('Asked for again').waitFor();
      }
      await axe(page, 'feeds');
      await screenshot(page, 'console-feeds-desktop');
    });

    await t.test('gives a scorer a code', async () => {
      await go('Scorers');
      const { code, url } = await makeCode();
      const phone = await context.newPage();
      await phone.goto(url);
      await phone.getByLabel('Code').fill(code);
      await phone.getByRole('button', { name: 'Open' }).click();
      await until('the scorer’s page is open', async () => {
        const next = await phone.locator('.scorer').getAttribute('data-next');
        return next !== null && next !== 'code';
      });
      await phone.close();
      await page.locator(`[data-scorer="${ports.scorer_match}"][data-state="open"]`).waitFor();
      await axe(page, 'scorers');
      await screenshot(page, 'console-scorers-desktop');
    });

    const feed = `${ports.feeds}/v1/feeds/scorer-${ports.scorer_match}`;
    const unique = `rubbish-${Date.now()}`;
    let token = '';
    const send = async (lines) =>
      fetch(feed, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
        body: lines.join('\n'),
      });

    await t.test('sees what a feed said that could not be taken, and why', async () => {
      const { code } = await makeCode();
      const opened = await fetch(`${ports.feeds}/v1/feeds/scorer/open`, {
        method: 'POST',
        body: JSON.stringify({ match: ports.scorer_match, code }),
      });
      assert.equal(opened.status, 200);
      token = (await opened.json()).token;
      await go('Dead letters');
      const lines = Array.from({ length: RUBBISH }, (_, n) => `${unique} ${n} \u202eturned ${'x'.repeat(n * 20)}`);
      const { rejected } = await (await send(lines)).json();
      assert.equal(rejected.length, RUBBISH);
      const newest = page.locator('.letter').first();
      await newest.getByText(`${unique} ${RUBBISH - 1} \\u202eturned`).first().waitFor();
      assert.equal(await newest.getByRole('heading').textContent(), rejected.at(-1).why);
      assert.match(await newest.locator('.figures').textContent(), new RegExp(`scorer-${ports.scorer_match}`));
      await axe(page, 'dead letters');
      await screenshot(page, 'console-letters-desktop');
      await page.getByRole('button', { name: 'Older' }).click();
      await page.getByText(`${unique} 0 \\u202eturned`).waitFor();
      await page.getByRole('button', { name: 'Newer' }).click();
      await newest.getByText(`${unique} ${RUBBISH - 1} `).first().waitFor();
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await newest.getByRole('button', { name: 'Copy what came' }).click();
      await until('it is copied, as it came', async () =>
        (await page.evaluate(() => navigator.clipboard.readText())) === lines.at(-1));
    });

    await t.test('takes a code back', async () => {
      await go('Scorers');
      const open = page.locator(`[data-scorer="${ports.scorer_match}"][data-state="open"]`);
      await open.first().waitFor();
      const before = await open.count();
      // By keyboard: the newest is the first.
      await open.first().getByRole('button', { name: /^Revoke/ }).focus();
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      await axe(page, 'a question');
      await dialog.getByRole('button', { name: 'Revoke' }).focus();
      await page.keyboard.press('Enter');
      await until('one fewer is open', async () => (await open.count()) === before - 1);
      assert.equal((await send([`${unique} again`])).status, 401);
    });

    await t.test('is told when ingest is away, and when it is back', async () => {
      const away = { title: 'Ingest is away', status: 502, detail: 'Ingest cannot be reached at its admin port.' };
      await page.route('**/admin/scores/**', (route) =>
        route.fulfill({ status: 502, contentType: 'application/problem+json', body: JSON.stringify(away) }));
      await go('Feeds');
      await page.getByText(away.detail).first().waitFor();
      await axe(page, 'ingest away');
      await screenshot(page, 'console-away-desktop');
      await page.unroute('**/admin/scores/**');
      await page.locator(`[data-match="${ports.match}"]`).waitFor();
      await page.locator('.notice').waitFor({ state: 'hidden' });
    });

    await t.test('on a phone, in the dark', async () => {
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'dark' });
      for (const [name, ready] of [['Overview', '[data-role]'], ['Feeds', '[data-match]'], ['Dead letters', '.letter'], ['Scorers', '[data-scorer]']]) {
        await go(name);
        await page.locator(ready).first().waitFor();
        await axe(page, `${name} on a phone`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, `${name} is not wider than a phone`);
        await screenshot(page, `console-${name.toLowerCase().replace(' ', '-')}-phone`);
      }
    });
    assert.deepEqual(errors, [], 'uncaught errors in the page');
  } finally {
    await close();
  }
});
