/** The page: which view the address asks for. */

import './styles/base.css';
import './styles/home.css';
import './styles/watch.css';
import './styles/panel.css';
import './styles/score.css';
import { ServerClock } from './net/clock';
import { installAnnouncer } from './ui/announce';
import type { View } from './ui/dom';
import { home } from './ui/home';
import { watch } from './ui/watch';

const clock = new ServerClock();
const root = document.getElementById('app') ?? document.body;
let view: View | null = null;

function show(): void {
  view?.leave();
  const [, kind, match] = /^\/(watch|score)\/([^/]+)\/?$/.exec(location.pathname) ?? [];
  if (match === undefined) view = home();
  else view = kind === 'watch' ? watch(decode(match), clock) : scorer(decode(match));
  root.replaceChildren(view.element);
}

/** The scorer's page is for one person at each ground: its code comes when it is asked for. */
function scorer(match: string): View {
  const element = document.createElement('div');
  const life = new AbortController();
  void import('./scorer/page').then(({ scorer }) => {
    if (life.signal.aborted) return;
    const page = scorer(match, clock);
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

installAnnouncer();
addEventListener('popstate', show);
document.addEventListener('click', follow);
show();
