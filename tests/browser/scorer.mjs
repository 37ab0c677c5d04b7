// Enters a real match on the scorer's page, as a scorer with a phone does.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { until } from './browser.mjs';

/** A real match (Cricsheet), beside the checkout or where PAVILION_SHARED_DATA says; null, and says so, without it. */
export function cricsheet(id) {
  const beside = fileURLToPath(new URL('../../../shared/data', import.meta.url));
  const path = join(process.env.PAVILION_SHARED_DATA ?? beside, 'cricsheet', `${id}.json`);
  if (!existsSync(path)) {
    console.log(`skipped: there is no ${path} (set PAVILION_SHARED_DATA)`);
    return null;
  }
  const { info, innings } = JSON.parse(readFileSync(path, 'utf8'));
  return {
    ...info,
    innings: innings.map(({ team, overs }) => ({ team, overs: overs.map(({ over, deliveries }) => ({ over, balls: deliveries.map(ball) })) })),
  };
}

function ball({ batter, bowler, non_striker, runs, extras = {}, wickets = [] }) {
  return {
    batter, bowler, non_striker, runs: runs.batter, extras,
    wickets: wickets.map(({ kind, player_out, fielders = [] }) => ({ kind, player_out, fielders: fielders.map((f) => f.name) })),
  };
}

/** What the balls of an innings come to. */
export function totals(balls) {
  const sum = (of, f) => of.reduce((n, b) => n + f(b), 0);
  const extras = (b) => Object.values(b.extras ?? {}).reduce((n, x) => n + x, 0);
  const by = (name, of) => [...new Set(balls.flatMap(name))].map((who) => [who, of(who)]);
  const { wides, noballs } = { wides: (b) => b.extras?.wides ?? 0, noballs: (b) => b.extras?.noballs ?? 0 };
  return {
    runs: sum(balls, (b) => b.runs + extras(b)),
    wickets: sum(balls, (b) => b.wickets?.length ?? 0),
    deliveries: balls.length,
    extras: sum(balls, extras),
    batters: Object.fromEntries(by((b) => [b.batter, b.non_striker], (who) => {
      const faced = balls.filter((b) => b.batter === who);
      return [sum(faced, (b) => b.runs), faced.filter((b) => !wides(b)).length];
    })),
    bowlers: Object.fromEntries(by((b) => [b.bowler], (who) => {
      const bowled = balls.filter((b) => b.bowler === who);
      const taken = (b) => (b.wickets ?? []).filter((w) => (w.how ?? w.kind) !== 'run_out' && w.kind !== 'run out').length;
      return [sum(bowled, (b) => b.runs + wides(b) + noballs(b)), sum(bowled, taken), bowled.filter((b) => !wides(b) && !noballs(b)).length];
    })),
  };
}

/** The same of the server's card. */
export function ofCard({ runs, wickets, deliveries, extras, batters, bowlers }) {
  return {
    runs, wickets, deliveries, extras: extras.total,
    batters: Object.fromEntries(batters.map((b) => [b.name, [b.runs, b.balls]])),
    bowlers: Object.fromEntries(bowlers.map((b) => [b.name, [b.runs, b.wickets, b.balls]])),
  };
}

const LABELS = { caught: 'Caught', bowled: 'Bowled', lbw: 'LBW', 'run out': 'Run out', stumped: 'Stumped', 'hit wicket': 'Hit wicket', 'caught and bowled': 'Caught and bowled' };

export class Scorer {
  constructor(page) {
    this.page = page;
  }

  /** What is to be done next, by the page. */
  async next() {
    return this.page.locator('.scorer').getAttribute('data-next');
  }

  async waitFor(next) {
    await until(`the page asks for ${next}`, async () => (await this.next()) === next);
  }

  async open(code) {
    await this.page.getByLabel('Code').fill(code);
    await this.page.getByRole('button', { name: 'Open' }).click();
    await until('the page is open', async () => (await this.next()) !== 'code');
  }

  async begin(match) {
    const { page } = this;
    await this.waitFor('squads');
    for (const i of [0, 1]) {
      await page.locator(`#field-team${i}`).fill(match.teams[i]);
      await page.locator(`#field-players${i}`).fill(match.players[match.teams[i]].join('\n'));
    }
    await page.getByRole('button', { name: 'Go on to the toss' }).click();
    await this.waitFor('toss');
    await page.getByRole('group', { name: 'Who won the toss?' }).getByLabel(match.toss.winner).check();
    await page.getByRole('group', { name: 'They chose to' }).getByLabel(match.toss.decision === 'bat' ? 'Bat' : 'Field').check();
    await page.locator('#field-overs').fill(String(match.overs));
    await page.getByRole('button', { name: 'Start the match' }).click();
    await this.innings();
  }

  /** The innings that the page proposes. */
  async innings() {
    await this.waitFor('innings');
    await this.page.getByRole('button', { name: 'Start the innings' }).click();
  }

  pick(name) {
    return this.page.locator('.picks').getByRole('button', { name, exact: true }).first().click();
  }

  /** Who stands where, by the page. */
  async crease() {
    const names = await this.page.locator('.standing .crease .name').allTextContents();
    return names.map((n) => (n === '–' ? null : n));
  }

  async between(what) {
    const more = this.page.locator('#more');
    if ((await more.getAttribute('open')) === null) await more.locator('summary').click();
    await this.page.locator(`#more-${what}`).click();
  }

  /** Sees to it that those are at the crease who were. */
  async place({ batter, non_striker, bowler }) {
    for (let next = await this.next(); next !== 'ball'; next = await this.next()) {
      const [striker, other] = await this.crease();
      if (next === 'bowler') await this.pick(bowler);
      else if (next !== 'batters') throw new Error(`the page asks for ${next}`);
      else if (striker === null) await this.pick(other === batter ? non_striker : batter);
      else await this.pick(striker === batter ? non_striker : batter);
    }
    const [striker, , bowling] = await this.crease();
    if (striker !== batter) await this.between('swap');
    if (bowling !== bowler) {
      await this.between('bowler');
      await this.pick(bowler);
    }
  }

  async tap(ball) {
    const { page } = this;
    const { wides = 0, noballs = 0, byes = 0, legbyes = 0 } = ball.extras;
    const runs = wides ? wides - 1 : byes + legbyes || ball.runs;
    if (wides) await page.locator('#wide').click();
    if (noballs) await page.locator('#noball').click();
    if (byes) await page.locator('#byes').click();
    if (legbyes) await page.locator('#legbyes').click();
    const [wicket] = ball.wickets;
    if (!wicket) {
      await page.locator(`#runs-${runs}`).click();
      return;
    }
    await page.locator('#wicket').click();
    const dialog = page.getByRole('dialog', { name: 'Wicket' });
    const choose = (group, name) => dialog.getByRole('group', { name: group }).getByLabel(name, { exact: true }).check();
    await choose('How?', LABELS[wicket.kind]);
    await choose('Who is out?', wicket.player_out);
    if (wicket.fielders[0]) await choose('Fielder', wicket.fielders[0]);
    await dialog.getByLabel('Runs that count').fill(String(runs));
    await dialog.getByRole('button', { name: 'Record the wicket' }).click();
  }

  undo() {
    return this.page.locator('#undo').click();
  }

  async openEntered() {
    const entered = this.page.locator('#entered');
    if ((await entered.getAttribute('open')) === null) await entered.locator('summary').click();
  }

  /** Puts the runs of the last ball right. */
  async correct(runs) {
    const { page } = this;
    await this.openEntered();
    await page.locator('.entered').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^Runs/).fill(String(runs));
    await dialog.getByRole('button', { name: 'Correct it' }).click();
  }

  async ball(ball) {
    await this.place(ball);
    await this.tap(ball);
  }

  /** A ball entered with a mistake that is noticed at once: by turns undone, and corrected. */
  async mistaken(ball, n) {
    await this.place(ball);
    const plain = Object.keys(ball.extras).length === 0 && ball.wickets.length === 0;
    if (plain && n % 2) {
      await this.page.locator(`#runs-${ball.runs === 6 ? 0 : ball.runs + 1}`).click();
      await this.correct(ball.runs);
      return;
    }
    await this.page.locator('#noball').click();
    await this.page.locator('#runs-4').click();
    await this.undo();
    await this.place(ball);
    await this.tap(ball);
  }

  /** Everything has arrived. */
  async sent(limitMs = 30_000) {
    const { page } = this;
    await until('everything is sent', async () => {
      const { line, waiting } = await page.locator('.scorer').evaluate((e) => ({ ...e.dataset }));
      return line === 'sent' && waiting === '0';
    }, limitMs);
  }
}
