/** Words and figures that a viewer reads. Pure. */

import type { Rung, Track } from './play/adapter';
import { language, locale, t } from './words';

/** `3.9 s`, `48 s`, `2 min 05 s`, `1 h 02 min`: as precise as is useful at that size. */
export function lag(seconds: number): string {
  const { h, min, s } = t.units;
  const exact = Math.max(0, seconds);
  if (exact < 9.95) return `${exact.toFixed(1)} ${s}`;
  const whole = Math.round(exact);
  if (whole < 60) return `${whole} ${s}`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} ${min} ${two(whole % 60)} ${s}`;
  return `${Math.floor(minutes / 60)} ${h} ${two(minutes % 60)} ${min}`;
}

/** The same for a screen reader: whole words, no decimals. */
export function spokenLag(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  const said = (n: number, unit: string): string =>
    new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(n);
  const add = (n: number, unit: string): void => {
    if (n > 0) parts.push(said(n, unit));
  };
  add(Math.floor(whole / 3600), 'hour');
  add(Math.floor(whole / 60) % 60, 'minute');
  if (whole < 3600) add(whole % 60, 'second');
  return parts.join(' ') || said(0, 'second');
}

/** `12:04` or `1:02:04`, for lengths. */
export function length(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const tail = `${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return whole < 3600 ? tail.replace(/^0/, '') : `${Math.floor(whole / 3600)}:${tail}`;
}

/** The wall clock, in the viewer's time zone: `14:03:27`. */
export function wallClock(utcMs: number, timeZone?: string): string {
  const options: Intl.DateTimeFormatOptions = {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  return new Intl.DateTimeFormat('en-GB', options).format(utcMs);
}

/** A day and a time, as one says it where the viewer's language is spoken: `Tue, 1 Dec, 19:30`. */
export function dayAndTime(utcMs: number): string {
  const options = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
  } as const;
  return new Intl.DateTimeFormat(locale, options).format(utcMs);
}

/** The time of day: `7:30 pm`. */
export function timeOfDay(utcMs: number): string {
  return new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }).format(utcMs);
}

/** `a, b or c`. */
export function either(names: readonly string[]): string {
  return new Intl.ListFormat(language, { type: 'disjunction' }).format(names);
}

/** A country by its ISO 3166-1 code. */
export function countryName(code: string): string {
  try {
    return new Intl.DisplayNames([language], { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** `720p`, `720p50`, with megabits a second when two rungs would read alike. */
export function rungName(rung: Rung, all: readonly Rung[]): string {
  const fast = rung.frameRate > 31 ? String(Math.round(rung.frameRate)) : '';
  const name = rung.height > 0 ? `${rung.height}p${fast}` : bits(rung.bandwidth);
  const alike = all.filter((r) => r.height === rung.height && r.height > 0).length > 1;
  return alike ? `${name} · ${bits(rung.bandwidth)}` : name;
}

/** `2.4 Mbit/s`, `380 kbit/s`. */
export function bits(perSecond: number): string {
  return perSecond >= 1e6
    ? `${(perSecond / 1e6).toFixed(1)} Mbit/s`
    : `${Math.round(perSecond / 1e3)} kbit/s`;
}

/** A language in its own words (`हिन्दी`), or as the playlist names it. */
export function languageName(track: Track): string {
  if (track.language === '' || track.language === 'und') return track.name;
  try {
    const own = new Intl.DisplayNames([track.language], { type: 'language', fallback: 'none' });
    const name = own.of(track.language);
    return name ? name.charAt(0).toLocaleUpperCase(track.language) + name.slice(1) : track.name;
  } catch {
    return track.name;
  }
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
