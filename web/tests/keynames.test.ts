import { expect, test } from 'vitest';
import {
  announced,
  askInMs,
  fromBase64Url,
  keysOfPssh,
  SPARE_MS,
  sessionKeys,
  toBase64Url,
  withoutKeys,
} from '../src/play/keynames';

const A = '2f05477fc24bb4faefd86517156daffc';
const B = '31d74f8c6797a44f017629188bac06be';

const media = `#EXTM3U
#EXT-X-DATERANGE:ID="key-${B}",CLASS="pavilion.key",START-DATE="2026-11-29T14:00:10.000Z",X-KEYID=0x${B}
#EXT-X-DATERANGE:ID="ad",CLASS="ad",START-DATE="2026-11-29T14:00:10.000Z",X-KEYID=0x${A}
#EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:,x",KEYID=0x${A},KEYFORMAT="org.w3.clearkey"
#EXTINF:1.92,
../v/8a.m4s
`;

test('playlists name keys', () => {
  const line = (format: string): string =>
    `#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="u",KEYID=0x${A.toUpperCase()},KEYFORMAT="${format}"`;
  expect(sessionKeys(`#EXTM3U\n${line('w')}\n${line('c')}\n`)).toEqual([A]);
  expect(sessionKeys(media)).toEqual([]);
  expect(announced(media)).toEqual([{ kid: B, fromMs: Date.UTC(2026, 10, 29, 14, 0, 10) }]);
  expect(announced('#EXT-X-DATERANGE:CLASS="pavilion.key",START-DATE="x",X-KEYID=0x12')).toEqual([]);
});

test('players see the same playlist in the clear', () => {
  expect(withoutKeys(media).split('\n')).toEqual(
    media.split('\n').filter((l) => !l.startsWith('#EXT-X-KEY')),
  );
  expect(withoutKeys(`#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES\n#EXTINF:1,\na`)).toBe('#EXTINF:1,\na');
});

test('a crowd that hears of a key at once does not ask for it at once', () => {
  const [heard, needed] = [1_000_000, 1_150_000];
  const asked = Array.from({ length: 1_000 }, (_, n) => askInMs(heard, needed, n / 999));
  expect(Math.min(...asked)).toBe(0);
  expect(Math.max(...asked)).toBe(needed - heard - SPARE_MS);
  // No second has more than its share.
  const seconds = new Map<number, number>();
  for (const ms of asked) seconds.set(Math.floor(ms / 1_000), (seconds.get(Math.floor(ms / 1_000)) ?? 0) + 1);
  expect(Math.max(...seconds.values())).toBeLessThanOrEqual(8);
  // Whoever hears late asks at once.
  for (const now of [needed - SPARE_MS, needed, needed + 5_000]) expect(askInMs(now, needed, 0.9)).toBe(0);
  expect(askInMs(heard, needed, 7)).toBe(needed - heard - SPARE_MS);
});

test('media names its keys', () => {
  const hex = (text: string): number[] => (text.match(/../g) ?? []).map((two) => Number.parseInt(two, 16));
  const box = (version: number, kids: string[]): number[] => {
    const body = [...hex('70737368'), version, 0, 0, 0, ...hex('1077efecc0b24d02ace33c1e52e2fb4b')];
    const rest = version === 1 ? [0, 0, 0, kids.length, ...kids.flatMap(hex)] : [];
    const all = [...body, ...rest, 0, 0, 0, 0];
    return [0, 0, 0, all.length + 4, ...all];
  };
  const bytes = (list: number[]): ArrayBuffer => new Uint8Array(list).buffer;
  expect(keysOfPssh(bytes([...box(0, []), ...box(1, [A, B]), ...box(1, [B])]))).toEqual([A, B]);
  expect(keysOfPssh(bytes(box(1, [A]).slice(0, -6)))).toEqual([]);
  expect(keysOfPssh(bytes([]))).toEqual([]);
  const lying = box(1, [A]);
  lying[31] = 200;
  expect(keysOfPssh(bytes(lying))).toEqual([A]);
});

test('names are written as ClearKey writes them', () => {
  expect(toBase64Url(A)).toBe('LwVHf8JLtPrv2GUXFW2v_A');
  expect(fromBase64Url('LwVHf8JLtPrv2GUXFW2v_A')).toBe(A);
  expect(fromBase64Url('LwVHf8JLtPrv2GUXFW2v_A==')).toBe('');
});
