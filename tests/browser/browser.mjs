// A real Chromium for the suites of this folder, and the few things they all do with it.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { READERS } from './blockcode.mjs';
import { unexcused } from './machine.mjs';

// The viewer's package holds the tools, so that there is one install.
const tool = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = tool('playwright-core');

/** axe-core's source, to be put into pages. */
const AXE = tool.resolve('axe-core/axe.min.js');

/** The app under test, and how long each profile is watched. */
export const BASE = (process.env.PAVILION_URL ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
export const SECONDS = Number(process.env.SECONDS ?? 30);
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** axe finds nothing on the page once what slides in has come to rest: half seen, everything lacks contrast. */
export async function axe(page, where) {
  await page.evaluate(() => {
    const passing = document.getAnimations().filter((a) => a.effect?.getComputedTiming().endTime !== Infinity);
    return Promise.allSettled(passing.map((a) => a.finished)).then(() => {});
  });
  // The content security policy forbids foreign scripts; evaluate is not bound by it.
  await page.evaluate(await readFile(AXE, 'utf8'));
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const words = found.violations.map((v) => `${v.id}: ${v.help} (${v.nodes.map((n) => n.target).join('; ')})`);
  assert.deepEqual(words, [], `axe on ${where}`);
}

/** Where screenshots go: `out/` of the repository, which is not committed. */
export const OUT = new URL('../../out/', import.meta.url);

/** How Chromium is started, unless a suite says otherwise. */
export const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
];

export const DESKTOP = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
// Small: two shared cores decode in software, and the largest rung is not what these suites are about.
export const SMALL = { width: 640, height: 360 };

/** A page of a fresh browser; `close()` ends both and removes the profile. */
export async function open(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'pavilion-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    ignoreDefaultArgs: ['--headless', '--mute-audio'],
    viewport: SMALL,
    ...options,
  });
  const page = context.pages()[0] ?? (await context.newPage());
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  const slow = slowRequests(context);
  const close = async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { page, context, errors, slow, close };
}

/** Longer than any request is held while parts come: the reason of a stall, if it is the network's. */
const SLOW_MS = 2_500;

/** Requests that took longer than that or failed, as they end: `{ms, url, how}`. */
function slowRequests(context) {
  const slow = [];
  const begun = new WeakMap();
  const note = (request, how) => {
    const ms = Date.now() - (begun.get(request) ?? Date.now());
    if (ms > SLOW_MS || how) slow.push({ ms, url: request.url().split('/').slice(-2).join('/'), how });
  };
  context.on('request', (request) => begun.set(request, Date.now()));
  context.on('requestfinished', async (request) => {
    const status = (await request.response().catch(() => null))?.status() ?? 0;
    note(request, status >= 400 ? `${status}` : '');
  });
  context.on('requestfailed', (request) => note(request, request.failure()?.errorText ?? 'failed'));
  return slow;
}

/** The match to watch: `MATCH`, or the first that is live. */
export async function match() {
  if (process.env.MATCH) return process.env.MATCH;
  const answer = await fetch(`${BASE}/v1/matches`);
  if (!answer.ok) throw new Error(`GET /v1/matches: ${answer.status}`);
  const found = (await answer.json()).find((m) => m.live);
  if (!found) throw new Error('no match is live');
  return found.match;
}

export const watchUrl = (name, query = {}) =>
  `${BASE}/watch/${encodeURIComponent(name)}?${new URLSearchParams(query)}`;

export const stats = (page) => page.evaluate(() => window.pavilion?.stats() ?? null);

/** Waits until `ask` gives something true, and gives that. */
export async function until(what, ask, limitMs = 20_000, everyMs = 100) {
  const end = Date.now() + limitMs;
  let last;
  do {
    last = await ask();
    if (last) return last;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  } while (Date.now() < end);
  throw new Error(`not within ${limitMs} ms: ${what}`);
}

/** Frames come, near the place where the profile belongs: start-up is over. Gives the stats. */
export async function settled(page, limitMs = 30_000) {
  let at = null;
  try {
    return await until(
      'picture near the live position',
      async () => {
        at = await stats(page);
        if (at?.state === 'not-found') throw new Error('no such match');
        if (!at || at.state !== 'playing' || at.behindMs === null || at.delayMs === null) return null;
        // Whole segments arrive up to one segment after they began.
        const slack = at.profile === 'steady' ? 3_000 : 300;
        return at.framesPresented > 25 && at.behindMs < at.delayMs + at.holdBackMs + slack ? at : null;
      },
      limitMs,
    );
  } catch (error) {
    throw new Error(`${error.message}; ${JSON.stringify(at)}`);
  }
}

/**
 * Notes from now on how long the playhead stands, in milliseconds: a stall is a playhead that stands for more than
 * 250 ms. Measured as wall time that media time did not follow, so a busy page that looks late is no stall.
 */
export async function watchPlayhead(page) {
  await page.evaluate(() => {
    const video = document.querySelector('video');
    const stands = [];
    let [at, since] = [video.currentTime, performance.now()];
    const stood = (now) => now - since - (Math.max(0, video.currentTime - at) * 1000) / video.playbackRate;
    window.playheadStands = () => {
      const open = stood(performance.now());
      return open > 250 ? [...stands, { ms: Math.round(open), at: Date.now() }] : stands;
    };
    setInterval(() => {
      if (video.currentTime === at) return;
      const now = performance.now();
      const ms = stood(now);
      if (ms > 250) stands.push({ ms: Math.round(ms), at: Date.now() });
      [at, since] = [video.currentTime, now];
    }, 50);
  });
}

/** What {@link watchPlayhead} has noted, ms each, without what the machine is to blame for. */
export const stands = async (page) =>
  unexcused('stalls', await page.evaluate(() => window.playheadStands())).map(({ ms }) => ms);

export async function screenshot(page, name) {
  await mkdir(OUT, { recursive: true });
  await page.screenshot({ path: new URL(`${name}.png`, OUT).pathname });
}

/**
 * Watches for a while. Gives what the venue clock in the pixels says of each frame that could be read: the device's
 * clock minus the frame's, ms; and the same from the page's own figure.
 */
export async function watchFor(page, seconds) {
  // By evaluate, not by a script element: the page's content security policy forbids those, rightly.
  await page.evaluate(READERS);
  return page.evaluate(async (ms) => {
    const video = document.querySelector('video');
    const canvas = document.createElement('canvas');
    const pixels = [];
    const figures = [];
    const end = performance.now() + ms;
    // Every fifth frame: reading each would cost the decoder its time.
    for (let n = 0; performance.now() < end; n += 1) {
      await Promise.race([
        new Promise((resolve) => video.requestVideoFrameCallback(resolve)),
        new Promise((resolve) => setTimeout(resolve, 1_000)),
      ]);
      if (n % 5 !== 0) continue;
      const now = Date.now();
      const { ok, ms: venue } = window.readVenueMs(video, canvas);
      if (ok) pixels.push(now - venue);
      const { behindMs } = window.pavilion.stats();
      if (behindMs !== null) figures.push(behindMs);
    }
    return { pixels, figures };
  }, seconds * 1000);
}

/** The value below which the share `p` of the numbers lies. */
export function percentile(numbers, p) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))];
}
