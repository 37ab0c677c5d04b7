/** The score on the watch page: follows the match, and draws what may be shown. */

import type { Scores } from '../../net/api';
import { Follow, type Picture, type Shown } from '../../scores/follow';
import { LocalStore, MemoryStore } from '../../scores/store';
import { language, t } from '../../words';
import { h, setText } from '../dom';
import { setIcon } from '../icons';
import { Board } from './board';
import { Moments } from './moments';
import { Scorecard } from './scorecard';
import { tabs } from './tabs';
import { feed } from './words';

export interface Screen {
  picture(): Picture;
  /** To venue time, UTC ms. */
  seek(venueMs: number): void;
  /** The earliest that it can go back to, UTC ms; null: nowhere. */
  earliestMs(): number | null;
  /** With a new token; null: there is no score any more. */
  scores(signal: AbortSignal): Promise<Scores | null>;
}

export class Score {
  readonly board = new Board();
  /** Card and key moments: beside the picture, or under it. */
  readonly sheet: HTMLElement;
  readonly #card = new Scorecard();
  readonly #moments: Moments;
  readonly #watching = h('p', { class: 'quiet watching', hidden: true });
  readonly #match: string;
  readonly #screen: Screen;
  readonly #opened: (open: boolean) => void;
  #follow: Follow | null = null;

  /** @param opened the sheet was opened or closed. */
  constructor(match: string, screen: Screen, opened: (open: boolean) => void) {
    this.#match = match;
    this.#screen = screen;
    this.#opened = opened;
    this.#moments = new Moments((at) => screen.seek(at));
    const close = h('button', { class: 'icon close', type: 'button', 'aria-label': t.score.close });
    setIcon(close, 'close');
    close.addEventListener('click', () => this.open(false));
    this.sheet = h(
      'section',
      { class: 'sheet', 'aria-label': t.common.scorecard, hidden: true },
      close,
      h('h2', { class: 'hidden-visually' }, t.common.scorecard),
      this.#watching,
      tabs(t.common.scorecard, [
        { id: 'card', name: t.score.card, content: this.#card.element },
        { id: 'moments', name: t.score.moments, content: this.#moments.element },
      ]),
    );
    this.sheet.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.open(false);
    });
  }

  /** Where the score is; null: this match has none. */
  begin(access: Scores | null): void {
    if (access === null || this.#follow !== null) return;
    this.sheet.hidden = false;
    this.#follow = new Follow(
      this.#match,
      access,
      () => this.#token(),
      store(),
      () => this.#screen.picture(),
      {
        show: (shown) => this.#show(shown),
        status: (state, detail, delayed) => {
          const shown = delayed && state === 'live' ? 'delayed' : state;
          this.board.feed(shown, feed(state, detail, delayed));
        },
        watching: (count) => {
          this.#watching.hidden = count < 2;
          setText(this.#watching, t.score.watching(count.toLocaleString(language)));
        },
      },
    );
  }

  get has(): boolean {
    return this.#follow !== null;
  }

  /** For tests and the curious. */
  health(): object | null {
    return this.#follow?.health ?? null;
  }

  /** Something about the picture changed. */
  tick(): void {
    this.#follow?.tick();
  }

  /** On a wide screen the sheet lies over the picture, and is opened. */
  open(open: boolean): void {
    this.sheet.classList.toggle('open', open);
    this.#opened(open);
    if (open) this.sheet.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus();
  }

  get isOpen(): boolean {
    return this.sheet.classList.contains('open');
  }

  leave(): void {
    this.#follow?.close();
    this.board.leave();
  }

  #show(shown: Shown): void {
    this.board.show(shown);
    this.#card.show(shown.card);
    this.#moments.show(shown.moments, this.#screen.earliestMs());
  }

  async #token(): Promise<string> {
    const scores = await this.#screen.scores(AbortSignal.timeout(TOKEN_TIMEOUT_MS));
    if (!scores) throw new TypeError('no score any more');
    return scores.token;
  }
}

/** With the retries of a request. */
const TOKEN_TIMEOUT_MS = 30_000;

function store(): LocalStore | MemoryStore {
  try {
    return new LocalStore(localStorage);
  } catch {
    // Storage is forbidden.
    return new MemoryStore();
  }
}
