/** How the feeds of each match are, and each feed's own numbers. */

import { lag } from '../format';
import { h } from '../ui/dom';
import { feeds as ask, type Feeds, type Match, type Provider } from './api';
import { live } from './live';
import { chip, figures, type Page } from './parts';
import { ago, gaps, LIFE, punctual } from './words';

/** Matches that are not live, which are listed: enough to see that a catalog is there. */
const OTHERS_MAX = 50;

export const feeds: Page = {
  name: 'feeds',
  title: 'Feeds',
  open(life) {
    return [live({ ask, draw, empty: 'No match is in the catalog, and no feed is known.' }, life).element];
  },
};

function draw(all: Feeds): HTMLElement[] {
  if (all.matches.length === 0 && all.providers.length === 0) return [];
  const lives = all.matches.filter((match) => match.status === 'live');
  const others = all.matches.filter((match) => match.status !== 'live');
  const parts: HTMLElement[] = [
    lives.length > 0
      ? h('ul', { class: 'grid wide' }, ...lives.map((match) => matchCard(match, all.providers)))
      : h('p', { class: 'empty card' }, 'No match is live.'),
    h('h2', { class: 'part' }, 'Providers'),
    all.providers.length > 0
      ? h('ul', { class: 'grid' }, ...all.providers.map(providerCard))
      : h('p', { class: 'empty card' }, 'No feed is configured, and nobody has spoken.'),
  ];
  if (others.length > 0) {
    const rows = others
      .slice(0, OTHERS_MAX)
      .map((match) => h('li', {}, `${match.title} (${match.match}) `, chip(LIFE[match.status])));
    const left = others.length - rows.length;
    if (left > 0) rows.push(h('li', { class: 'quiet' }, `and ${left} more`));
    parts.push(
      h(
        'details',
        { id: 'others', class: 'card' },
        h('summary', {}, `Not live: ${others.length}`),
        h('ul', { class: 'rows' }, ...rows),
      ),
    );
  }
  return parts;
}

function matchCard(match: Match, providers: readonly Provider[]): HTMLElement {
  const speaks = providers.flatMap((provider) =>
    provider.matches
      .filter((of) => of.match === match.match)
      .map((of) => ({ ...of, name: provider.provider })),
  );
  const rows = speaks.map((of) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, of.name),
      h('td', {}, ago(of.silentMs, 'never')),
      h('td', {}, of.ageMs === null ? '–' : lag(of.ageMs / 1000)),
    ),
  );
  const table = h(
    'table',
    {},
    h('caption', { class: 'hidden-visually' }, `Feeds of ${match.title}`),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'Provider'),
        h('th', { scope: 'col' }, 'Last event'),
        h('th', { scope: 'col' }, 'Lag'),
      ),
    ),
    h('tbody', {}, ...rows),
  );
  return h(
    'li',
    { class: 'card', 'data-match': match.match, 'data-delayed': String(match.delayed) },
    h('div', { class: 'head' }, h('h2', {}, match.title), chip(punctual(match))),
    figures([
      ['Match', match.match],
      ['Events', String(match.happenings)],
      ['Newest', ago(match.ageMs, 'none yet')],
      ['Usual', `every ${lag(match.cadenceMs / 1000)}`],
    ]),
    rows.length > 0 ? table : h('p', { class: 'quiet' }, 'No feed has spoken of it since ingest began.'),
  );
}

function providerCard(provider: Provider): HTMLElement {
  const { connections, contiguous, newest, waiting } = provider;
  return h(
    'li',
    { class: 'card', 'data-provider': provider.provider },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, provider.provider),
      chip(provider.gaps > 0 ? { words: 'Gaps', tone: 'bad' } : { words: 'No gaps', tone: 'good' }),
    ),
    figures([
      ['Sockets', connections === 0 ? 'none (or it uses HTTP)' : String(connections)],
      ['Last spoke', ago(provider.silentMs, 'never since ingest began')],
      ['Lag', provider.ageMs === null ? '–' : lag(provider.ageMs / 1000)],
      ['Numbers', newest === 0 ? 'none' : `all to ${contiguous}, newest ${newest}`],
      ['Asked for again', gaps(provider)],
      ['Waiting', String(waiting)],
    ]),
  );
}
