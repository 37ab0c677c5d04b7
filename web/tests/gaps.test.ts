import { expect, test } from 'vitest';
import { withoutBrokenLists, withoutFirstHints, withoutGaps } from '../src/adapters/gaps';

const playlist = `#EXTM3U
#EXT-X-TARGETDURATION:2
#EXTINF:1.92,
../v/7a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:00:00.000Z
#EXT-X-GAP
#EXTINF:1.92,
../v/8a.m4s
#EXT-X-PART:DURATION=0.32,URI="../v/9a.0.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI="../v/9a.1.m4s",GAP=YES
#EXT-X-PART:DURATION=0.32,GAP=YES,URI="../v/9a.2.m4s"
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="../v/9a.3.m4s"
`;

test('gaps become parts of nothing, the rest and its order stay', () => {
  const out = withoutGaps(playlist);
  const nothing = 'data:video/mp4;base64,AAAACGZyZWU=';
  expect(out).toBe(`#EXTM3U
#EXT-X-TARGETDURATION:2
#EXTINF:1.92,
../v/7a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:00:00.000Z
#EXTINF:1.92,
${nothing}
#EXT-X-PART:DURATION=0.32,URI="../v/9a.0.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI="${nothing}"
#EXT-X-PART:DURATION=0.32,URI="${nothing}"
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="../v/9a.3.m4s"
`);
  expect(withoutGaps(out)).toBe(out);
});

test('what stands for nothing is one empty free box', () => {
  const bytes = Uint8Array.from(atob('AAAACGZyZWU='), (c) => c.charCodeAt(0));
  expect([...bytes]).toEqual([0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65]);
  expect(new DataView(bytes.buffer).getUint32(0)).toBe(bytes.length);
});

test('a finished list with gaps goes, unless it is the last', () => {
  const head = `#EXT-X-PART:DURATION=0.32,URI="../v/7a.0.m4s",INDEPENDENT=YES
#EXTINF:0.32,
../v/7a.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:00:00.320Z
#EXT-X-PART:DURATION=0.32,URI="../v/8a.0.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.32,URI="../v/8a.1.m4s",GAP=YES
`;
  const hint = '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="../v/9b.0.m4s"\n';
  const closed = `${head}#EXTINF:0.64,\n../v/8b.m4s\n`;
  expect(withoutBrokenLists(head + hint)).toBe(head + hint);
  expect(withoutBrokenLists(closed + hint)).toBe(closed + hint);
  const next = `${closed}#EXT-X-PART:DURATION=0.32,URI="../v/9b.0.m4s",INDEPENDENT=YES\n`;
  const out = withoutBrokenLists(next).split('\n');
  expect(next.split('\n').filter((line) => !out.includes(line))).toEqual([
    '#EXT-X-PART:DURATION=0.32,URI="../v/8a.0.m4s",INDEPENDENT=YES',
    '#EXT-X-PART:DURATION=0.32,URI="../v/8a.1.m4s",GAP=YES',
  ]);
});

test('the first part of a segment is not hinted at, and others are', () => {
  expect(withoutFirstHints(playlist)).toBe(playlist);
  const first = playlist.replace('9a.3.m4s', '10a.0.m4s');
  expect(withoutFirstHints(first)).toBe(playlist.replace(/#EXT-X-PRELOAD-HINT.*\n/, ''));
  expect(withoutFirstHints(playlist.replace('9a.3.m4s', '9a.10.m4s'))).toContain('PRELOAD-HINT');
});
