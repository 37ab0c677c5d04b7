/** Who sees a match, where and when: rights and blackouts, readable. They are edited in the catalog. */

import { h } from '../../ui/dom';
import { live } from '../live';
import { chip, type Page } from '../parts';
import type { Word } from '../words';
import { rights as askRights, blackouts, matches } from './api';
import { area, day, rightWhere, type Showing, type Span, showing, span, when } from './words';

const WHEN: Record<ReturnType<typeof when>, Word> = {
  now: { words: 'Now', tone: 'good' },
  later: { words: 'Later', tone: 'plain' },
  over: { words: 'Over', tone: 'plain' },
};
/** A blackout that holds is what one looks for. */
const HOLDS: typeof WHEN = { ...WHEN, now: { words: 'Holds', tone: 'bad' } };

/** Matches that are listed. */
const MATCHES_MAX = 60;

export const rights: Page = {
  name: 'rights',
  title: 'Rights',
  open(life) {
    const find = h('input', { id: 'find', type: 'search', autocomplete: 'off' });
    const list = live(
      {
        ask: async (signal) => {
          const all = await Promise.all([matches(signal), askRights(signal), blackouts(signal)]);
          const wanted = find.value.trim().toLowerCase();
          const found = showing(...all, Date.now());
          return found.filter(({ match }) => `${match.id} ${match.title}`.toLowerCase().includes(wanted));
        },
        draw: (found) =>
          found.length === 0
            ? []
            : [h('ul', { class: 'grid wide' }, ...found.slice(0, MATCHES_MAX).map(card))],
        empty: 'There is no such match.',
      },
      life,
    );
    find.addEventListener('input', () => list.now());
    const words =
      'A match is shown where a right says so, and not where a blackout holds. Who comes from a place that is not known is ' +
      'inside every blackout, and outside every right that names countries.';
    const search = h('div', { class: 'field narrow' }, h('label', { for: 'find' }, 'Find a match'), find);
    return [h('p', { class: 'quiet' }, words), search, list.element];
  },
};

function card({ match, rights, blackouts, now }: Showing): HTMLElement {
  const nowMs = Date.now();
  const row = (where: string, of: Span, id: string, words: typeof WHEN): HTMLElement =>
    h(
      'li',
      { 'data-id': id },
      h('div', { class: 'head' }, h('span', {}, where), chip(words[when(of, nowMs)])),
      h('p', { class: 'quiet' }, `${span(of)} · `, h('span', { class: 'mono' }, id)),
    );
  const open = rights.map((right) => row(rightWhere(right), right, right.id, WHEN));
  const shut = blackouts.map((one) => {
    const where = `${one.name}: ${one.areas.map(area).join('; ')}`;
    return row(where, one, one.id, HOLDS);
  });
  const list = (name: string, rows: HTMLElement[], none: string): HTMLElement[] => [
    h('h3', {}, name),
    rows.length > 0 ? h('ul', { class: 'rows spans' }, ...rows) : h('p', { class: 'quiet' }, none),
  ];
  return h(
    'li',
    { class: 'card', 'data-match': match.id },
    h('div', { class: 'head' }, h('h2', {}, match.title), chip(now)),
    h(
      'p',
      { class: 'quiet' },
      h('span', { class: 'mono' }, match.id),
      ` · ${match.status} · ${day(match.startMs)}`,
    ),
    ...list('Shown in', open, 'No right: it is shown nowhere.'),
    ...list('Blacked out in', shut, 'No blackout.'),
  );
}
