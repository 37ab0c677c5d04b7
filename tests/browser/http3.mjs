// Chromium comes to an edge over TCP, is told that it speaks HTTP/3, and goes on over that.
//
//   node http3.mjs https://NAME:PORT CERTIFICATE.pem, for an edge on this machine

import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { FLAGS, open, until } from './browser.mjs';

const [base, certificate] = process.argv.slice(2);
const { hostname } = new URL(base);
const key = new X509Certificate(await readFile(certificate)).publicKey.export({ type: 'spki', format: 'der' });
const { page, errors, close } = await open({
  args: [
    ...FLAGS.filter((flag) => flag !== '--disable-quic'),
    // Nobody vouches for the certificate but this.
    `--ignore-certificate-errors-spki-list=${createHash('sha256').update(key).digest('base64')}`,
    // Over QUIC such a certificate is accepted from hosts that are named here. The port is another, so that nothing
    // is forced: the way to HTTP/3 is what the edge says of it.
    `--origin-to-force-quic-on=${hostname}:1`,
    // QUIC takes the first address of a name, which for localhost is that of IPv6.
    `--host-resolver-rules=MAP ${hostname} 127.0.0.1`,
  ],
});

/** Fetches that many objects at once: what came, and by which protocols. */
const fetched = (round, count) =>
  page.evaluate(
    async ([round, count]) => {
      performance.clearResourceTimings();
      const paths = Array.from({ length: count }, (_, n) => `/object/${round}-${n}.m4s`);
      const bodies = await Promise.all(paths.map(async (path) => (await fetch(path)).text()));
      const entries = performance.getEntriesByType('resource');
      return { whole: bodies.every((body, n) => body.startsWith(paths[n])), bytes: bodies.join('').length, protocols: [...new Set(entries.map((entry) => entry.nextHopProtocol))] };
    },
    [round, count],
  );

try {
  await page.goto(`${base}/page.html`);
  const first = await page.evaluate(() => performance.getEntriesByType('navigation')[0].nextHopProtocol);
  assert.equal(first, 'h2');
  let round = 0;
  await until('HTTP/3', async () => {
    round += 1;
    const { whole, protocols } = await fetched(round, 4);
    assert.ok(whole);
    return protocols.length === 1 && protocols[0] === 'h3';
  });
  // Much at once, now that it is.
  const much = await fetched('much', 100);
  assert.deepEqual(much.protocols, ['h3']);
  assert.ok(much.whole);
  assert.deepEqual(errors, []);
  console.log(`h3 in round ${round}; then ${much.bytes} bytes of 100 objects`);
} finally {
  await close();
}
