/** Something that is asked for again and again and drawn when it changes: loading, empty, and away. */

import { wallClock } from '../format';
import { RequestError } from '../net/request';
import { announce } from '../ui/announce';
import { h, setText } from '../ui/dom';
import { Poll } from './poll';

export interface Source<T> {
  readonly ask: (signal: AbortSignal) => Promise<T>;
  /** What is shown; nothing: it is empty. */
  readonly draw: (data: T) => readonly HTMLElement[];
  /** What stands there when it is empty. */
  readonly empty: string;
}

export interface Live {
  readonly element: HTMLElement;
  /** Asks now. */
  now(): void;
}

export function live<T>({ ask, draw, empty }: Source<T>, life: AbortSignal): Live {
  const notice = h('p', { class: 'notice', hidden: true });
  const asOf = h('p', { class: 'quiet as-of' }, 'Loading');
  const body = h('div', { class: 'live', 'aria-busy': 'true' }, h('div', { class: 'loading card' }));
  let shown: string | null = null;
  const once = async (): Promise<boolean> => {
    try {
      const data = await ask(life);
      if (life.aborted) return true;
      setText(asOf, `As of ${wallClock(Date.now())}`);
      if (!notice.hidden) announce('There are answers again.');
      notice.hidden = true;
      const key = JSON.stringify(data);
      // What has not changed is left alone: the focus, or a selection, may be in it.
      if (key !== shown) {
        const parts = draw(data);
        redraw(body, parts.length > 0 ? parts : [h('p', { class: 'empty card' }, empty)]);
      }
      shown = key;
      return true;
    } catch (error) {
      if (life.aborted) return false;
      const words = sentence(error);
      const old = shown === null ? '' : ` What is below is from before. ${asOf.textContent}.`;
      if (shown === null) body.replaceChildren();
      setText(notice, `${words}${old} This page keeps trying.`);
      if (notice.hidden) announce(words);
      notice.hidden = false;
      if (shown === null) setText(asOf, '');
      return false;
    } finally {
      body.setAttribute('aria-busy', 'false');
    }
  };
  const poll = new Poll(once, life);
  return { element: h('div', { class: 'polled' }, notice, asOf, body), now: () => poll.now() };
}

/** Why there is no answer, for an operator. */
export function sentence(error: unknown): string {
  if (!(error instanceof RequestError))
    return 'What came was not understood: page and roles are of different versions.';
  return error.status === 0 ? 'The console does not answer.' : error.message;
}

/** Draws anew; the focus stays where it was, and what was opened stays open, by their ids. */
function redraw(body: HTMLElement, parts: readonly HTMLElement[]): void {
  const focus = body.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const open = [...body.querySelectorAll('details[open][id]')].map((d) => d.id);
  body.replaceChildren(...parts);
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}
