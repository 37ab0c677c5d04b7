/** The scoreboard: the headline, who is in, this over, and what is wrong with the feed. */

import { type Card, isFootball } from '../../scores/card';
import type { Innings } from '../../scores/cricket/card';
import type { Shown } from '../../scores/follow';
import type { Headline } from '../../scores/wire';
import { t } from '../../words';
import { announce } from '../announce';
import { h, setText } from '../dom';
import { phase } from './football';
import { ballClass, chase, correction, happening, inningsOf, parts, spokenBall } from './words';

/** A correction stays marked this long: long enough to be read twice. */
const CORRECTED_MS = 12_000;

/** More than these at once are not read out one by one. */
const ANNOUNCE_MAX = 3;

export class Board {
  readonly element: HTMLElement;
  readonly #team = h('span', { class: 'team' });
  readonly #score = h('strong', { class: 'total' });
  readonly #overs = h('span', { class: 'overs' });
  readonly #chase = h('p', { class: 'chase' });
  readonly #over = h('ol', { class: 'over', 'aria-label': t.score.thisOver });
  readonly #crease = h('ul', { class: 'crease', 'aria-label': t.score.crease });
  readonly #corrected = h('p', { class: 'corrected', hidden: true });
  readonly #feed = h('p', { class: 'feed', hidden: true });
  #drawn = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.element = h(
      'section',
      { class: 'scoreboard', 'aria-label': t.score.name, hidden: true },
      h('p', { class: 'headline' }, this.#team, this.#score, this.#overs),
      this.#chase,
      this.#over,
      this.#crease,
      this.#corrected,
      this.#feed,
    );
  }

  show({ headline, card, newest, news }: Shown): void {
    const { element } = this;
    element.hidden = false;
    const { dataset } = element;
    dataset.ball = headline?.balls === undefined ? '' : String(headline.balls);
    dataset.text = headline?.text ?? '';
    dataset.event = newest ? String(newest.event_id) : '';
    dataset.revision = newest ? String(newest.revision) : '';
    this.#headline(headline);
    this.#details(card, headline);
    if (news.length > ANNOUNCE_MAX) return;
    for (const event of news) {
      if (event.correction) this.#correct(correction(event, headline));
      else if (event.moment) announce(`${happening(event)}. ${headline?.text ?? ''}`);
    }
  }

  /** Empty words: nothing is wrong. */
  feed(state: string, words: string): void {
    this.element.dataset.state = state;
    this.#feed.hidden = words === '';
    setText(this.#feed, words);
    // Before the first score there is nothing but these words to show.
    this.element.hidden = words === '' && this.element.dataset.text === undefined;
    if (words !== '') announce(words);
  }

  leave(): void {
    clearTimeout(this.#timer);
  }

  #headline(headline: Headline | null): void {
    const apart = headline && parts(headline);
    setText(this.#team, apart?.team ?? '');
    setText(this.#score, apart?.score ?? headline?.text ?? '–');
    setText(this.#overs, apart ? t.score.overs(apart.overs) : (headline?.clock ?? ''));
  }

  #details(card: Card | null, headline: Headline | null): void {
    const innings = inningsOf(card, headline);
    setText(this.#chase, card && isFootball(card) ? phase(card) : cricket(card, innings));
    const striker = innings?.striker ?? null;
    const batters = innings?.batters.filter((b) => b.status === 'batting').slice(-2) ?? [];
    const bowler = innings?.bowlers.find((b) => b.name === innings.bowler);
    const key = JSON.stringify([innings?.over, batters, bowler, striker]);
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.#over.replaceChildren(...(innings?.over ?? []).map(ball));
    this.#over.hidden = this.#over.childElementCount === 0;
    const rows = batters.map((b) =>
      row(b.name, `${b.runs} (${b.balls})`, b.name === striker ? 'on-strike' : ''),
    );
    if (bowler) rows.push(row(bowler.name, `${bowler.wickets}/${bowler.runs} (${bowler.overs})`, 'bowling'));
    this.#crease.replaceChildren(...rows);
    this.#crease.hidden = rows.length === 0;
  }

  #correct(words: string): void {
    setText(this.#corrected, words);
    this.#corrected.hidden = false;
    this.element.classList.add('is-corrected');
    announce(words);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#corrected.hidden = true;
      this.element.classList.remove('is-corrected');
    }, CORRECTED_MS);
  }
}

/** The chase, and whether play has stopped. */
function cricket(card: Exclude<Card, { sport: 'football' }> | null, innings: Innings | null): string {
  const stopped = card?.interrupted ? t.score.stopped(card.interrupted.replaceAll('_', ' ')) : '';
  return [stopped, chase(innings, card)].filter((w) => w !== '').join(' · ');
}

function ball(text: string): HTMLElement {
  return h(
    'li',
    { class: `ball ${ballClass(text)}`.trim() },
    h('span', { 'aria-hidden': 'true' }, text === '.' ? '•' : text),
    h('span', { class: 'hidden-visually' }, spokenBall(text)),
  );
}

function row(name: string, figures: string, role: '' | 'on-strike' | 'bowling'): HTMLElement {
  const element = h('li', { class: role }, h('span', { class: 'name' }, name));
  const words = role === 'bowling' ? t.score.bowling : t.score.onStrike;
  if (role !== '') element.append(h('span', { class: 'hidden-visually' }, `, ${words}, `));
  element.append(h('span', { class: 'figures-of' }, figures));
  return element;
}
