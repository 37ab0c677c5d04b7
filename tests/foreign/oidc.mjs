// A real OpenID Connect provider (`oidc-provider`) with one client, which asks for PKCE. Prints its issuer; each line on
// its standard input gives it new keys; it ends with its input.
//
//   node oidc.mjs CLIENT_ID CLIENT_SECRET REDIRECT_URI

import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import Provider from 'oidc-provider';

const [clientId, clientSecret, redirectUri] = process.argv.slice(2);

function keys() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: randomUUID() }];
}

// What it keeps is not its own, so that a new one with new keys goes on with the old one's codes.
const kept = new Map();

class Adapter {
  constructor(model) {
    this.model = model;
  }
  key(id) {
    return `${this.model}:${id}`;
  }
  async upsert(id, payload) {
    kept.set(this.key(id), payload);
  }
  async find(id) {
    return kept.get(this.key(id));
  }
  async findByUid(uid) {
    return [...kept].find(([key, { uid: its }]) => key.startsWith(this.key('')) && its === uid)?.[1];
  }
  async consume(id) {
    kept.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id) {
    kept.delete(this.key(id));
  }
  async revokeByGrantId(grant) {
    for (const [key, { grantId }] of kept) if (grantId === grant) kept.delete(key);
  }
}

function provide(issuer) {
  return new Provider(issuer, {
    adapter: Adapter,
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: keys() },
    cookies: { keys: ['of tests'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 600, Grant: 600, Session: 600 },
  }).callback();
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  let handle = provide(issuer);
  server.on('request', (request, response) => handle(request, response));
  console.log(JSON.stringify({ issuer }));
  const lines = createInterface({ input: process.stdin });
  lines.on('line', () => {
    handle = provide(issuer);
    console.log(JSON.stringify({ rotated: true }));
  });
  lines.on('close', () => process.exit());
});
