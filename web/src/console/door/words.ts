/** Words and figures of the door that an operator reads. Pure. */

import type { Word } from '../words';
import type { Area, Blackout, Document, Kind, Match, Panic, Right, Verdict } from './api';

export const KIND_WORDS: Record<Kind, { readonly many: string; readonly about: string }> = {
  language: { many: 'Languages', about: 'What is spoken. id is its tag: en, hi, pt-BR.' },
  plan: {
    many: 'Plans',
    about:
      'What a product comes with. Of several the highest tier counts. devices, height_max and languages may be left out: no limit.',
  },
  match: {
    many: 'Matches',
    about:
      'status is scheduled, live, final or postponed; start_ms is UTC in milliseconds. Optional: titles, league, cadence_s, home_region, replay_ttl_s, epoch, encrypted, languages.',
  },
  programme: { many: 'Programmes', about: 'A picture of a match. angle: not every plan has it.' },
  blackout: {
    many: 'Blackouts',
    about:
      'Where matches must not be shown, whatever the rights say. An area is a country, or those parts of it that it names: subdivisions, cities (geonames.org), postcodes, polygon. Optional: from_ms, until_ms.',
  },
  product: {
    many: 'Products',
    about: 'What is sold. Without matches and leagues it opens all. free: everybody has it.',
  },
  right: {
    many: 'Rights',
    about: 'Where and when matches may be shown. Without countries: everywhere. Optional: from_ms, until_ms.',
  },
};

/** What a new document begins as. */
export function template(kind: Kind, nowMs: number): Document {
  switch (kind) {
    case 'language':
      return { id: 'en', name: 'English' };
    case 'plan':
      return { id: '', name: '', tier: 1, devices: 2, height_max: 1080, ads: false, angles: true };
    case 'match':
      return { id: '', title: '', sport: '', teams: ['Home', 'Away'], status: 'scheduled', start_ms: nowMs };
    case 'programme':
      return { id: '', match: '', programme: 'main', title: '', angle: false };
    case 'blackout':
      return { id: '', name: '', matches: [''], areas: [{ country: 'IN', subdivisions: [] }] };
    case 'product':
      return { id: '', name: '', plan: '', matches: [''] };
    case 'right':
      return { id: '', matches: [''], countries: ['IN'], from_ms: nowMs, until_ms: nowMs + DAY_MS };
  }
}

const DAY_MS = 86_400_000;

/** What a document is called for people. */
export function called(document: Document): string {
  const { title, name, matches } = document;
  if (typeof title === 'string') return title;
  if (typeof name === 'string') return name;
  return Array.isArray(matches) ? matches.map(String).join(', ') : '';
}

/** `30 Nov 2026, 14:03`, in the operator's time zone. */
export function day(utcMs: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === undefined ? {} : { timeZone }),
  }).format(utcMs);
}

export interface Span {
  readonly fromMs: number | null;
  readonly untilMs: number | null;
}

/** `from 30 Nov 2026, 14:00, until 1 Dec 2026, 02:00`; `always`. */
export function span({ fromMs, untilMs }: Span, timeZone?: string): string {
  const parts: string[] = [];
  if (fromMs !== null) parts.push(`from ${day(fromMs, timeZone)}`);
  if (untilMs !== null) parts.push(`until ${day(untilMs, timeZone)}`);
  return parts.length === 0 ? 'always' : parts.join(', ');
}

export type When = 'now' | 'later' | 'over';

export function when({ fromMs, untilMs }: Span, nowMs: number): When {
  if (untilMs !== null && nowMs >= untilMs) return 'over';
  return fromMs !== null && nowMs < fromMs ? 'later' : 'now';
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** `India (IN)`. */
export function country(code: string): string {
  try {
    const name = countries.of(code);
    return name === undefined || name === code ? code : `${name} (${code})`;
  } catch {
    return code;
  }
}

/** Names of a list that are shown; there may be hundreds. */
const SHOWN_MAX = 12;

function few(names: readonly string[]): string {
  const left = names.length - SHOWN_MAX;
  return left > 0 ? `${names.slice(0, SHOWN_MAX).join(', ')} and ${left} more` : names.join(', ');
}

export function rightWhere({ countries }: Right): string {
  return countries === null ? 'Everywhere' : few(countries.map(country));
}

/** `India (IN): TN; postcodes 600…; an outline of 3 corners`. */
export function area({ country: code, subdivisions, cities, postcodes, corners }: Area): string {
  const parts: string[] = [];
  if (subdivisions.length > 0) parts.push(few(subdivisions));
  if (cities.length > 0) parts.push(`${cities.length === 1 ? 'city' : 'cities'} ${few(cities.map(String))}`);
  if (postcodes.length > 0) parts.push(`postcodes ${few(postcodes.map((code) => `${code}…`))}`);
  if (corners > 0) parts.push(`an outline of ${corners} corners`);
  return parts.length === 0 ? `all of ${country(code)}` : `${country(code)}: ${parts.join('; ')}`;
}

/** Who sees a match, as far as rights and blackouts go. */
export interface Showing {
  readonly match: Match;
  readonly rights: readonly Right[];
  readonly blackouts: readonly Blackout[];
  readonly now: Word;
}

export function showing(
  matches: readonly Match[],
  rights: readonly Right[],
  blackouts: readonly Blackout[],
  nowMs: number,
): readonly Showing[] {
  return matches.map((match) => {
    const of = <T extends { readonly matches: readonly string[] }>(all: readonly T[]): readonly T[] =>
      all.filter((one) => one.matches.includes(match.id));
    const own = { rights: of(rights), blackouts: of(blackouts) };
    return { match, ...own, now: shown(own.rights, own.blackouts, nowMs) };
  });
}

function shown(rights: readonly Right[], blackouts: readonly Blackout[], nowMs: number): Word {
  const open = rights.filter((right) => when(right, nowMs) === 'now');
  if (open.length === 0) {
    const later = rights.some((right) => when(right, nowMs) === 'later');
    return later ? { words: 'Not yet', tone: 'plain' } : { words: 'Shown nowhere', tone: 'bad' };
  }
  if (blackouts.some((blackout) => when(blackout, nowMs) === 'now'))
    return { words: 'Shown, with a blackout', tone: 'good' };
  return { words: 'Shown', tone: 'good' };
}

export function panicWord({ panic, lever }: Panic): Word {
  if (lever.positive === 'off') return { words: 'Nobody unchecked', tone: 'plain' };
  return panic ? { words: 'Panic', tone: 'bad' } : { words: 'Calm', tone: 'good' };
}

export const VERDICT_WORDS: Record<Verdict, Word> = {
  entitled: { words: 'Had paid', tone: 'good' },
  not_entitled: { words: 'Had not paid', tone: 'bad' },
  unverified: { words: 'Nobody knows', tone: 'plain' },
};
