// Real playback while pipelines and their encoders are killed: ordinary playback goes on, low-latency playback is
// without a new frame for one segment at most.
//
// Environment: PAVILION_URL; PAVILION_VAR, the folder with the ports.json of that match (none: skipped);
// BROWSER_KILLS (4) for each profile; PAVILION_SEED.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { BASE, match, open, settled, stands, stats, until, watchPlayhead, watchUrl } from './browser.mjs';
import { unexcused } from './machine.mjs';

const VAR = process.env.PAVILION_VAR;
const KILLS = Number(process.env.BROWSER_KILLS ?? 4);
const SEED = Number(process.env.PAVILION_SEED ?? Date.now()) >>> 0;
const PLAYERS = ['hls', 'shaka'];
/** A stall is longer than this. */
const STALL_MS = 250;
/** A segment. */
const SEGMENT_MS = 1_920;
/** A first picture comes within this, with a hole where playing would begin. */
const PICTURE_MS = 6_000;
const HOLE_MS = 4_000;
/** A killed pipeline is back within this. */
const BACK_MS = 30_000;

/** Numbers from 0 to 1 that can be had again (mulberry32). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ports = () => JSON.parse(readFileSync(join(VAR, 'ports.json'), 'utf8'));

async function status() {
  const { origin, match, run } = ports();
  const answer = await fetch(`${origin}/${match}/${run}/main/status.json`);
  return answer.ok ? answer.json() : null;
}

/** The process of a pipeline, or of its encoder. */
function victim(letter, encoder) {
  const pipeline = ports().pids[letter];
  if (!encoder || !pipeline) return pipeline || null;
  const ffmpeg = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).find((pid) => {
    try {
      const [, name, rest] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      return name === 'ffmpeg' && Number(rest.split(' ')[1]) === pipeline;
    } catch {
      return false; // It has just ended.
    }
  });
  return ffmpeg ? Number(ffmpeg) : null;
}

async function kill(letter, encoder) {
  const pid = await until(`${letter}'s process`, () => victim(letter, encoder), BACK_MS);
  const { clock } = await status();
  process.kill(pid, 'SIGKILL');
  const newer = (track) => track[letter].alive && track[letter].last.msn > clock.msn + 1;
  await until(`${letter} back`, async () => (await status())?.tracks.every(newer), BACK_MS);
}

/** Whether who comes now would begin to play in a hole, when no part of a newer segment than the last whole one is there. */
async function holeAhead() {
  const { origin, match, run } = ports();
  const master = `${origin}/${match}/${run}/main/hls/master.m3u8`;
  const rung = (await (await fetch(master)).text()).split('\n').find((line) => line !== '' && !line.startsWith('#'));
  const lines = (await (await fetch(new URL(rung, master))).text()).split('\n');
  const [before, last] = lines.flatMap((line, n) => (line.startsWith('#EXTINF') ? [n] : [])).slice(-2);
  const isHole = lines.slice(0, before).findLast((line) => !line.startsWith('#EXT-X-P'))?.startsWith('#EXT-X-GAP');
  return isHole && !lines.slice(last).some((line) => line.startsWith('#EXT-X-PART:'));
}

/** A viewer from before the first kill to after the last; `kills` is told when the playhead is watched. */
async function watching(player, profile, most, kills) {
  const { page, errors, close } = await open();
  try {
    await page.goto(watchUrl(await match(), { player, profile }));
    await settled(page, 60_000);
    const from = Date.now();
    await watchPlayhead(page);
    await kills();
    const end = await stats(page);
    const frameGaps = unexcused('frame gaps', end.stalls.filter((s) => s.at - s.ms > from)).map((s) => s.ms);
    // Ordinary playback has no stall; low-latency playback is judged by what is seen, new frames.
    const stalls = profile === 'steady' ? await stands(page) : frameGaps;
    const jumps = end.jumps.filter((j) => j.at > from).map((j) => j.ms);
    console.log(JSON.stringify({ suite: 'failover', player, profile, kills: KILLS, stalls, frame_gaps: frameGaps, jumps, errors: end.errors }));
    assert.deepEqual(errors, [], `uncaught errors in the page of ${player}`);
    assert.equal(end.state, 'playing', player);
    assert.ok(stalls.every((ms) => ms <= most), `${player}: no stall longer than ${most} ms: ${stalls}`);
    // The picture goes on moving at the end.
    const frames = end.framesPresented;
    await until('new frames', async () => (await stats(page)).framesPresented > frames + 10, 10_000);
  } finally {
    await close();
  }
}

for (const [profile, most] of [
  ['steady', STALL_MS],
  ['live', SEGMENT_MS],
]) {
  const options = { skip: VAR ? false : 'PAVILION_VAR is not set', timeout: 120_000 + KILLS * 45_000 };
  test(`both players play ${profile} through ${KILLS} kills`, options, async () => {
    console.log(`PAVILION_SEED=${SEED}`);
    const random = numbers(SEED);
    let watched = 0;
    let begin;
    const all = new Promise((resolve) => {
      begin = resolve;
    }).then(async () => {
      for (let n = 0; n < KILLS; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, random() * SEGMENT_MS));
        await kill(n % 2 ? 'b' : 'a', n % 4 === 1 || n % 4 === 2);
      }
    });
    const kills = () => {
      watched += 1;
      if (watched === PLAYERS.length) begin();
      return all;
    };
    const viewer = async (player) => {
      try {
        await watching(player, profile, most, kills);
      } finally {
        begin(); // Who fails before the first kill leaves the other waiting for nobody.
      }
    };
    const seen = await Promise.allSettled(PLAYERS.map(viewer));
    assert.deepEqual(seen.filter(({ reason }) => reason).map(({ reason }) => String(reason)), []);
  });
}

test('who taps just behind a hole that both left is soon shown a picture', { skip: VAR ? false : 'PAVILION_VAR is not set', timeout: 240_000 }, async () => {
  const { page, errors, close } = await open();
  try {
    const card = `a[href="/watch/${await match()}"]`;
    const took = [];
    const holes = [];
    for (let n = 0; n < KILLS; n += 1) {
      await page.goto(`${BASE}/`);
      await until('the card', () => page.evaluate((card) => document.querySelector(card) !== null, card));
      const killed = Date.now();
      // So long a hole that parts from before it are not listed any more.
      for (const end = Date.now() + HOLE_MS; Date.now() < end; ) {
        for (const pid of ['a', 'b'].map((letter) => victim(letter, true))) if (pid) process.kill(pid, 'SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      await until('a hole where playing begins', holeAhead, BACK_MS, 20);
      const began = Date.now();
      await page.evaluate((card) => document.querySelector(card).click(), card);
      await until('a picture', async () => (await stats(page))?.framesPresented > 0, 30_000, 50);
      took.push({ ms: Date.now() - began, at: Date.now() });
      holes.push(killed + HOLE_MS / 2);
    }
    // Back into the hole, in the DVR: what is behind it is shown.
    for (const player of PLAYERS) {
      await page.goto(watchUrl(await match(), { player, profile: 'balanced', at: String(holes.at(-1)) }));
      const back = await until('the picture behind the hole', async () => {
        const { state, venueMs } = (await stats(page)) ?? {};
        return state === 'playing' && venueMs > holes.at(-1) && venueMs < holes.at(-1) + 15_000;
      });
      assert.ok(back, player);
    }
    console.log(JSON.stringify({ suite: 'failover', behind_a_hole: took.map(({ ms }) => ms) }));
    assert.deepEqual(unexcused('late pictures', took.filter(({ ms }) => ms > PICTURE_MS)), []);
    assert.deepEqual(errors, [], 'uncaught errors in the page');
  } finally {
    await close();
  }
});
