// The scorer's page against a feed of our own that goes away and loses statements: overs of a real match (a made-up
// one without the data) with mistakes, a reload, and everything arrives. axe finds nothing on any pane.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { axe, open, PHONE, screenshot, until } from './browser.mjs';
import { cricsheet, Scorer, totals } from './scorer.mjs';
import { fake } from './scores-fake.mjs';

const OVERS = Number(process.env.SCORER_PAGE_OVERS ?? 4);

const SQUAD = (team) => Array.from({ length: 11 }, (_, n) => `${team} ${n + 1}`);

/** Two overs with one of everything, for a checkout without the records. */
const MADE_UP = {
  teams: ['Ashes', 'Birches'],
  players: { Ashes: SQUAD('A'), Birches: SQUAD('B') },
  toss: { winner: 'Birches', decision: 'field' },
  overs: 20,
  innings: [{ team: 'Ashes', overs: [{ over: 0, balls: [
    one('A 1', 'A 2', 1), one('A 2', 'A 1', 4), one('A 2', 'A 1', 0, { wides: 2 }), one('A 1', 'A 2', 0, { legbyes: 1 }),
    { ...one('A 2', 'A 1', 0), wickets: [{ kind: 'caught', player_out: 'A 2', fielders: ['B 4'] }] },
    one('A 3', 'A 1', 6), one('A 3', 'A 1', 1, { noballs: 1 }), one('A 1', 'A 3', 2),
  ] }] }],
};

function one(batter, non_striker, runs, extras = {}) {
  return { batter, non_striker, bowler: 'B 1', runs, extras, wickets: [] };
}

/** What the statements that arrived come to: of each event the highest revision. */
function stated(lines) {
  const best = new Map();
  for (const line of lines) if ((best.get(line.event_id)?.revision ?? 0) < line.revision) best.set(line.event_id, line);
  const all = [...best.values()].sort((a, b) => a.event_id - b.event_id).map((l) => l.body);
  return totals(all.filter((b) => b.kind === 'delivery'));
}

test('a match by hand, with mistakes and a bad network', { timeout: (OVERS * 30 + 120) * 1000 }, async () => {
  const ground = await fake({ picture: false });
  const { page, context, errors, close } = await open({ viewport: PHONE, isMobile: true, hasTouch: true });
  const scorer = new Scorer(page);
  try {
    await page.goto(`${ground.url}/score/demo`);
    await axe(page, 'the code');
    await page.getByLabel('Code').fill('1111');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').filter({ hasText: 'not right' }).waitFor();
    await scorer.open('2468');
    await axe(page, 'the teams');
    const record = cricsheet('1254117') ?? MADE_UP;
    await scorer.begin(record);
    await scorer.waitFor('batters');
    await axe(page, 'a pick');
    const entered = [];
    for (const { over, balls } of record.innings[0].overs.slice(0, OVERS)) {
      if (over === 1) {
        await until('the page is kept', () => page.evaluate(() => navigator.serviceWorker.controller !== null && caches.has('pavilion-scorer')));
        await context.setOffline(true);
      }
      if (over === 2) {
        await page.reload();
        await until('the page is back, without a network', async () => (await scorer.next()) !== null);
        ground.feed.up = false;
        await context.setOffline(false);
        await page.reload();
        await until('the page is back', async () => (await scorer.next()) !== null);
        ground.feed.up = true;
        ground.feed.lose = 3;
      }
      for (const ball of balls) {
        if (entered.length % 6 === 4) await scorer.mistaken(ball, entered.length / 2);
        else await scorer.ball(ball);
        entered.push(ball);
        if (entered.length === 3) {
          await axe(page, 'the pad');
          await screenshot(page, 'scorer-pad');
        }
      }
    }
    ground.feed.up = true;
    await scorer.sent(60_000);
    assert.deepEqual(stated(ground.feed.lines.values()), totals(entered));
    const seqs = [...ground.feed.lines.keys()].sort((a, b) => a - b);
    assert.deepEqual(seqs, seqs.map((_, i) => i + 1), 'numbers without a hole');

    await scorer.openEntered();
    await page.locator('.entered').first().click();
    await axe(page, 'a correction');
    await screenshot(page, 'scorer-correct');
    await page.getByRole('button', { name: 'Cancel' }).click();
    assert.deepEqual(errors, [], 'uncaught errors in the page');

    // Another phone, with the same token but nothing else, goes on where this one is.
    const before = await page.locator('.scorer').getAttribute('data-score');
    await page.evaluate(() => {
      const key = 'pavilion.scorer.demo';
      const { token, feed } = JSON.parse(localStorage.getItem(key));
      const empty = { match: 'demo', squads: null, entries: [], acts: [], crease: { striker: null, nonStriker: null, bowler: null, over: 0 } };
      const outbox = { next: 1, acked: 0, lines: [], sent: 0, missing: [], rejected: [] };
      localStorage.setItem(key, JSON.stringify({ state: empty, outbox, token, feed }));
    });
    await page.reload();
    await until('the score is back', async () => (await page.locator('.scorer').getAttribute('data-score')) === before);
  } finally {
    await close();
    await ground.close();
  }
});
