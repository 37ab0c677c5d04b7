/** `Last-Event-ID` of several matches in one. Pure. */

import type { Wanted } from './messages';

/** `a:1f3a-412,b:…`: a match's name may hold colons, a cursor holds none. */
export function readLastEventId(text: string): Wanted[] {
  return text.split(',').flatMap((part) => {
    const colon = part.lastIndexOf(':');
    return colon > 0 ? [{ match: part.slice(0, colon), since: part.slice(colon + 1) }] : [];
  });
}

/** The same, written. Matches without a cursor are left out. */
export function writeLastEventId(wanted: readonly Wanted[]): string {
  return wanted.flatMap(({ match, since }) => (since === null ? [] : [`${match}:${since}`])).join(',');
}
