/** The page: which view the address asks for. */

import './styles/base.css';
import './styles/home.css';
import './styles/watch.css';
import './styles/panel.css';
import './styles/score.css';
import { ServerClock } from './net/clock';
import { followAdvice } from './net/follow';
import { installAnnouncer } from './ui/announce';
import { h, type View } from './ui/dom';
import { LANGUAGE_CHOSEN } from './ui/header';
import { home } from './ui/home';
import { watch } from './ui/watch';
import { begin, language } from './words';

const clock = new ServerClock();
const root = document.getElementById('app') ?? document.body;
let view: View | null = null;

function show(): void {
  view?.leave();
  const [, kind, match] = /^\/(watch|score)\/([^/]+)\/?$/.exec(location.pathname) ?? [];
  // The scorer's page has one language.
  document.documentElement.lang = kind === 'score' ? 'en' : language;
  if (match !== undefined) view = kind === 'watch' ? watch(decode(match), clock) : scorer(decode(match));
  else if (/^\/account\/?$/.test(location.pathname)) view = account();
  else view = home();
  root.replaceChildren(view.element);
}

/** The scorer's page is for one person at each ground: its code comes when it is asked for. */
function scorer(match: string): View {
  return later(async () => (await import('./scorer/page')).scorer(match, clock));
}

/** So does the account's: who is logged in seldom looks at it. */
function account(): View {
  return later(async () => (await import('./ui/account')).account());
}

/** A view whose code is fetched first. */
function later(load: () => Promise<View>): View {
  const element = h('div');
  const life = new AbortController();
  void load().then((page) => {
    if (life.signal.aborted) return page.leave();
    life.signal.addEventListener('abort', () => page.leave());
    element.replaceWith(page.element);
  });
  return { element, leave: () => life.abort() };
}

/** An address with a broken escape is a match that does not exist. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Links within the page change the view without loading it again. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
    return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (!link || link.origin !== location.origin || link.target !== '') return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  show();
  root.querySelector<HTMLElement>('h1')?.focus();
}

await begin();
installAnnouncer();
addEventListener('popstate', show);
addEventListener(LANGUAGE_CHOSEN, show);
document.addEventListener('click', follow);
show();
void followAdvice();
