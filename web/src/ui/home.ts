/** Home: what is on, what to go on with, what is next. From what is the same for everybody, and one small personal call. */

import { dayAndTime, timeOfDay } from '../format';
import { type Match, matches } from '../net/api';
import { isSignedIn } from '../net/identity';
import { pause, policy, restAgain } from '../net/request';
import { type Stream, streams } from '../net/streams';
import { watched } from '../play/history';
import { language, t } from '../words';
import { announce } from './announce';
import { h, type View } from './dom';
import { header } from './header';
import { type Entry, type Shelves, shelves } from './shelves';
import { followArrows } from './spatial';

/** How often the list is looked at again while it is open: a match that begins shows within half a minute. */
const LOOK_EVERY_MS = 10_000;
const LOOK_AGAIN = { baseMs: 10_000, capMs: 30_000 };

export function home(): View {
  const list = h(
    'div',
    { class: 'shelves', 'aria-busy': 'true' },
    h('ul', { class: 'cards' }, skeleton(), skeleton()),
  );
  const words = h('p', { class: 'quiet' }, t.home.looking);
  const element = h(
    'main',
    { class: 'home' },
    header(true),
    h('h1', { tabindex: '-1' }, t.home.title),
    words,
    list,
  );
  const life = new AbortController();
  followArrows(element, life.signal, () => list.querySelector('a'));
  document.title = 'Pavilion';
  void look(list, words, life.signal);
  return { element, leave: () => life.abort() };
}

async function look(list: HTMLElement, words: HTMLElement, signal: AbortSignal): Promise<void> {
  let [found, playing]: [Match[] | null, Stream[]] = [null, []];
  let shown = '';
  let waitMs = LOOK_AGAIN.baseMs;
  const draw = (): void => {
    if (found === null) return;
    const all = shelves(found, watched(), playing);
    // What has not changed is left alone: the focus may be in it.
    const key = JSON.stringify(all);
    if (key !== shown) replace(list, all);
    shown = key;
  };
  // Nobody waits for it, and without it the page is whole.
  if (isSignedIn() && !policy.isOff('continue')) {
    streams(signal).then(
      (all) => {
        playing = all;
        draw();
      },
      () => undefined,
    );
  }
  const tell = (text: string): void => {
    words.textContent = text;
    list.setAttribute('aria-busy', 'false');
    announce(text);
  };
  try {
    for (;;) {
      try {
        found = await matches(signal);
        tell(summary(found));
        draw();
        waitMs = LOOK_AGAIN.baseMs;
        const everyMs = policy.everyMs('matches', LOOK_EVERY_MS, Math.random);
        await pause(everyMs, signal, everyMs);
      } catch (error) {
        signal.throwIfAborted();
        if (shown === '') list.replaceChildren();
        tell(navigator.onLine ? t.home.unreachable : t.home.offline);
        waitMs = await restAgain(error, waitMs, LOOK_AGAIN, signal);
      }
    }
  } catch {
    // The page was left.
  }
}

/** Draws all anew; the focus stays on what it was on. */
function replace(list: HTMLElement, all: Shelves): void {
  const now = document.activeElement;
  const focus = now instanceof HTMLAnchorElement && list.contains(now) ? now.pathname : null;
  list.replaceChildren(
    ...shelf(t.home.onNow, all.now),
    ...shelf(t.home.goOn, all.goOn),
    ...shelf(t.home.next, all.next),
    ...shelf(t.home.before, all.before),
  );
  if (focus === null) return;
  [...list.querySelectorAll('a')].find((link) => link.pathname === focus)?.focus();
}

function shelf(title: string, entries: readonly Entry[]): HTMLElement[] {
  if (entries.length === 0) return [];
  return [h('h2', {}, title), h('ul', { class: 'cards' }, ...entries.map(card))];
}

function summary(found: readonly Match[]): string {
  if (found.length === 0) return t.home.none;
  const live = found.filter((m) => m.live).length;
  return live === 0 ? t.home.nothingLive : t.home.liveNow(live);
}

function card({ match, at, device }: Entry): HTMLElement {
  const art = h('span', { class: 'art', 'aria-hidden': 'true' });
  art.innerHTML = GROUND;
  const query = at == null ? '' : `?at=${at}`;
  const title = h('span', { class: 'title' }, match.titles[language] ?? match.title);
  const notes = note({ match, at, device });
  if (notes !== '') title.append(h('span', { class: 'note' }, notes));
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'card', href: `/watch/${encodeURIComponent(match.match)}${query}` },
      art,
      title,
      h('span', { class: match.live ? 'badge live' : 'badge' }, badge(match)),
    ),
  );
}

function badge(match: Match): string {
  if (match.live) return match.watchable ? t.common.live : t.home.liveScore;
  if (match.status === 'postponed') return t.home.postponed;
  return match.status === 'final' ? t.home.ended : dayAndTime(match.startMs);
}

function note({ match, at, device }: Entry): string {
  if (device !== undefined) return t.home.playsOn(device);
  if (at !== undefined) return at === null ? t.home.goOnLive : t.home.goOnAt(timeOfDay(at));
  return [match.league, match.free ? t.home.free : ''].filter((w) => w !== '').join(' · ');
}

function skeleton(): HTMLElement {
  return h('li', { class: 'card skeleton', 'aria-hidden': 'true' });
}

/** A ground from above: boundary, inner circle, pitch. */
const GROUND = `<svg viewBox="0 0 320 180" preserveAspectRatio="xMidYMid slice" focusable="false">
<ellipse cx="160" cy="96" rx="136" ry="74"/><ellipse cx="160" cy="96" rx="62" ry="40" stroke-dasharray="3 5"/>
<rect x="154" y="72" width="12" height="48" rx="1"/></svg>`;
