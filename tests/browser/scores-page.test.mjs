// The score on the watch page, against a small ground of our own: the board keeps to the picture, corrections are
// shown, a lost stream is said and got over, key moments go back to the picture, and axe finds nothing.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { axe, DESKTOP, open, PHONE, screenshot, SMALL, stats, until } from './browser.mjs';
import { unexcused } from './machine.mjs';
import { board, scored, watchBalls } from './scores.mjs';
import { fake } from './scores-fake.mjs';

/** From the first frame with a new number to the board. */
const LATE_MS = 200;

let ground;
before(async () => {
  ground = await fake();
}, { timeout: 120_000 });
after(() => ground?.close());

const watchUrl = () => `${ground.url}/watch/demo?player=hls&profile=steady`;

async function playing(page) {
  await page.goto(watchUrl());
  await until('a picture', async () => (await stats(page))?.framesPresented > 10, 30_000);
  return scored(page);
}

function judge(found, where, balls) {
  console.log(JSON.stringify({ suite: 'scores-page', where, ...found, balls: found.balls.length }));
  assert.deepEqual(found.wrong, [], `${where}: early, or false`);
  assert.ok(found.balls.length >= balls, `${where}: only ${found.balls.length} balls were seen`);
  const late = unexcused('late boards', found.late.slice(1).filter(({ ms }) => ms > LATE_MS));
  assert.deepEqual(late, [], `${where}: late`);
}

test('the board agrees with the picture, live and back in the DVR', { timeout: 180_000 }, async (t) => {
  const { page, errors, close } = await open({ viewport: SMALL });
  try {
    await playing(page);
    await t.test('live', async () => judge(await watchBalls(page, 15), 'live', 5));
    await t.test('20 s behind', async () => {
      await page.evaluate(() => document.activeElement?.blur());
      const { behindMs } = await stats(page);
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('ArrowLeft');
      await until('behind', async () => (await stats(page)).behindMs > behindMs + 15_000 && (await stats(page)).state === 'playing');
      judge(await watchBalls(page, 15), '20 s behind', 5);
    });
    await t.test('a picture that stands has a board that stands', async () => {
      await page.keyboard.press(' ');
      await until('paused', () => page.evaluate(() => document.querySelector('video').paused));
      await until('the frame that it stands at', async () => {
        const at = await stats(page);
        return (await board(page)).text === ground.headline(at.venueMs).text;
      });
      const { text } = await board(page);
      // Balls are bowled meanwhile.
      const upgrades = Date.now() + 5_500;
      await until('time passes', () => Date.now() > upgrades, 10_000);
      assert.equal((await board(page)).text, text);
      await page.keyboard.press(' ');
    });
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

test('corrections are shown as corrections, and said', { timeout: 90_000 }, async () => {
  const { page, errors, close } = await open({ viewport: DESKTOP });
  try {
    await playing(page);
    const words = await until('a correction', async () => {
      const shown = page.locator('.scoreboard .corrected');
      return (await shown.isVisible()) ? shown.textContent() : null;
    }, 40_000);
    assert.match(words, /^Corrected: over \d+, ball \d/);
    await until('it is said', () => page.evaluate((w) => [...document.querySelectorAll('[role=status]')].some((e) => e.textContent === w), words), 2_000, 20);
    await screenshot(page, 'score-corrected');
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

test('a lost stream is said, and nothing is lost with it', { timeout: 120_000 }, async (t) => {
  const { page, errors, close } = await open({ viewport: SMALL });
  const state = async () => (await board(page)).state;
  try {
    await playing(page);
    await until('live', async () => (await state()) === 'live');

    await t.test('cut', async () => {
      ground.stream.up = false;
      ground.cut();
      await until('reconnecting', async () => (await state()) === 'reconnecting');
      await page.getByText('Reconnecting to the score').first().waitFor();
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      ground.stream.up = true;
      await until('live again', async () => (await state()) === 'live', 60_000);
      // What was missed has come: the board is that of the picture.
      judge(await watchBalls(page, 8), 'after a cut', 2);
    });

    await t.test('paused', async () => {
      ground.tell({ type: 'feed_paused', match_id: 'demo', reason: 'shard_lost', snapshot_url: '/v1/matches/demo/snapshot', retry_after_seconds: 1 });
      await until('reconnecting', async () => (await state()) === 'reconnecting');
      ground.tell({ type: 'feed_resumed', match_id: 'demo' });
      await until('live again', async () => (await state()) === 'live');
    });

    await t.test('a gap', async () => {
      const { cards } = ground.stream;
      ground.tell({ type: 'snapshot_required', match_id: 'demo', snapshot_url: '/v1/matches/demo/snapshot', cursor: '1f-0' });
      await until('a new card', () => ground.stream.cards > cards);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await scored(page);
      judge(await watchBalls(page, 8), 'after a gap', 2);
    });
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

test('where sockets do not get through, events or long-polls do', { timeout: 180_000 }, async (t) => {
  for (const way of ['sse', 'poll']) {
    await t.test(way, async () => {
      ground.stream.ways = [way];
      ground.stream.used.clear();
      const { page, errors, close } = await open({ viewport: SMALL });
      try {
        await playing(page);
        await until(`the ${way} stream is live`, async () => (await board(page)).state === 'live', 60_000);
        assert.deepEqual([...ground.stream.used], [way]);
        judge(await watchBalls(page, 8), way, 3);
        assert.deepEqual(errors, []);
      } finally {
        ground.stream.ways = ['ws', 'sse', 'poll'];
        await close();
      }
    });
  }
});

test('key moments go back to the picture, and tell nothing that was not seen', { timeout: 90_000 }, async () => {
  const { page, errors, close } = await open({ viewport: DESKTOP });
  try {
    await playing(page);
    await page.keyboard.press('b');
    await page.getByRole('tab', { name: 'Key moments' }).click();
    const first = page.locator('.moment').last();
    await first.waitFor();
    const { venueMs } = await stats(page);
    const times = await page.locator('.moment time').evaluateAll((all) => all.map((e) => Date.parse(e.dateTime)));
    assert.ok(times.length > 2);
    assert.ok(Math.max(...times) <= venueMs + 1_000, 'nothing that is still to come');
    const at = times.at(-3);
    await page.locator('.moment').nth(times.length - 3).click();
    await until('the picture is there', async () => Math.abs((await stats(page)).venueMs - at) < 8_000);
    await until('the board is of that moment', async () => {
      const now = await stats(page);
      return Number((await board(page)).ball) <= ground.headline(now.venueMs + 200).balls + 1;
    });
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.sheet').isVisible(), false);
    assert.deepEqual(errors, []);
  } finally {
    await close();
  }
});

const LOOKS = {
  'a phone': { viewport: PHONE, isMobile: true, hasTouch: true, colorScheme: 'dark' },
  'a phone in light': { viewport: PHONE, isMobile: true, hasTouch: true, colorScheme: 'light' },
  'a phone on its side': { viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true },
  'a desktop': { viewport: DESKTOP, colorScheme: 'dark' },
  'a desktop in light': { viewport: DESKTOP, colorScheme: 'light' },
  'a television': { viewport: { width: 1920, height: 1080 }, colorScheme: 'dark' },
};

for (const [look, options] of Object.entries(LOOKS)) {
  test(`the score on ${look}`, { timeout: 90_000 }, async () => {
    const { page, errors, close } = await open(options);
    try {
      await playing(page);
      await page.mouse.move(200, 200);
      await axe(page, look);
      await screenshot(page, `score-${look.replaceAll(' ', '-')}`);
      if (options.viewport !== PHONE) await page.keyboard.press('b');
      await page.locator('.scorecard table').first().waitFor();
      await axe(page, `${look}, with the card`);
      await page.getByRole('tab', { name: 'Card' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.locator('.moment').first().waitFor();
      await axe(page, `${look}, with key moments`);
      await screenshot(page, `score-${look.replaceAll(' ', '-')}-sheet`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
      assert.equal(wide, false, 'nothing is wider than the screen');
      assert.deepEqual(errors, []);
    } finally {
      await close();
    }
  });
}

test('without a picture the score is shown at once', { timeout: 60_000 }, async () => {
  const other = await fake({ picture: false });
  const { page, errors, close } = await open({ viewport: DESKTOP });
  try {
    await page.goto(`${other.url}/watch/demo`);
    await scored(page);
    await until('the newest', async () => (await board(page)).text === other.headline(Date.now() - 700).text || (await board(page)).text === other.headline(Date.now()).text);
    await screenshot(page, 'score-without-picture');
    assert.deepEqual(errors, []);
  } finally {
    await close();
    await other.close();
  }
});
