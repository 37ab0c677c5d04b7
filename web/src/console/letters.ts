/** Dead letters: what ingest could not take, and why. */

import { h } from '../ui/dom';
import { letters as ask, type Letter, type Letters } from './api';
import { live } from './live';
import { button, copier, figures, type Page } from './parts';
import { moment, start, visible } from './words';

export const letters: Page = {
  name: 'dead-letters',
  title: 'Dead letters',
  open(life) {
    // The pages that were turned back from; 0 is the newest, which grows.
    let turned = [0];
    const turn = (to: number[]): void => {
      turned = to;
      page.now();
    };
    const draw = (found: Letters): HTMLElement[] => {
      if (found.letters.length === 0) return [];
      const { before } = found;
      const newer = button('newer', 'Newer', () => turn(turned.slice(0, -1)));
      const older = button('older', 'Older', () => turn([...turned, before ?? 0]));
      newer.disabled = turned.length === 1;
      older.disabled = before === null;
      return [
        h('ol', { class: 'letters' }, ...found.letters.map(card)),
        h('nav', { class: 'row', 'aria-label': 'Pages' }, newer, older),
      ];
    };
    const page = live(
      {
        ask: (signal) => ask(turned.at(-1) ?? 0, signal),
        draw,
        empty: 'There are none. Everything that feeds have said was understood.',
      },
      life,
    );
    const words = 'What a feed said that could not be taken. The feed was told so, and goes on.';
    return [h('p', { class: 'quiet' }, words), page.element];
  },
};

function card({ offset, provider, seq, why, said, atMs }: Letter): HTMLElement {
  const shown = visible(said);
  const cut = start(shown);
  const parts: HTMLElement[] = [
    h('h2', {}, why),
    figures([
      ['When', moment(atMs)],
      ['Feed', provider],
      ['Number', seq === null ? 'none' : String(seq)],
    ]),
  ];
  if (said === '') parts.push(h('p', { class: 'quiet' }, 'Nothing came.'));
  else {
    parts.push(h('pre', { tabindex: '0', role: 'group', 'aria-label': 'What came' }, cut ?? shown));
    if (cut !== null) {
      parts.push(
        h(
          'details',
          { id: `all-${offset}` },
          h('summary', {}, 'All that was kept'),
          h('pre', { tabindex: '0', role: 'group', 'aria-label': 'All that was kept' }, shown),
        ),
      );
    }
    parts.push(copier(`copy-${offset}`, 'Copy what came', said));
  }
  return h('li', { class: 'card letter', 'data-offset': String(offset) }, ...parts);
}
