/** What stands where the picture would be: why there is none, and what to do about it. */

import type { Problem } from '../net/problem';
import { readStreams } from '../net/streams';
import { type State, sentence } from '../play/state';
import { t } from '../words';
import { h, setText } from './dom';
import { streamList } from './streams';
import { type Told, told } from './told';

export class Message {
  readonly element: HTMLElement;
  readonly #words = h('p', { class: 'words' });
  readonly #detail = h('p', { class: 'detail' });
  readonly #devices = h('div', { class: 'devices', hidden: true });
  readonly #retry = h('button', { class: 'pill', type: 'button' }, t.watch.retry);
  readonly #logIn: HTMLAnchorElement;
  readonly #account = h('a', { class: 'pill', href: '/account', hidden: true }, t.common.account);
  readonly #away = h('a', { class: 'pill', href: '/' }, t.common.allMatches);
  readonly #title: (match: string) => string;
  readonly #start: () => void;
  #told: Told | null = null;

  /** @param start plays, or opens the match again. @param title of a match, for people. */
  constructor(start: () => void, title: (match: string) => string) {
    this.#start = start;
    this.#title = title;
    const to = encodeURIComponent(location.pathname + location.search);
    this.#logIn = h('a', { class: 'pill', href: `/account?to=${to}`, hidden: true }, t.common.logIn);
    this.#retry.addEventListener('click', start);
    this.element = h(
      'div',
      { class: 'message' },
      h('div', { class: 'spinner', 'aria-hidden': 'true' }),
      this.#words,
      this.#detail,
      this.#devices,
      h('div', { class: 'actions' }, this.#retry, this.#logIn, this.#account, this.#away),
    );
  }

  /** Why play was refused: to be shown with the next state. */
  refused(problem: Problem): void {
    this.#told = told(problem);
    const devices = problem.kind === 'devices' ? problem.members.devices : [];
    this.#devices.replaceChildren(streamList(streams(devices), this.#title, () => this.#stopped()));
  }

  /** There is room now. The button that had the focus goes. */
  #stopped(): void {
    this.#start();
    document.querySelector<HTMLElement>('h1')?.focus();
  }

  /** Gives what is to be announced. */
  show(state: State): string {
    const why = state === 'refused' || state === 'later' ? this.#told : null;
    const words = why?.words ?? sentence(state);
    setText(this.#words, words);
    setText(this.#detail, why?.help ?? '');
    this.#devices.hidden = state !== 'refused' || this.#devices.querySelector('li') === null;
    const again = state === 'failed' || state === 'blocked' || state === 'stopped';
    this.#retry.hidden = !again && !why?.actions.includes('retry');
    setText(this.#retry, retryWords(state));
    this.#logIn.hidden = !why?.actions.includes('log-in');
    this.#account.hidden = !why?.actions.includes('account');
    const playable = state === 'not-found' || state === 'failed' || state === 'unsupported';
    this.#away.hidden = !playable && state !== 'refused' && state !== 'later';
    return [words, why?.help ?? ''].filter((w) => w !== '').join(' ');
  }
}

function retryWords(state: State): string {
  if (state === 'blocked') return t.watch.play;
  return state === 'stopped' ? t.watch.watchHere : t.watch.retry;
}

function streams(body: unknown): ReturnType<typeof readStreams> {
  try {
    return readStreams(body);
  } catch {
    return [];
  }
}
