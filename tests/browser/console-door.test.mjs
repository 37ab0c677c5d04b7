// The operators' pages of the door: a catalog that is edited, refused, saved to a file and taken in again; who sees a match
// where; purchases; the lever of the panic; advice. All of it is about a match of this test's own, and everything that it
// makes or sets is taken back: the match on air stays as it was.
//
// Environment: PAVILION_VAR, whose ports.json has "console" (without it: skipped).

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { axe, DESKTOP, open, PHONE, screenshot, until } from './browser.mjs';

const file = join(process.env.PAVILION_VAR ?? '', 'ports.json');
const ports = process.env.PAVILION_VAR && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const skip = ports.console ? false : 'there is no console';

/** The door's admin API, asked without the page. */
const ask = async (method, path, body) => {
  const answer = await fetch(`${ports.console}/admin/arrival/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
};

const OPERATOR = 'asha';
/** What this test makes, each before what it names. */
const MADE = [
  ['right', 'door-test-right'],
  ['blackout', 'door-test-blackout'],
  ['product', 'door-test-season'],
  ['plan', 'door-test-plan'],
  ['match', 'door-test'],
];
const forget = async () => {
  for (const [kind, id] of MADE) await ask('DELETE', `catalog/${kind}/${id}`);
};

test('an operator at the door', { skip, timeout: 120_000 }, async (t) => {
  await forget();
  const { page, errors, close } = await open({ viewport: DESKTOP, colorScheme: 'light', acceptDownloads: true });
  const before = { panic: (await ask('GET', 'panic')).body.lever, advice: (await ask('GET', 'advice')).body };
  const go = async (name) => {
    const nav = page.getByRole('navigation', { name: 'Pages of the console' });
    await nav.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const dialog = page.locator('dialog.editor');
  const sure = (name) => page.locator('dialog:not(.editor)').getByRole('button', { name, exact: true }).click();
  const kind = (name) => page.getByLabel('Kind', { exact: true }).selectOption({ label: name });
  /** Writes a new document of the kind that is shown; its card. */
  const make = async (of, document) => {
    await page.getByRole('button', { name: 'New', exact: true }).click();
    await dialog.getByLabel('Document, as JSON').fill(JSON.stringify(document));
    await dialog.getByRole('button', { name: 'Save' }).click();
    const card = page.locator(`[data-document="${of}/${document.id}"]`);
    await card.waitFor();
    return card;
  };
  try {
    await t.test('edits the catalog, and is told what is not taken', async () => {
      await page.goto(ports.console);
      await page.getByLabel('Your name, for the history').fill(OPERATOR);
      await go('Catalog');
      await page.locator(`[data-document="match/${ports.match}"]`).waitFor();
      await axe(page, 'catalog');
      await screenshot(page, 'door-catalog-desktop');
      const match = { id: 'door-test', title: 'Door test', sport: 'rowing', status: 'live', start_ms: Date.now() };
      await page.getByRole('button', { name: 'New', exact: true }).click();
      const text = dialog.getByLabel('Document, as JSON');
      const save = dialog.getByRole('button', { name: 'Save' });
      await text.fill('{"id": ');
      await save.click();
      await dialog.getByRole('alert').filter({ hasText: 'This is not JSON' }).waitFor();
      await text.fill(JSON.stringify(match));
      await save.click();
      // In the door's own words.
      await dialog.getByRole('alert').filter({ hasText: "sport is 'rowing'; write cricket, football" }).waitFor();
      await axe(page, 'a refusal');
      await screenshot(page, 'door-refusal-desktop');
      await text.fill(JSON.stringify({ ...match, sport: '' }));
      await save.click();
      await page.locator('[data-document="match/door-test"]').waitFor();

      await kind('Plans');
      await make('plan', { id: 'door-test-plan', name: 'Door test', tier: 0 });
      await kind('Products');
      await make('product', { id: 'door-test-season', name: 'Door season', plan: 'door-test-plan', matches: ['door-test'] });
      await kind('Blackouts');
      const areas = [{ country: 'IN', subdivisions: ['TN'] }];
      await make('blackout', { id: 'door-test-blackout', name: 'Tamil Nadu', matches: ['door-test'], areas });
      await kind('Rights');
      await make('right', { id: 'door-test-right', matches: ['door-test'], countries: ['IN', 'GB'] });

      // What others name stays.
      await kind('Matches');
      await page.getByRole('button', { name: 'Edit match door-test' }).click();
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await sure('Delete');
      await dialog.getByRole('alert').filter({ hasText: "there is no match 'door-test'" }).waitFor();
      await text.fill(JSON.stringify({ ...match, sport: '', title: 'Door test, again' }));
      await save.click();
      await page.locator('[data-document="match/door-test"]').filter({ hasText: 'again' }).waitFor();
      await page.getByLabel('Find', { exact: true }).fill('again');
      await page.locator(`[data-document="match/${ports.match}"]`).waitFor({ state: 'detached' });
    });

    await t.test('saves all to a file, and takes it in once it is looked at', async () => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Save all to a file' }).click(),
      ]);
      const saved = JSON.parse(await readFile(await download.path(), 'utf8'));
      const own = saved.documents.match.find(({ id }) => id === 'door-test');
      assert.equal(own.title, 'Door test, again');
      const choose = (what) =>
        page.getByLabel('File to import').setInputFiles({
          name: 'catalog.json',
          mimeType: 'application/json',
          buffer: Buffer.from(typeof what === 'string' ? what : JSON.stringify(what)),
        });
      const look = page.getByRole('button', { name: 'Check', exact: true });
      const take = page.getByRole('button', { name: 'Import', exact: true }).first();
      const part = (document) => ({ pavilion_catalog: 1, documents: { match: [document] } });
      await choose(part({ ...own, start_ms: 12 }));
      await look.click();
      await page.getByRole('alert').filter({ hasText: 'write UTC in milliseconds' }).waitFor();
      assert.equal(await take.isDisabled(), true);
      await choose(part({ ...own, title: 'Door test, from a file' }));
      await look.click();
      await page.getByText('Documents to write: 1; to take away: 0').first().waitFor();
      assert.equal((await ask('GET', 'catalog/match/door-test')).body.title, own.title, 'so far it was only looked at');
      await screenshot(page, 'door-file-desktop');
      await take.click();
      await sure('Import');
      await page.getByText('Documents written: 1; taken away: 0').first().waitFor();
      assert.equal((await ask('GET', 'catalog/match/door-test')).body.title, 'Door test, from a file');
      await axe(page, 'a file');
    });

    await t.test('sees who sees a match, and where', async () => {
      await go('Rights');
      const card = page.locator('[data-match="door-test"]');
      await card.getByText('India (IN), United Kingdom (GB)').waitFor();
      await card.getByText('Tamil Nadu: India (IN): TN').waitFor();
      await card.getByText('Shown, with a blackout').waitFor();
      await axe(page, 'rights');
      await screenshot(page, 'door-rights-desktop');
    });

    await t.test('gives a purchase, and ends it', async () => {
      await go('Purchases');
      await page.getByLabel('Account', { exact: true }).fill('door-test-account');
      await page.getByLabel('Product', { exact: true }).selectOption('door-test-season');
      const until = page.getByLabel('Until', { exact: true });
      const good = await until.inputValue();
      await until.fill('2001-01-01T00:00');
      await page.getByRole('button', { name: 'Give', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'from_ms before until_ms' }).waitFor();
      await until.fill(good);
      await page.getByRole('button', { name: 'Give', exact: true }).click();
      const card = page.locator('[data-purchase="door-test-season"]');
      await card.getByText('Good now').waitFor();
      await axe(page, 'purchases');
      await screenshot(page, 'door-purchases-desktop');
      await card.getByRole('button', { name: 'End now: door-test-season' }).click();
      await sure('End');
      await page.getByText('door-test-account has nothing.').waitFor();
      assert.deepEqual((await ask('GET', 'purchases?account=door-test-account')).body, []);
    });

    await t.test('sets the lever of the panic, by keyboard, and sees it', async () => {
      await go('Panic');
      const state = page.getByRole('region', { name: 'State' });
      await state.getByText('Calm').waitFor();
      await page.getByText('Let in without a check', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Set', exact: true, disabled: false }).waitFor();
      await page.getByLabel(/^Off: nobody/).focus();
      await page.keyboard.press('Space');
      await page.getByLabel('Note, for other operators').fill('a test of the lever');
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Set', exact: true }).focus();
      await page.keyboard.press('Enter');
      await state.getByText('a test of the lever').waitFor();
      await state.getByText('Nobody unchecked').waitFor();
      const { lever } = (await ask('GET', 'panic')).body;
      assert.deepEqual([lever.positive, lever.negative, lever.by], ['off', false, OPERATOR]);
      await axe(page, 'panic');
      await screenshot(page, 'door-panic-desktop');
      await page.getByLabel(/^Found out/).check();
      await page.getByLabel('Note, for other operators').fill(before.panic.note);
      await page.getByRole('button', { name: 'Set', exact: true }).click();
      await sure('Set');
      await state.getByText('Calm').waitFor();
    });

    await t.test('advises clients, within bounds', async () => {
      await go('Advice');
      const least = page.getByLabel('Least wait, ms');
      await least.fill('1');
      const set = page.getByRole('button', { name: 'Set', exact: true });
      await set.click();
      await page.getByRole('alert').filter({ hasText: 'base_ms must be from 50' }).waitFor();
      await least.fill('750');
      await page.getByLabel(/^Features that are off/).fill('moments, recommendations');
      await set.click();
      await page.getByText('The advice is set.').first().waitFor();
      const { body } = await ask('GET', 'advice');
      assert.deepEqual([body.back_off.base_ms, body.off], [750, ['moments', 'recommendations']]);
      await axe(page, 'advice');
      await screenshot(page, 'door-advice-desktop');
    });

    await t.test('reads in the history who did it', async () => {
      await go('History');
      const change = page.locator('[data-change="lever/panic"]').first();
      await change.locator('.figures').getByText(OPERATOR).waitFor();
      await change.getByText('Before and after').click();
      const after = change.getByRole('group', { name: 'After', exact: true });
      await after.filter({ hasText: '"positive": "auto"' }).waitFor();
      await page.locator('[data-change="catalog/right/door-test-right"]').first().waitFor();
      await axe(page, 'history');
      await screenshot(page, 'door-history-desktop');
    });

    await t.test('on a phone, in the dark', async () => {
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'dark' });
      const pages = [
        ['Catalog', '[data-document]'],
        ['Rights', '[data-match="door-test"]'],
        ['Purchases', '#product option'],
        ['Panic', '[data-panic]'],
        ['Advice', '#base'],
        ['History', '[data-change]'],
      ];
      for (const [name, ready] of pages) {
        await go(name);
        await page.locator(ready).first().waitFor({ state: 'attached' });
        await axe(page, `${name} on a phone`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, `${name} is not wider than a phone`);
        await screenshot(page, `door-${name.toLowerCase()}-phone`);
      }
    });
    assert.deepEqual(errors, [], 'uncaught errors in the page');
  } finally {
    const { positive, negative, note } = before.panic;
    await ask('PUT', 'panic', { positive, negative, note });
    await ask('PUT', 'advice', before.advice);
    await forget();
    await close();
  }
  await until('nothing of it is left', async () => (await ask('GET', 'catalog/match/door-test')).status === 404);
});
