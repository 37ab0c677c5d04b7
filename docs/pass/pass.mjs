// Pavilion's pass (a Common Access Token, CTA-5007) checked with WebCrypto: for CDN workers, njs and Node.js.
// Strict like the edge: what is not understood is refused. No renewal, no countries by part, no expressions.

const LEEWAY_S = 2;
const bytesOf = (text) => new TextEncoder().encode(text);

class Refused extends Error {}
const refuse = (reason) => {
  throw new Refused(reason);
};

/** The next CBOR item at `at.n`: numbers, bytes, text, arrays, maps (as Map), tags (as {tag, value}). */
function item(bytes, at, depth = 0) {
  if (depth > 8 || at.n >= bytes.length) refuse("malformed");
  const first = bytes[at.n++];
  const low = first & 31;
  let value = low;
  if (low > 27) refuse("malformed");
  if (low > 23) {
    value = 0;
    for (let left = 1 << (low - 24); left > 0; left--) value = value * 256 + (bytes[at.n++] ?? refuse("malformed"));
  }
  const take = () => {
    if (value > bytes.length - at.n) refuse("malformed");
    at.n += value;
    return bytes.subarray(at.n - value, at.n);
  };
  switch (first >> 5) {
    case 0:
      return value;
    case 1:
      return -1 - value;
    case 2:
      return take();
    case 3:
      return new TextDecoder("utf-8", { fatal: true }).decode(take());
    case 4:
      if (value > bytes.length - at.n) refuse("malformed");
      return Array.from({ length: value }, () => item(bytes, at, depth + 1));
    case 5: {
      if (value > bytes.length - at.n) refuse("malformed");
      const map = new Map();
      for (let n = 0; n < value; n++) {
        const key = item(bytes, at, depth + 1);
        if (map.has(key)) refuse("malformed");
        map.set(key, item(bytes, at, depth + 1));
      }
      return map;
    }
    case 6:
      return { tag: value, value: item(bytes, at, depth + 1) };
    default:
      return refuse("unsupported");
  }
}

function whole(bytes) {
  const at = { n: 0 };
  const read = item(bytes, at);
  return at.n === bytes.length ? read : refuse("malformed");
}

function cborBytes(bytes) {
  const { length } = bytes;
  const head = length < 24 ? [0x40 | length] : length < 256 ? [0x58, length] : [0x59, length >> 8, length & 255];
  return [...head, ...bytes];
}

const MATCHES = new Map([
  [0, (value, text) => value === text],
  [1, (value, text) => value.startsWith(text)],
  [2, (value, text) => value.endsWith(text)],
  [3, (value, text) => value.includes(text)],
]);

/** What each claim asks of a request; a claim that is not here is refused. */
const CLAIMS = new Map([
  [1, (iss, ask) => ask.issuers.includes(iss) || refuse("wrong_issuer")],
  [2, () => {}],
  [4, (exp, ask) => (typeof exp === "number" && ask.nowS < exp + LEEWAY_S) || refuse("expired")],
  [5, (nbf, ask) => (typeof nbf === "number" && ask.nowS >= nbf - LEEWAY_S) || refuse("not_yet")],
  [6, () => {}],
  [7, () => {}],
  [310, (version) => version === 1 || refuse("unsupported")],
  [312, (uri, ask) => {
    for (const [part, conditions] of uri) {
      if (part !== 3) refuse("unsupported");
      for (const [kind, text] of conditions) {
        const match = MATCHES.get(kind) ?? refuse("unsupported");
        if (typeof text !== "string" || !match(ask.path, text)) refuse("wrong_path");
      }
    }
  }],
  [313, (methods, ask) => methods.includes(ask.method) || refuse("wrong_method")],
  [316, (countries, ask) => (ask.country && countries.includes(ask.country)) || refuse("wrong_country")],
  [323, () => {}],
]);

/**
 * The reason why a pass is not taken, or null. `keys` is {kid: base64url secret}; `ask` is {method, path, country?,
 * issuers, nowS}, its path without the pass.
 */
export async function refusal(token, keys, ask) {
  try {
    const { value: mac0, tag } = whole(base64url(token));
    if (tag !== 61 || mac0?.tag !== 17 || !Array.isArray(mac0.value)) refuse("malformed");
    const [inside, outside, claims, mac, ...more] = mac0.value;
    const bytes = [inside, claims, mac].every((part) => part instanceof Uint8Array);
    if (!bytes || more.length > 0 || !(outside instanceof Map) || outside.size > 0) refuse("malformed");
    const header = whole(inside);
    if (header.get(1) !== 5 || header.size !== 2) refuse("unsupported");
    const secret = keys[new TextDecoder().decode(header.get(4))] ?? refuse("unknown_key");
    const key = await crypto.subtle.importKey("raw", base64url(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    const signed = [0x84, 0x64, ...bytesOf("MAC0"), ...cborBytes(inside), 0x40, ...cborBytes(claims)];
    if (!(await crypto.subtle.verify("HMAC", key, mac, new Uint8Array(signed)))) refuse("forged");
    const said = whole(claims);
    if (!said.has(1) || !said.has(4)) refuse("malformed");
    for (const [name, value] of said) (CLAIMS.get(name) ?? refuse("unsupported"))(value, ask);
    return null;
  } catch (error) {
    return error instanceof Refused ? error.message : "malformed";
  }
}

function base64url(text) {
  if (!/^[\w-]*$/.test(text) || text.length > 1_536) refuse("malformed");
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
}
