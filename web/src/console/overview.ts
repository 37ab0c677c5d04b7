/** Which roles are ready, by their own word. */

import { h } from '../ui/dom';
import { overview as ask, type Role } from './api';
import { live } from './live';
import { chip, type Page } from './parts';
import { ROLES } from './words';

export const overview: Page = {
  name: '',
  title: 'Overview',
  open(life) {
    const roles = live(
      {
        // How long each took differs each time, and is no news.
        ask: async (signal) => (await ask(signal)).roles.map((role) => ({ ...role, ms: 0 })),
        draw: (found) => (found.length === 0 ? [] : [h('ul', { class: 'grid' }, ...found.map(card))]),
        empty: 'This console was told of no roles. Start it with --role NAME=HOST:PORT for each.',
      },
      life,
    );
    const words = 'Ready is what a role says of itself. One that does not answer may be starting again.';
    return [h('p', { class: 'quiet' }, words), roles.element];
  },
};

function card({ name, at, state, said }: Role): HTMLElement {
  const about = said === '' ? [] : [h('p', { class: 'said' }, said)];
  return h(
    'li',
    { class: 'card', 'data-role': name, 'data-state': state },
    h('div', { class: 'head' }, h('h2', {}, name), chip(ROLES[state])),
    ...about,
    h('p', { class: 'quiet mono' }, at),
  );
}
