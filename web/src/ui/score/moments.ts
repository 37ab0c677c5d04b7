/** Key moments that the viewer has seen; each takes the picture back to it. */

import { wallClock } from '../../format';
import type { Moment } from '../../scores/wire';
import { t } from '../../words';
import { h } from '../dom';

/** A ball is bowled some seconds before it is scored, ms. */
export const LEAD_MS = 6_000;

const KINDS: Record<string, string> = {
  wicket: 'W',
  hat_trick: 'HT',
  four: '4',
  six: '6',
  fifty: '50',
  hundred: '100',
  hundred_and_fifty: '150',
  two_hundred: '200',
  hundred_partnership: '100',
  review: 'R',
  result: '★',
  goal: 'G',
  goal_retracted: 'VAR',
  card: '▮',
  shootout_kick: 'P',
};

export class Moments {
  readonly element: HTMLElement;
  readonly #note = h('p', { class: 'quiet' }, t.score.momentsNote);
  readonly #list = h('ol', { class: 'moments' });
  readonly #seek: (venueMs: number) => void;
  readonly #shown = new Map<number, { item: HTMLElement; key: string }>();

  /** @param seek takes the picture to venue time, UTC ms. */
  constructor(seek: (venueMs: number) => void) {
    this.#seek = seek;
    this.element = h('div', {}, this.#note, this.#list);
  }

  /** @param from the earliest venue time that the picture can go back to, UTC ms; null: there is no picture. */
  show(moments: readonly Moment[], from: number | null): void {
    this.#note.hidden = moments.length > 0;
    const now = new Set(moments.map((m) => m.event_id));
    for (const [id, { item }] of this.#shown) {
      if (now.has(id)) continue;
      item.remove();
      this.#shown.delete(id);
    }
    // The newest on top; what has not changed stays, with the focus that may be in it.
    let before: Element | null = null;
    for (const moment of [...moments].reverse()) {
      const key = JSON.stringify(moment);
      const shown = this.#shown.get(moment.event_id);
      const item = shown?.key === key ? shown.item : this.#item(moment);
      if (shown && shown.item !== item) shown.item.remove();
      this.#shown.set(moment.event_id, { item, key });
      const button = item.firstElementChild;
      if (button instanceof HTMLButtonElement) button.disabled = from === null || moment.seek_ms < from;
      const place: Element | null = before ? before.nextElementSibling : this.#list.firstElementChild;
      if (place !== item) this.#list.insertBefore(item, place);
      before = item;
    }
  }

  #item(moment: Moment): HTMLElement {
    const button = h(
      'button',
      { type: 'button', class: `moment ${moment.kind}`, 'data-event': moment.event_id },
      h('span', { class: 'kind', 'aria-hidden': 'true' }, KINDS[moment.kind] ?? '•'),
      h('span', { class: 'what' }, moment.text),
      h('time', { datetime: new Date(moment.seek_ms).toISOString() }, wallClock(moment.seek_ms)),
    );
    button.addEventListener('click', () => this.#seek(moment.seek_ms - LEAD_MS));
    return h('li', {}, button);
  }
}
