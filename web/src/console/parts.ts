/** What the console's pages are made of. */

import { announce } from '../ui/announce';
import { h } from '../ui/dom';
import type { Word } from './words';

/** One page of the console. */
export interface Page {
  /** As it stands in the address: `#/feeds`. */
  readonly name: string;
  readonly title: string;
  /** What it shows below its title, until `life` ends. */
  open(life: AbortSignal): HTMLElement[];
}

export function chip({ words, tone }: Word): HTMLElement {
  return h('span', { class: `chip ${tone}` }, words);
}

/** Names and what they have. */
export function figures(pairs: readonly (readonly [string, string])[]): HTMLElement {
  const rows = pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)));
  return h('dl', { class: 'figures' }, ...rows);
}

/** `id` keeps the focus over a redraw. */
export function button(id: string, words: string, then: () => void, look = ''): HTMLButtonElement {
  const element = h('button', { type: 'button', id, class: `do ${look}`.trim() }, words);
  element.addEventListener('click', then);
  return element;
}

/** Copies a text. Not every page may: one that came over plain HTTP from elsewhere may not. */
export function copier(id: string, words: string, what: string): HTMLButtonElement {
  const element = button(id, words, () => {
    const copied = navigator.clipboard?.writeText(what) ?? Promise.reject(new Error('not allowed'));
    void copied.then(
      () => say('Copied'),
      () => say('Not allowed here: select the text'),
    );
  });
  const say = (result: string): void => {
    element.textContent = result;
    announce(result);
    setTimeout(() => {
      element.textContent = words;
    }, SAID_MS);
  };
  return element;
}

/** How long a button says what came of it. */
const SAID_MS = 2_000;

/** Asks before something that cannot be taken back. */
export function confirm(title: string, words: string, yes: string, then: () => void): void {
  const element = h('dialog', { class: 'confirm', 'aria-labelledby': 'confirm-title' });
  const no = button('confirm-no', 'Cancel', () => element.close());
  const go = button(
    'confirm-yes',
    yes,
    () => {
      element.close();
      then();
    },
    'danger',
  );
  element.append(
    h('h2', { id: 'confirm-title' }, title),
    h('p', {}, words),
    h('div', { class: 'row' }, no, go),
  );
  element.addEventListener('close', () => element.remove());
  document.body.append(element);
  element.showModal();
}
