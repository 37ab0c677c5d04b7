// Twenty overs of a real match, entered on the scorer's page of a running Pavilion, with undo and corrections, without
// network for a while and over a reload, give the card of the record.
//
// Environment: PAVILION_URL; PAVILION_SCORER="match code", or PAVILION_SCORER_MATCH and the admin port in PAVILION_ADMIN
// (or as "admin" in the ports.json of PAVILION_VAR), where a code is made (neither: skipped); PAVILION_SHARED_DATA;
// SCORER_OVERS (20).

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { BASE, open, PHONE, screenshot, until } from './browser.mjs';
import { cricsheet, ofCard, Scorer, totals } from './scorer.mjs';

const OVERS = Number(process.env.SCORER_OVERS ?? 20);

/** Which match is scored by hand, and a code that opens its page once. */
async function given() {
  const [name, code] = (process.env.PAVILION_SCORER ?? '').split(' ');
  if (name && code) return { match: name, code };
  const ports = join(process.env.PAVILION_VAR ?? '', 'ports.json');
  const known = process.env.PAVILION_VAR && existsSync(ports) ? JSON.parse(readFileSync(ports, 'utf8')) : {};
  const admin = process.env.PAVILION_ADMIN ?? known.admin;
  const match = process.env.PAVILION_SCORER_MATCH ?? known.scorer_match;
  if (!admin || !match) return null;
  const answer = await fetch(new URL('/admin/scorer-codes', admin), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ match }),
  });
  if (!answer.ok) throw new Error(`POST /admin/scorer-codes: ${answer.status}`);
  return answer.json();
}

const record = cricsheet('1254117');
const opened = record ? await given() : null;
const skip = !record ? 'the record is not here' : !opened ? 'no match is scored by hand' : false;

async function card() {
  const path = `${BASE}/v1/matches/${encodeURIComponent(opened.match)}/play`;
  const { scores } = await (await fetch(path, { method: 'POST' })).json();
  const url = `${scores.base}/v1/matches/${encodeURIComponent(opened.match)}/card`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${scores.token}` } });
  return answer.ok ? (await answer.json()).card : null;
}

test(`${OVERS} overs of 1254117, by hand`, { skip, timeout: (OVERS * 30 + 120) * 1000 }, async () => {
  const { page, context, errors, close } = await open({ viewport: PHONE, isMobile: true, hasTouch: true });
  try {
    const scorer = new Scorer(page);
    await page.goto(`${BASE}/score/${encodeURIComponent(opened.match)}`);
    await scorer.open(opened.code);
    await scorer.begin(record);
    const entered = [];
    for (const { over, balls } of record.innings[0].overs.slice(0, OVERS)) {
      if (over === 4) {
        await until('the page is kept', () => page.evaluate(() => navigator.serviceWorker.controller !== null && caches.has('pavilion-scorer')));
        await context.setOffline(true);
      }
      if (over === 6) {
        await page.reload();
        await until('the page is back, without a network', async () => (await scorer.next()) !== null);
        await context.setOffline(false);
        await page.reload();
        await until('the page is back', async () => (await scorer.next()) !== null);
      }
      for (const ball of balls) {
        if (entered.length % 9 === 4) await scorer.mistaken(ball, entered.length);
        else await scorer.ball(ball);
        entered.push(ball);
      }
    }
    await screenshot(page, 'scorer-20-overs');
    await scorer.sent();
    const expected = totals(entered);
    const found = await until('the card of the record', async () => {
      const innings = (await card())?.innings[0];
      return innings && innings.runs === expected.runs && innings.wickets === expected.wickets ? innings : null;
    }, 30_000);
    assert.deepEqual(ofCard(found), expected);
    assert.deepEqual(errors, [], 'uncaught errors in the page');
  } finally {
    await close();
  }
});
