/** The card: each innings with its batting, bowling, fall of wickets and partnerships; of football what happened. */

import { type Card, isFootball } from '../../scores/card';
import type { Innings } from '../../scores/cricket/card';
import type { FootballCard } from '../../scores/football/card';
import { t } from '../../words';
import { h, setText } from '../dom';
import * as football from './football';

type Cell = string | number;

export class Scorecard {
  readonly element = h('div', { class: 'scorecard' });
  readonly #note = h('p', { class: 'quiet' }, t.score.cardNote);
  readonly #innings = new Map<number, { details: HTMLDetailsElement; drawn: string }>();
  /** The card of football that stands there. */
  #drawn = '';

  constructor() {
    this.element.append(this.#note);
  }

  show(card: Card | null): void {
    if (card && isFootball(card)) {
      this.#football(card);
      return;
    }
    const innings = card?.innings ?? [];
    this.#note.hidden = innings.length > 0;
    for (const [n, { details }] of this.#innings) {
      if (innings.some((i) => i.innings === n)) continue;
      details.remove();
      this.#innings.delete(n);
    }
    // The newest first: it is what people look for.
    for (const each of innings) {
      const shown = this.#innings.get(each.innings);
      const drawn = JSON.stringify(each);
      if (shown?.drawn === drawn) continue;
      const details = shown?.details ?? this.#open(each);
      this.#innings.set(each.innings, { details, drawn });
      const summary = details.querySelector('summary');
      if (summary) setText(summary, title(each));
      details.replaceChildren(...(summary ? [summary] : []), ...body(each));
    }
    const last = innings.at(-1);
    if (card && last) setText(this.#note, card.result ?? '');
  }

  #football(card: FootballCard): void {
    const drawn = JSON.stringify(card);
    if (this.#drawn === drawn) return;
    this.#drawn = drawn;
    setText(this.#note, football.phase(card));
    this.#note.hidden = this.#note.textContent === '';
    this.element.replaceChildren(this.#note, ...football.body(card));
  }

  #open(innings: Innings): HTMLDetailsElement {
    for (const { details } of this.#innings.values()) details.open = false;
    const details = h('details', { open: true, 'data-innings': innings.innings }, h('summary'));
    this.element.prepend(details);
    return details;
  }
}

function title(innings: Innings): string {
  const declared = innings.ended === 'declared' ? 'd' : '';
  const what = innings.super_over ? ` · ${t.score.superOver}` : '';
  return `${innings.batting} ${innings.runs}/${innings.wickets}${declared} (${innings.overs})${what}`;
}

function body(innings: Innings): HTMLElement[] {
  const { extras } = innings;
  const kinds = [
    ['w', extras.wides],
    ['nb', extras.noballs],
    ['b', extras.byes],
    ['lb', extras.legbyes],
    ['pen', extras.penalty],
  ].filter(([, n]) => n !== 0);
  const of = kinds.length > 0 ? ` (${kinds.map(([k, n]) => `${k} ${n}`).join(', ')})` : '';
  const rows = [
    table(
      t.score.batting,
      t.score.battingHeads,
      innings.batters.map((b) => ({
        name: b.name,
        note: b.out ?? (b.status === 'not_out' || b.status === 'batting' ? t.score.notOut : b.status),
        strong: b.status === 'batting',
        cells: [b.runs, b.balls, b.fours, b.sixes, b.strike_rate?.toFixed(1) ?? '–'],
      })),
      t.score.battingSpoken,
    ),
    h('p', { class: 'extras' }, h('span', {}, t.score.extras), h('span', {}, `${extras.total}${of}`)),
    table(
      t.score.bowlingTable,
      t.score.bowlingHeads,
      innings.bowlers.map((b) => ({
        name: b.name,
        note: '',
        strong: b.name === innings.bowler,
        cells: [b.overs, b.maidens, b.runs, b.wickets, b.economy?.toFixed(2) ?? '–'],
      })),
      t.score.bowlingSpoken,
    ),
  ];
  if (innings.fall.length > 0) {
    const items = innings.fall.map((f) => h('li', {}, `${f.wicket}–${f.runs} ${f.player} (${f.overs})`));
    rows.push(h('h3', {}, t.score.fall), h('ol', { class: 'fall' }, ...items));
  }
  if (innings.partnerships.length > 0) {
    const items = innings.partnerships.map((p) =>
      h(
        'li',
        {},
        h('span', {}, p.batters.map((b) => `${b.name} ${b.runs}`).join(' · ')),
        h('span', { class: 'figures-of' }, `${p.runs}${p.unbroken ? '*' : ''} (${p.balls})`),
      ),
    );
    rows.push(h('h3', {}, t.score.partnerships), h('ol', { class: 'partnerships' }, ...items));
  }
  return rows;
}

interface Row {
  readonly name: string;
  readonly note: string;
  readonly strong: boolean;
  readonly cells: readonly Cell[];
}

/** @param spoken what the short heads mean. */
function table(
  caption: string,
  heads: readonly string[],
  rows: readonly Row[],
  spoken: readonly string[],
): HTMLElement {
  const head = heads.map((text, i) =>
    h(
      'th',
      { scope: 'col', ...(i > 0 ? { abbr: spoken[i - 1] ?? text, title: spoken[i - 1] ?? text } : {}) },
      text,
    ),
  );
  const body = rows.map((row) => {
    const name = h('th', { scope: 'row', class: row.strong ? 'strong' : '' }, row.name);
    if (row.note !== '') name.append(h('span', { class: 'note' }, row.note));
    return h('tr', {}, name, ...row.cells.map((cell) => h('td', {}, String(cell))));
  });
  return h(
    'table',
    {},
    h('caption', { class: 'hidden-visually' }, caption),
    h('thead', {}, h('tr', {}, ...head)),
    h('tbody', {}, ...body),
  );
}
