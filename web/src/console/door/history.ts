/** Who changed what, the newest first. */

import { h } from '../../ui/dom';
import { live } from '../live';
import { button, figures, type Page } from '../parts';
import { moment, visible } from '../words';
import { history as ask, type Change } from './api';

/** Changes that are asked for, and how many more each time. */
const PAGE = 50;
/** No more than this: an import of a whole season is some thousands, and its file is the better list. */
const ALL_MAX = 500;

export const history: Page = {
  name: 'history',
  title: 'History',
  open(life) {
    let max = PAGE;
    const page = live(
      {
        ask: async (signal) => ({ found: await ask(max, signal), max }),
        draw: ({ found, max: asked }) => {
          if (found.length === 0) return [];
          const more = button('more', 'Older', () => {
            max = Math.min(asked + PAGE, ALL_MAX);
            page.now();
          });
          const last = found.length < asked || asked >= ALL_MAX;
          return [h('ol', { class: 'letters' }, ...found.map(card)), ...(last ? [] : [more])];
        },
        empty: 'Nothing was changed yet.',
      },
      life,
    );
    const words =
      'Changes of the catalog, of levers and of purchases. Names are what operators said of themselves.';
    return [h('p', { class: 'quiet' }, words), page.element];
  },
};

function card({ id, atMs, who, what, before, after }: Change): HTMLElement {
  const did = before === null ? 'made' : after === null ? 'deleted' : 'changed';
  return h(
    'li',
    { class: 'card letter', 'data-change': what },
    h('h2', {}, `${what} ${did}`),
    figures([
      ['When', moment(atMs)],
      ['Who', visible(who)],
    ]),
    h(
      'details',
      { id: `change-${id}` },
      h('summary', {}, 'Before and after'),
      ...document('Before', before),
      ...document('After', after),
    ),
  );
}

function document(name: string, value: unknown): HTMLElement[] {
  if (value === null) return [h('p', { class: 'quiet' }, `${name}: nothing`)];
  const text = visible(JSON.stringify(value, null, 2));
  return [h('p', {}, name), h('pre', { tabindex: '0', role: 'group', 'aria-label': name }, text)];
}
