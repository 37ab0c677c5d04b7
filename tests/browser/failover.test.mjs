// Real playback while pipelines and their encoders are killed: ordinary playback goes on, low-latency playback is
// without a new frame for one segment at most.
//
// Environment: PAVILION_URL; PAVILION_VAR, the folder with the ports.json of that match (none: skipped);
// BROWSER_KILLS (4) for each player; PAVILION_SEED.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { match, open, settled, stands, stats, until, watchPlayhead, watchUrl } from './browser.mjs';
import { unexcused } from './machine.mjs';

const VAR = process.env.PAVILION_VAR;
const KILLS = Number(process.env.BROWSER_KILLS ?? 4);
const SEED = Number(process.env.PAVILION_SEED ?? Date.now()) >>> 0;
/** A stall is longer than this. */
const STALL_MS = 250;
/** A segment. */
const SEGMENT_MS = 1_920;
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

for (const [player, profile, most] of [
  ['hls', 'steady', STALL_MS],
  ['shaka', 'steady', STALL_MS],
  ['hls', 'live', SEGMENT_MS],
  ['shaka', 'live', SEGMENT_MS],
]) {
  const options = { skip: VAR ? false : 'PAVILION_VAR is not set', timeout: 90_000 + KILLS * 45_000 };
  test(`${player} plays ${profile} through ${KILLS} kills`, options, async () => {
    console.log(`PAVILION_SEED=${SEED}`);
    const random = numbers(SEED);
    const { page, errors, close } = await open();
    try {
      await page.goto(watchUrl(await match(), { player, profile }));
      await settled(page, 60_000);
      const from = Date.now();
      await watchPlayhead(page);
      for (let n = 0; n < KILLS; n += 1) {
        await new Promise((resolve) => setTimeout(resolve, random() * SEGMENT_MS));
        await kill(n % 2 ? 'b' : 'a', n % 4 === 1 || n % 4 === 2);
      }
      const end = await stats(page);
      const frameGaps = unexcused('frame gaps', end.stalls.filter((s) => s.at - s.ms > from)).map((s) => s.ms);
      // Ordinary playback has no stall; low-latency playback is judged by what is seen, new frames.
      const stalls = profile === 'steady' ? await stands(page) : frameGaps;
      const jumps = end.jumps.filter((j) => j.at > from).map((j) => j.ms);
      console.log(JSON.stringify({ suite: 'failover', player, profile, kills: KILLS, stalls, frame_gaps: frameGaps, jumps, errors: end.errors }));
      assert.deepEqual(errors, [], 'uncaught errors in the page');
      assert.equal(end.state, 'playing');
      assert.ok(stalls.every((ms) => ms <= most), `no stall longer than ${most} ms: ${stalls}`);
      // The picture goes on moving at the end.
      const frames = end.framesPresented;
      await until('new frames', async () => (await stats(page)).framesPresented > frames + 10, 10_000);
    } finally {
      await close();
    }
  });
}
