/** The list of matches. */

import { type Match, matches } from '../net/api';
import { nextWaitMs } from '../net/backoff';
import { pause } from '../net/request';
import { announce } from './announce';
import { h, type View } from './dom';
import { svg } from './icons';
import { isDirection, moveFocus } from './spatial';

/** How often the list is looked at again while it is open: a match that begins shows within half a minute. */
const LOOK_AGAIN = { baseMs: 10_000, capMs: 30_000 };

export function home(): View {
  const list = h('ul', { class: 'cards', 'aria-busy': 'true' }, skeleton(), skeleton());
  const words = h('p', { class: 'quiet' }, 'Looking for matches');
  const brand = h('div', { class: 'brand' });
  brand.innerHTML = svg('brand');
  brand.append('Pavilion');
  const element = h(
    'main',
    { class: 'home' },
    h('header', {}, brand),
    h('h1', { tabindex: '-1' }, 'Matches'),
    words,
    list,
  );
  const life = new AbortController();
  const arrows = (event: KeyboardEvent): void => {
    if (isDirection(event.key) && moveFocus(element, event.key)) event.preventDefault();
  };
  // On the document: at first nothing in the list has the focus.
  document.addEventListener('keydown', arrows, { signal: life.signal });
  document.title = 'Pavilion';
  void look(list, words, life.signal);
  return { element, leave: () => life.abort() };
}

async function look(list: HTMLElement, words: HTMLElement, signal: AbortSignal): Promise<void> {
  let shown = '';
  for (let waitMs = LOOK_AGAIN.baseMs; ; waitMs = nextWaitMs(waitMs, LOOK_AGAIN, Math.random)) {
    try {
      const found = await matches(signal);
      // What has not changed is left alone: the focus may be in it.
      const key = JSON.stringify(found);
      if (key !== shown) list.replaceChildren(...found.map(card));
      shown = key;
      words.textContent = summary(found);
    } catch {
      if (signal.aborted) return;
      if (shown === '') list.replaceChildren();
      words.textContent = navigator.onLine
        ? 'The list of matches cannot be reached. This page keeps trying.'
        : 'You are offline. The list comes back with the connection.';
    }
    list.setAttribute('aria-busy', 'false');
    announce(words.textContent);
    try {
      await pause(waitMs, signal);
    } catch {
      return;
    }
  }
}

function summary(found: readonly Match[]): string {
  if (found.length === 0) return 'No match yet. This page shows it when there is one.';
  const live = found.filter((m) => m.live).length;
  return live === 0 ? 'Nothing is live at the moment' : `${live} live now`;
}

function card(match: Match): HTMLElement {
  const art = h('span', { class: 'art', 'aria-hidden': 'true' });
  art.innerHTML = GROUND;
  const words = match.live ? (match.watchable ? 'Live' : 'Live score') : 'Not live';
  const badge = h('span', { class: match.live ? 'badge live' : 'badge' }, words);
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'card', href: `/watch/${encodeURIComponent(match.match)}` },
      art,
      h('span', { class: 'title' }, match.title),
      badge,
    ),
  );
}

function skeleton(): HTMLElement {
  return h('li', { class: 'card skeleton', 'aria-hidden': 'true' });
}

/** A ground from above: boundary, inner circle, pitch. */
const GROUND = `<svg viewBox="0 0 320 180" preserveAspectRatio="xMidYMid slice" focusable="false">
<ellipse cx="160" cy="96" rx="136" ry="74"/><ellipse cx="160" cy="96" rx="62" ry="40" stroke-dasharray="3 5"/>
<rect x="154" y="72" width="12" height="48" rx="1"/></svg>`;
