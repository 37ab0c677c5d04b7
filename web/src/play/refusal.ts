/** What the door's refusals mean for the page. Pure. */

import type { Problem } from '../net/problem';

/** Refusals that asking again does not mend: something must happen first. */
const REFUSALS = new Set([
  'log-in',
  'unauthenticated',
  'not-bought',
  'begins-later',
  'not-begun',
  'postponed',
  'country',
  'not-yet',
  'over',
  'blackout',
  'place-unknown',
  'place-hidden',
  'devices',
]);

/** How long before a match begins its page plays, ms: as the door has it. */
const EARLY_MS = 15 * 60_000;

export function isRefusal({ kind }: Problem): boolean {
  return REFUSALS.has(kind);
}

/** When it may be opened, UTC ms; null: not by waiting. */
export function opensMs({ kind, members }: Problem): number | null {
  const at = (name: string): number | null => {
    const ms = members[name];
    return typeof ms === 'number' && Number.isFinite(ms) ? ms : null;
  };
  if (kind === 'not-begun') {
    const start = at('start_ms');
    return start === null ? null : start - EARLY_MS;
  }
  return kind === 'not-yet' || kind === 'begins-later' ? at('from_ms') : null;
}

/** A list of texts that a refusal has. */
export function texts({ members }: Problem, name: string): string[] {
  const all = members[name];
  return Array.isArray(all) ? all.filter((t): t is string => typeof t === 'string') : [];
}
