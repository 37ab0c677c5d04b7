/** Playlists with missing parts, rewritten to what each player gets over best. Pure. */

/** An empty `free` box (ISO/IEC 14496-12, 8.1.2): valid in any MP4 byte stream, and means nothing. */
const NOTHING = 'data:video/mp4;base64,AAAACGZyZWU=';

const GAP_PART = /^#EXT-X-PART:.*\bGAP=YES\b/;

/**
 * For Shaka Player. It answers a missing part with a change of rung, which has the same hole, and with waits. So to
 * Shaka a gap is a part of almost no bytes; the page's watchdog sees the hole in the buffer and jumps it.
 */
export function withoutGaps(playlist: string): string {
  if (!playlist.includes('GAP')) return playlist;
  let gap = false;
  const lines: string[] = [];
  for (const line of playlist.split('\n')) {
    if (line.trimEnd() === '#EXT-X-GAP') {
      gap = true;
    } else if (GAP_PART.test(line)) {
      lines.push(line.replace(/,?\bGAP=YES\b/, '').replace(/URI="[^"]*"/, `URI="${NOTHING}"`));
    } else if (gap && line !== '' && !line.startsWith('#')) {
      gap = false;
      lines.push(NOTHING);
    } else {
      lines.push(line);
    }
  }
  return lines.join('\n');
}

/**
 * For Shaka Player, of an encrypted match. It puts a hinted part behind the init segment of now, and the first of a segment may need
 * another one: where a clear lead ends the browser refuses it. So a segment's first part is asked for when it is listed.
 */
export function withoutFirstHints(playlist: string): string {
  return playlist.replace(/^#EXT-X-PRELOAD-HINT:.*\.0\.m4s".*\n?/m, '');
}

/**
 * For hls.js. After a hole it loads the next segment's first part and then, out of order, the whole segment before
 * it (the other pipeline's), upon which the browser drops frames up to the next keyframe: a second hole. Without
 * the list of a finished segment's parts it goes on from the next segment's first part. The list must stay while it
 * is the playlist's last: hls.js reads from it which part to ask for.
 */
export function withoutBrokenLists(playlist: string): string {
  if (!playlist.includes('GAP=YES')) return playlist;
  const segments: string[][] = [[]];
  for (const line of playlist.split('\n')) {
    segments.at(-1)?.push(line);
    if (line !== '' && !line.startsWith('#')) segments.push([]);
  }
  const isPart = (line: string): boolean => line.startsWith('#EXT-X-PART:');
  const last = segments.findLastIndex((lines) => lines.some(isPart));
  const kept = segments.map((lines, i) => {
    const broken = i < last && lines.some((line) => GAP_PART.test(line));
    return broken ? lines.filter((line) => !isPart(line)) : lines;
  });
  return kept.flat().join('\n');
}
