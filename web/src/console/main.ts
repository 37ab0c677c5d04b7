/** The operators' console: a frame, and a page for each plane. */

import '../styles/base.css';
import '../styles/console.css';
import { installAnnouncer } from '../ui/announce';
import { h } from '../ui/dom';
import { svg } from '../ui/icons';
import { advice } from './door/advice';
import { catalog } from './door/catalog';
import { history } from './door/history';
import { nameField } from './door/operator';
import { panic } from './door/panic';
import { purchases } from './door/purchases';
import { rights } from './door/rights';
import { feeds } from './feeds';
import { letters } from './letters';
import { overview } from './overview';
import type { Page } from './parts';
import { scorers } from './scorers';

const PAGES: readonly Page[] = [
  overview,
  feeds,
  letters,
  scorers,
  catalog,
  rights,
  purchases,
  panic,
  advice,
  history,
];

const main = h('main', { id: 'main', class: 'console' });
const links = PAGES.map((page) => h('a', { href: `#/${page.name}` }, page.title));
let life = new AbortController();

function show(): void {
  life.abort();
  life = new AbortController();
  const name = location.hash.replace(/^#\/?/, '');
  const page = PAGES.find((p) => p.name === name) ?? overview;
  for (const [n, link] of links.entries()) {
    if (PAGES[n] === page) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${page.title} · Console · Pavilion`;
  main.dataset.page = page.name;
  main.replaceChildren(h('h1', { tabindex: '-1' }, page.title), ...page.open(life.signal));
}

function frame(): HTMLElement {
  const brand = h('p', { class: 'brand' });
  brand.innerHTML = svg('brand');
  brand.append('Pavilion console');
  return h(
    'header',
    { class: 'bar' },
    brand,
    h('nav', { 'aria-label': 'Pages of the console' }, ...links),
    nameField(),
  );
}

const root = document.getElementById('app') ?? document.body;
root.append(frame(), main);
installAnnouncer();
addEventListener('hashchange', () => {
  show();
  main.querySelector<HTMLElement>('h1')?.focus();
});
show();
