/** Words and figures that an operator reads. Pure. */

import { lag } from '../format';
import type { Life, Match, Provider, RoleState, ScorerState } from './api';

/** What a state means: colours follow it, and words say it. */
export type Tone = 'good' | 'bad' | 'plain';

export interface Word {
  readonly words: string;
  readonly tone: Tone;
}

export const ROLES: Record<RoleState, Word> = {
  ready: { words: 'Ready', tone: 'good' },
  not_ready: { words: 'Not ready', tone: 'bad' },
  unreachable: { words: 'Does not answer', tone: 'bad' },
  unknown: { words: 'Not known', tone: 'plain' },
};

export const LIFE: Record<Life, Word> = {
  live: { words: 'Live', tone: 'good' },
  scheduled: { words: 'Scheduled', tone: 'plain' },
  final: { words: 'Over', tone: 'plain' },
  postponed: { words: 'Postponed', tone: 'plain' },
};

export const SCORERS: Record<ScorerState, Word> = {
  waiting: { words: 'Code not used yet', tone: 'plain' },
  open: { words: 'Page open', tone: 'good' },
  revoked: { words: 'Revoked', tone: 'plain' },
};

/** `3.9 s ago`, or what stands for never. */
export function ago(ms: number | null, never: string): string {
  return ms === null ? never : `${lag(ms / 1000)} ago`;
}

/** Whether the feeds of a match keep up (`feed_delayed`). */
export function punctual(match: Match): Word {
  if (match.delayed) return { words: 'Feeds delayed', tone: 'bad' };
  return match.ageMs === null ? { words: 'Nothing yet', tone: 'plain' } : { words: 'On time', tone: 'good' };
}

/** Gaps that are shown of one feed; there may be 32. */
const GAPS_SHOWN = 5;

/** `none`, or `3: 12–14, 20, 31–40`. */
export function gaps({ gaps, missing }: Provider): string {
  if (gaps === 0) return 'none';
  const shown = missing.slice(0, GAPS_SHOWN).map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return `${gaps}: ${shown.join(', ')}${gaps > shown.length ? ' …' : ''}`;
}

/**
 * What came, harmless to look at: control characters, and those that turn the writing direction, are written out as
 * `\u202e`, so that it cannot be made to look like something else.
 */
export function visible(said: string): string {
  return said.replace(
    /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Characters of what came that are shown at first. */
const START = 240;

/** The start of a text, cut between characters; null when that is all of it. */
export function start(said: string): string | null {
  return said.length <= START ? null : `${said.slice(0, START).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** `30 Nov, 14:03:27`, in the operator's time zone. */
export function moment(utcMs: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(utcMs);
}

/** The scorer's page of a match. */
export function scorerUrl(app: string | null, match: string): string {
  return `${app ?? ''}/score/${encodeURIComponent(match)}`;
}
