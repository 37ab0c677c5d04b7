// What a visitor fetches before the chosen player, and each player, gzipped. Fails above the budget.

import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Bytes of the page, its script and its style, before the player that is chosen. */
const BUDGET = 60 * 1024;

/** Bytes of the scores client: what another page pays for it. */
const CLIENT_BUDGET = 10 * 1024;

const dist = new URL('../dist/', import.meta.url);
const size = (path) => gzipSync(readFileSync(new URL(path, dist)), { level: 9 }).length;

const html = readFileSync(new URL('index.html', dist), 'utf8');
const first = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((m) => m[1]);
const page = ['index.html', ...first].reduce((sum, path) => sum + size(path), 0);
process.stdout.write(`page ${page} bytes gzipped, of ${BUDGET}\n`);
for (const file of readdirSync(new URL('assets/', dist))) {
  if (!first.includes(`assets/${file}`)) process.stdout.write(`${file} ${size(`assets/${file}`)}\n`);
}
const client = size('scores.js');
process.stdout.write(`scores.js ${client} bytes gzipped, of ${CLIENT_BUDGET}\n`);
if (page > BUDGET || client > CLIENT_BUDGET) process.exitCode = 1;
