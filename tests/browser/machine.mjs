// Whether the machine did its part: what a viewer misses while all of it stands still, while it has more to do than it can, or
// while the ground itself is late, is no fault of the product. The evidence is taken independently of it. The same as tests/src/machine.rs, for suites in a browser.
//
// Environment: PAVILION_VAR, the folder with the run.log of the match (none: its ground is no evidence).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A watch that is woken this much later than it wants to be was on a machine that stood still, ms. */
const LATE_MS = 300;
/** Of each second somebody may wait for a processor so long by the kernel's count; more is a machine with more to do than it can. */
const PRESSED = 0.8;
/** Viewers may feel it for so long: the most that one is behind, and a restart that it made longer. */
const FELT_MS = 12_000;
/** What came of it may be dated before the watch has noted it. */
const BEFORE_MS = 2_000;
const PAUSES_MAX = 10_000;

// A thread of its own, so that a busy suite is not taken for a machine that stood still. The first place counts, the others hold ends.
const shared = new Float64Array(new SharedArrayBuffer(8 * (PAUSES_MAX + 1)));
const watch = `
  const { workerData: { shared, late, pressed, most } } = require('node:worker_threads');
  const { readFileSync } = require('node:fs');
  const waited = () => {
    try {
      return Number(/total=(\\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))[1]) / 1000;
    } catch {
      return 0;
    }
  };
  let [second, before] = [Date.now(), waited()];
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    const slept = Date.now();
    Atomics.wait(never, 0, 0, 20);
    const now = Date.now();
    let trouble = now - slept > 20 + late;
    if (now - second >= 1000) {
      const count = waited();
      trouble ||= count - before > pressed * (now - second);
      [second, before] = [now, count];
    }
    if (trouble && shared[0] < most) {
      shared[shared[0] + 1] = Date.now();
      shared[0] += 1;
    }
  }`;
new Worker(watch, { eval: true, workerData: { shared, late: LATE_MS, pressed: PRESSED, most: PAUSES_MAX } }).unref();

function lateGround() {
  if (!process.env.PAVILION_VAR) return [];
  let log;
  try {
    log = readFileSync(join(process.env.PAVILION_VAR, 'run.log'), 'utf8');
  } catch {
    return []; // Started by hand: its log went elsewhere.
  }
  const lines = log.split('\n').filter((line) => /ground: (late|stood still)/.test(line));
  return lines.map((line) => Date.parse(line.split(' ', 1)[0])).filter((at) => !Number.isNaN(at));
}

/**
 * Those of the things a viewer saw for which the machine is not to blame; the others are said.
 *
 * @template {{at: number, ms: number}} T `at`: when it was over, ms since 1970; `ms`: how long it had lasted by then
 * @param {string} what
 * @param {T[]} seen
 * @returns {T[]}
 */
export function unexcused(what, seen) {
  if (seen.length === 0) return seen;
  const trouble = [...shared.subarray(1, 1 + shared[0]), ...lateGround()];
  const excused = ({ at, ms }) => trouble.some((t) => t > at - ms - FELT_MS && t < at + BEFORE_MS);
  const rest = seen.filter((one) => !excused(one));
  if (rest.length < seen.length) {
    console.log(JSON.stringify({ excused_by_the_machine: what, count: seen.length - rest.length, trouble: trouble.length }));
  }
  return rest;
}
