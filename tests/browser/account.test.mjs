// The account, on two devices: registering by a code from the mail folder, the device limit at the door, devices that are
// logged out, logging out; home in three languages; and a page that is refused by an overloaded door keeps to its policy.
//
// Environment: PAVILION_URL; PAVILION_VAR, whose ports.json has "console", and which has the mails (without it: skipped).

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { axe, BASE, DESKTOP, open, PHONE, screenshot, until } from './browser.mjs';

const folder = process.env.PAVILION_VAR ?? '';
const file = join(folder, 'ports.json');
const ports = process.env.PAVILION_VAR && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const skip = ports.console ? false : 'there is no console';

const ON_PHONE = { viewport: PHONE, isMobile: true, hasTouch: true, colorScheme: 'dark' };
const FIREFOX = 'Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0';
const PASSWORD = 'a quiet evening at the ground';

async function operator(method, path, body) {
  const answer = await fetch(`${ports.console}/admin/arrival${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'pavilion-operator': 'test' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${await answer.text()}`);
}

/** A match that is sold, to be watched on one device at once. There is a door to it, and no picture. */
async function sell(id) {
  const start = Date.now() - 1_000;
  const title = 'The Paid Final';
  await operator('PUT', '/catalog', {
    pavilion_catalog: 1,
    documents: {
      plan: [{ id: `${id}-solo`, name: 'Solo', tier: 3, devices: 1 }],
      match: [{ id, title, titles: { hi: 'फ़ाइनल' }, status: 'live', start_ms: start, teams: ['A', 'B'] }],
      programme: [{ id: `${id}-main`, match: id, programme: 'main', title }],
      product: [{ id: `${id}-ticket`, name: 'Final ticket', plan: `${id}-solo`, matches: [id] }],
      right: [{ id: `${id}-everywhere`, matches: [id] }],
    },
  });
  await until('it is listed', async () => {
    const all = await (await fetch(`${BASE}/v1/matches`)).json();
    return all.some((m) => m.match === id && m.watchable);
  });
}

/** Other suites take what is live. */
async function withdraw(id) {
  for (const [kind, name] of [
    ['right', 'everywhere'],
    ['product', 'ticket'],
    ['programme', 'main'],
  ]) {
    await operator('DELETE', `/catalog/${kind}/${id}-${name}`);
  }
  await operator('DELETE', `/catalog/match/${id}`);
}

/** The code in the newest mail to an address. */
const code = (email) =>
  until(`a mail to ${email}`, async () => {
    const mails = join(folder, 'mail', 'new');
    for (const name of await readdir(mails)) {
      const mail = await readFile(join(mails, name), 'utf8');
      if (mail.includes(`To: ${email}`)) return /^ {4}([0-9A-Z]{8})\r?$/m.exec(mail)?.[1];
    }
    return null;
  });

const state = (page) => page.evaluate(() => document.querySelector('.watch')?.dataset.state);

test('home in three languages', { timeout: 60_000 }, async (t) => {
  const { page, errors, close } = await open({ ...ON_PHONE, locale: 'ta-IN' });
  const lang = () => page.evaluate(() => document.documentElement.lang);
  const heading = (name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  try {
    await t.test('the browser says which', async () => {
      await page.goto(`${BASE}/`);
      await heading('போட்டிகள்');
      await page.getByRole('link', { name: /நேரலை/ }).first().waitFor();
      assert.equal(await lang(), 'ta');
      await axe(page, 'home in Tamil');
      await screenshot(page, 'home-tamil');
    });
    await t.test('or the viewer, for good', async () => {
      await page.getByRole('button', { name: 'हिन्दी' }).click();
      await heading('मैच');
      assert.equal(await page.evaluate(() => document.activeElement.textContent), 'हिन्दी', 'the focus stays');
      await page.getByRole('link', { name: /लाइव/ }).first().waitFor();
      await screenshot(page, 'home-hindi');
      await page.reload();
      await heading('मैच');
      assert.equal(await lang(), 'hi');
      await page.getByRole('button', { name: 'English' }).click();
      await heading('Matches');
      assert.equal(await lang(), 'en');
    });
    await t.test('a remote finds a match first', async () => {
      await page.reload();
      await page.getByRole('link', { name: /Live/ }).first().waitFor();
      await page.keyboard.press('ArrowDown');
      assert.match(await page.evaluate(() => document.activeElement.className), /card/);
      await page.keyboard.press('ArrowUp');
      assert.equal(await page.evaluate(() => document.activeElement.closest('header') !== null), true);
    });
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

test('an account on two devices', { skip, timeout: 120_000 }, async (t) => {
  const id = `paid-${Date.now().toString(36)}`;
  const email = `${id}@example.org`;
  await sell(id);
  const phone = await open({ ...ON_PHONE, userAgent: FIREFOX });
  const desk = await open({ viewport: DESKTOP, colorScheme: 'light' });
  const { page } = phone;
  const watch = `${BASE}/watch/${id}`;
  const section = (of, name) => of.locator('section', { has: of.getByRole('heading', { name, exact: true }) });
  try {
    await t.test('who is nobody is asked to log in', async () => {
      await page.goto(watch);
      await page.getByText('Log in to watch this match.').first().waitFor();
      await page.getByRole('heading', { level: 1, name: 'The Paid Final' }).waitFor();
      await axe(page, 'a refusal');
      await screenshot(page, 'refused-log-in');
      await page.getByRole('link', { name: 'Log in', exact: true }).click();
      await page.getByRole('heading', { level: 2, name: 'Log in' }).waitFor();
      await axe(page, 'logging in');
      await screenshot(page, 'account-log-in');
    });

    await t.test('registers with the code from the mail', async () => {
      const part = section(page, 'New here, or forgot the password?');
      await part.getByLabel('E-mail address').fill(email);
      await part.getByRole('button', { name: 'Send me a code' }).click();
      await part.getByLabel('Code from the e-mail').fill('WRONG000');
      await part.getByLabel('New password').fill(PASSWORD);
      await screenshot(page, 'account-code');
      await part.getByRole('button', { name: 'Set the password and log in' }).click();
      await part.getByText('The code is not right').waitFor();
      await part.getByLabel('Code from the e-mail').fill(await code(email));
      await part.getByRole('button', { name: 'Set the password and log in' }).click();
      // Back to where they wanted to go; a ticket is another matter.
      await page.getByText('This match comes with Final ticket.').first().waitFor();
      assert.equal(page.url(), watch);
      const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
      assert.doesNotMatch(kept, /eyJ/, 'no token is where a script finds it');
      assert.doesNotMatch(await page.evaluate(() => document.cookie), /pavilion/);
    });

    await t.test('and watches with a ticket', async () => {
      const { account } = await page.evaluate(async () => (await fetch('/v1/identity/me')).json());
      const [from_ms, until_ms] = [Date.now() - 60_000, Date.now() + 3_600_000];
      await operator('POST', '/purchases', { id, account, product: `${id}-ticket`, from_ms, until_ms });
      await page.clock.install();
      await until('let in', async () => {
        await page.goto(watch);
        return until('an answer', async () => /not-started|refused/.exec((await state(page)) ?? '')?.[0]).then(
          (now) => now === 'not-started',
        );
      });
    });

    await t.test('one device too many is told which plays, stops it, and is let in', async () => {
      const { page: other } = desk;
      await other.goto(`${BASE}/account?to=${encodeURIComponent(`/watch/${id}`)}`);
      const part = section(other, 'Log in');
      await part.getByLabel('E-mail address').fill(email);
      await part.getByLabel('Password').fill('not the password');
      await part.getByRole('button', { name: 'Log in' }).click();
      await part.getByText('do not fit together').waitFor();
      await part.getByLabel('Password').fill(PASSWORD);
      await part.getByRole('button', { name: 'Log in' }).click();
      await other.getByText('One device is already watching.').first().waitFor();
      await screenshot(other, 'refused-devices-desktop');
      await other.setViewportSize(PHONE);
      await axe(other, 'one device too many on a phone');
      await screenshot(other, 'refused-devices-phone');
      await other.setViewportSize(DESKTOP);
      await other.getByRole('button', { name: 'Stop Firefox, Android' }).click();
      await until('let in', async () => (await state(other)) === 'not-started');
      // The other one hears of it with its next heartbeat.
      await page.clock.fastForward(31_000);
      await page.getByText('Watching was stopped here from another device.').first().waitFor();
      await page.getByRole('button', { name: 'Watch here' }).waitFor();
    });

    await t.test('profiles, streams and devices', async () => {
      await page.goto(`${BASE}/account`);
      await page.getByText(`Logged in as ${email}`).waitFor();
      const watching = section(page, 'Watching now').getByRole('listitem');
      await watching.filter({ hasText: 'The Paid Final' }).filter({ hasText: 'Chrome, Linux' }).waitFor();
      await page.getByText('Add a profile').click();
      await page.getByLabel('Name').fill('மாலா');
      await page.getByRole('button', { name: 'Add', exact: true }).click();
      const profile = page.getByRole('button', { name: 'மாலா', exact: true });
      await profile.click();
      await page.locator('.profile[aria-pressed=true]').waitFor();
      const devices = section(page, 'Devices').getByRole('listitem');
      await devices.filter({ hasText: 'this device' }).waitFor();
      assert.equal(await devices.count(), 2);
      await axe(page, 'the account');
      await page.evaluate(() => scrollTo(0, 0));
      await screenshot(page, 'account-phone');
      await page.getByRole('button', { name: 'Log out Chrome, Linux' }).click();
      await until('one device', async () => (await devices.count()) === 1);
      await desk.page.goto(`${BASE}/account`);
      await desk.page.getByRole('heading', { level: 2, name: 'Log in' }).waitFor();
      await axe(desk.page, 'logging in, in the light');
      await screenshot(desk.page, 'account-log-in-desktop');
    });

    await t.test('the account in Hindi and Tamil', async () => {
      for (const [name, title, picture] of [
        ['हिन्दी', 'खाता', 'account-hindi'],
        ['தமிழ்', 'கணக்கு', 'account-tamil'],
      ]) {
        await page.getByRole('button', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1, name: title }).waitFor();
        await page.locator('[data-device]').first().waitFor();
        await screenshot(page, picture);
      }
      await page.getByRole('button', { name: 'English' }).click();
    });

    await t.test('logs out', async () => {
      await page.getByRole('button', { name: 'Log out', exact: true }).click();
      await page.getByRole('heading', { level: 2, name: 'Log in' }).waitFor();
      const cookies = (await phone.context.cookies()).map((cookie) => cookie.name);
      assert.ok(!cookies.includes('pavilion_session') && !cookies.includes('pavilion_refresh'), cookies.join());
      await page.goto(watch);
      await page.getByText('Log in to watch this match.').first().waitFor();
    });
    assert.deepEqual([...phone.errors, ...desk.errors], []);
  } finally {
    await Promise.all([phone.close(), desk.close()]);
    await withdraw(id);
  }
});

test('a provider is offered, and knows the way back', { timeout: 30_000 }, async () => {
  const { page, close } = await open(ON_PHONE);
  try {
    const json = [{ name: 'club', start: '/v1/identity/oidc/club/start' }];
    await page.route('**/v1/identity/oidc', (route) => route.fulfill({ json }));
    const [asked] = await Promise.all([
      page.waitForRequest('**/v1/identity/oidc/club/start*'),
      page.goto(`${BASE}/account?to=/watch/demo`).then(() => page.getByRole('link', { name: 'Log in with club' }).click()),
    ]);
    assert.equal(new URL(asked.url()).searchParams.get('return'), '/account?to=%2Fwatch%2Fdemo');
  } finally {
    await close();
  }
});

test('under 503 with Retry-After the page keeps to its policy', { timeout: 60_000 }, async () => {
  const { page, close } = await open(ON_PHONE);
  const AFTER_S = 1;
  const asked = new Map();
  try {
    await page.route('**/v1/**', (route) => {
      const { pathname } = new URL(route.request().url());
      asked.set(pathname, [...(asked.get(pathname) ?? []), Date.now()]);
      const problem = { type: '/problems/busy', title: 'Very busy', detail: 'Busy.', status: 503 };
      const headers = { 'retry-after': String(AFTER_S), 'content-type': 'application/problem+json' };
      return route.fulfill({ status: 503, headers, body: JSON.stringify(problem) });
    });
    await page.goto(`${BASE}/`);
    const times = await until('three tries', () => {
      const all = asked.get('/v1/matches') ?? [];
      return all.length >= 3 ? all : null;
    });
    const gaps = times.slice(1).map((at, i) => at - times[i]);
    assert.ok(gaps.every((gap) => gap >= AFTER_S * 1000), `Retry-After was not waited for: ${gaps.join()} ms`);
    assert.ok([...asked.keys()].every((path) => path === '/v1/matches' || path === '/v1/advice'), [...asked.keys()].join());

    // Play says what it is, and goes on by itself when it can.
    await page.goto(`${BASE}/watch/${ports.match ?? 'demo'}`);
    await page.getByText('Very many people are arriving right now.').first().waitFor({ timeout: 30_000 });
    const plays = [...asked].find(([path]) => path.endsWith('/play'))?.[1] ?? [];
    assert.ok(plays.length <= 5, `${plays.length} tries of play`);
    await screenshot(page, 'refused-busy');
    await axe(page, 'a busy door');
    await page.unroute('**/v1/**');
    await page.getByRole('button', { name: 'Retry' }).click();
    await until('let in', async () => !['later', 'refused', 'failed', undefined].includes(await state(page)));
  } finally {
    await close();
  }
});
