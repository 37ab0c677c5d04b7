/** What playlists and media say of keys: names, and when they are needed. Pure. A key's name (kid) is 32 hexadecimal digits. */

/** The key of a later period (`EXT-X-DATERANGE` of class `pavilion.key`). */
export interface Announced {
  readonly kid: string;
  /** UTC, ms: media from then on has it. */
  readonly fromMs: number;
}

const KEY_LINE = /^#EXT-X-(?:SESSION-)?KEY:/;
const SESSION_KEY = /^#EXT-X-SESSION-KEY:.*\bKEYID=0x([0-9a-f]{32})/i;
const ANNOUNCEMENT = /^#EXT-X-DATERANGE:.*\bCLASS="pavilion\.key"/;

/** A segment or so before a key is needed it must be here, whatever chance says. Milliseconds. */
export const SPARE_MS = 2_000;

/** The keys that a multivariant playlist names: on air and announced. */
export function sessionKeys(playlist: string): string[] {
  const kids = playlist.split('\n').flatMap((line) => SESSION_KEY.exec(line)?.[1]?.toLowerCase() ?? []);
  return [...new Set(kids)];
}

/** The keys that a media playlist announces. */
export function announced(playlist: string): Announced[] {
  if (!playlist.includes('pavilion.key')) return [];
  return playlist.split('\n').flatMap((line) => {
    if (!ANNOUNCEMENT.test(line)) return [];
    const kid = /\bX-KEYID=0x([0-9a-f]{32})/i.exec(line)?.[1]?.toLowerCase();
    const fromMs = Date.parse(/\bSTART-DATE="([^"]+)"/.exec(line)?.[1] ?? '');
    return kid && Number.isFinite(fromMs) ? [{ kid, fromMs }] : [];
  });
}

/** For players that need not know: to them nothing is encrypted. */
export function withoutKeys(playlist: string): string {
  if (!playlist.includes('KEY:')) return playlist;
  const lines = playlist.split('\n');
  return lines.filter((line) => !KEY_LINE.test(line)).join('\n');
}

/**
 * How long to wait with the request for an announced key, ms: everybody hears of it in the same second, and each asks at an
 * instant of their own, `spread` (0 to 1) of the way to where it is needed.
 */
export function askInMs(nowMs: number, fromMs: number, spread: number): number {
  return Math.max(0, (fromMs - SPARE_MS - nowMs) * Math.min(1, Math.max(0, spread)));
}

/** The keys that `pssh` boxes of version 1 name (ISO/IEC 23001-7, 8.1), as media bring them. */
export function keysOfPssh(initData: ArrayBuffer): string[] {
  const view = new DataView(initData);
  const kids: string[] = [];
  let at = 0;
  // Size, `pssh`, version and flags, system, count.
  while (at + 32 <= view.byteLength) {
    const size = view.getUint32(at);
    if (size < 32 || at + size > view.byteLength) break;
    const count = view.getUint8(at + 8) === 1 ? view.getUint32(at + 28) : 0;
    for (let n = 0; n < count && 32 + 16 * (n + 1) <= size; n += 1) {
      const kid = new Uint8Array(initData, at + 32 + 16 * n, 16);
      kids.push(Array.from(kid, (byte) => byte.toString(16).padStart(2, '0')).join(''));
    }
    at += size;
  }
  return [...new Set(kids)];
}

/** As ClearKey writes names (W3C EME, 9.1.3): base64url without padding. */
export function toBase64Url(kid: string): string {
  const bytes = (kid.match(/../g) ?? []).map((two) => Number.parseInt(two, 16));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

/** And back. Empty for what is none. */
export function fromBase64Url(name: string): string {
  if (!/^[\w-]{22}$/.test(name)) return '';
  const bytes = atob(name.replaceAll('-', '+').replaceAll('_', '/'));
  return Array.from(bytes, (c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}
