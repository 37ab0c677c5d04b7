/** The scorer's page: `/score/{match}`. */

import '../styles/scorer.css';
import * as api from '../net/api';
import type { ServerClock } from '../net/clock';
import { ballText } from '../scores/cricket/body';
import { announce } from '../ui/announce';
import { h, type View as PageView, setText } from '../ui/dom';
import { Feed, type Line } from './feed';
import { type Command, view as look, act as step, type View } from './model';
import { keepOffline } from './offline';
import { disarmed, entered, more, pad } from './pad';
import * as panes from './panes';
import { balls } from './state';
import { big } from './ui';

const LINES: Record<Line, string> = {
  closed: '',
  sending: 'Sending',
  sent: 'Everything is sent',
  offline: 'No network: everything is kept on this phone, and sent later',
  refused: 'This page needs a new code; everything is kept on this phone',
};

export function scorer(match: string, clock: ServerClock): PageView {
  return new Page(match, clock);
}

class Page implements PageView {
  readonly element: HTMLElement;
  readonly #clock: ServerClock;
  readonly #feed: Feed;
  readonly #life = new AbortController();
  readonly #body = h('div', { class: 'body' });
  readonly #line = h('p', { class: 'line', role: 'status' });
  readonly #armed = disarmed();

  constructor(match: string, clock: ServerClock) {
    this.#clock = clock;
    document.title = 'Scorer · Pavilion';
    this.element = h(
      'main',
      { class: 'scorer' },
      h('header', {}, h('h1', { tabindex: '-1' }, 'Scorer'), this.#line),
      this.#body,
    );
    let base: Promise<string> | null = null;
    const feeds = (): Promise<string> => {
      base ??= api.scorer(this.#life.signal).then(
        ({ feeds }) => feeds,
        (error: unknown) => {
          base = null;
          throw error;
        },
      );
      return base;
    };
    this.#feed = new Feed(match, feeds, safeStorage(), {
      line: (line) => this.#say(line),
      restored: () => this.#draw(),
    });
    void clock.sync();
    void keepOffline(this.#life.signal);
    this.#say(this.#feed.open ? 'sending' : 'closed');
    this.#draw();
  }

  leave(): void {
    this.#life.abort();
    this.#feed.close();
  }

  #act(command: Command): void {
    void this.#clock.sync();
    const { state, statements } = step(this.#feed.state, command, this.#clock.nowMs());
    this.#feed.keep(state, statements);
    this.#draw();
    const headline = this.#headline(look(state));
    if (statements.length > 0) announce(`${spoken(command)}${headline}`);
  }

  #say(line: Line): void {
    const { outbox } = this.#feed ?? {};
    const waiting = outbox?.lines.length ?? 0;
    const left = waiting > 0 && line !== 'sent' ? ` (${waiting} waiting)` : '';
    setText(this.#line, `${LINES[line]}${LINES[line] === '' ? '' : left}`);
    this.element.dataset.line = line;
    this.element.dataset.waiting = String(waiting);
    if (line === 'refused') this.#draw();
  }

  #headline(view: View): string {
    const { innings } = view;
    return innings ? `${innings.batting} ${innings.runs}/${innings.wickets} (${innings.overs})` : '';
  }

  #draw(): void {
    const { state } = this.#feed;
    const view = look(state);
    this.element.dataset.next = this.#feed.open ? view.next : 'code';
    this.element.dataset.score = this.#headline(view);
    const focus = document.activeElement?.id;
    const open = new Set(
      [...this.#body.querySelectorAll<HTMLDetailsElement>('details[open][id]')].map((d) => d.id),
    );
    this.#body.replaceChildren(...this.#parts(view));
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }

  #parts(view: View): HTMLElement[] {
    const { state } = this.#feed;
    const act = (command: Command): void => this.#act(command);
    const unlock = async (code: string): Promise<void> => {
      await this.#feed.unlock(code);
      this.#draw();
    };
    if (!this.#feed.open) return [panes.code(unlock), ...this.#score(view)];
    const parts = [...this.#score(view)];
    switch (view.next) {
      case 'squads':
        return [...parts, panes.squads(state, act)];
      case 'toss':
        return [...parts, panes.toss(state, act), this.#undo()];
      case 'innings':
        parts.push(panes.innings(state, view, act));
        break;
      case 'batters':
      case 'bowler':
        parts.push(panes.pick(state, view, act));
        break;
      case 'ball':
        parts.push(pad(state, view, this.#armed, act, () => this.#draw()));
        break;
      case 'end':
        parts.push(panes.end(view, act));
        break;
      case 'result':
        parts.push(panes.result(state, view, act));
        break;
      case 'player':
        parts.push(panes.player(state, act));
        break;
      case 'done':
        parts.push(panes.done(view));
        break;
    }
    parts.push(this.#undo());
    if (view.innings && view.innings.ended === null) parts.push(more(state, view, act));
    if (view.innings) parts.push(entered(state, view, act));
    parts.push(...this.#rejected());
    return parts;
  }

  /** What stands: so that a scorer sees at a glance whether the last tap was right. */
  #score(view: View): HTMLElement[] {
    const { innings } = view;
    if (!innings) return [];
    const { striker, nonStriker, bowler } = this.#feed.state.crease;
    const batter = (name: string | null, on: boolean): HTMLElement => {
      const of = innings.batters.find((b) => b.name === name);
      const figures = of ? `${of.runs} (${of.balls})` : '0 (0)';
      const item = h('li', { class: on ? 'on-strike' : '' }, h('span', { class: 'name' }, name ?? '–'));
      if (on) item.append(h('span', { class: 'hidden-visually' }, ', on strike, '));
      item.append(h('span', {}, name === null ? '' : figures));
      return item;
    };
    const of = innings.bowlers.find((b) => b.name === bowler);
    const chase =
      innings.runs_needed === null
        ? ''
        : `Need ${innings.runs_needed}${innings.balls_left === null ? '' : ` from ${innings.balls_left}`}`;
    const over = balls(this.#feed.state, innings.innings).filter((b) => b.at.over === view.at.over);
    return [
      h(
        'section',
        { class: 'standing', 'aria-label': 'Score' },
        h('p', { class: 'total' }, this.#headline(view)),
        h('p', { class: 'quiet chase' }, chase),
        h(
          'ul',
          { class: 'crease' },
          batter(striker, true),
          batter(nonStriker, false),
          h(
            'li',
            { class: 'bowling' },
            h('span', { class: 'name' }, bowler ?? '–'),
            h('span', {}, of ? `${of.wickets}/${of.runs} (${of.overs})` : ''),
          ),
        ),
        h(
          'p',
          { class: 'this-over' },
          over.length === 0 ? 'New over' : over.map((b) => ballText(b)).join('  '),
        ),
      ),
    ];
  }

  #undo(): HTMLElement {
    const last = this.#feed.state.acts.at(-1);
    const button = big(
      'undo',
      last ? `Undo: ${last.words}` : 'Nothing to undo',
      () => this.#act({ do: 'undo' }),
      'undo',
    );
    button.disabled = last === undefined;
    return button;
  }

  #rejected(): HTMLElement[] {
    const { rejected } = this.#feed.outbox;
    if (rejected.length === 0) return [];
    const items = rejected.map((r) => h('li', {}, `Statement ${r.seq}: ${r.why}`));
    return [
      h(
        'section',
        { class: 'wrong', 'aria-label': 'Not taken' },
        h('h2', {}, 'Not taken'),
        h('ul', {}, ...items),
      ),
    ];
  }
}

function spoken(command: Command): string {
  switch (command.do) {
    case 'ball': {
      const { runs, wide, noball, wicket } = command.tap;
      const kind = wide ? 'wide, ' : noball ? 'no-ball, ' : '';
      return `${wicket ? 'Wicket, ' : ''}${kind}${runs} ${runs === 1 ? 'run' : 'runs'}. `;
    }
    case 'undo':
      return 'Undone. ';
    case 'correct':
    case 'withdraw':
      return 'Corrected. ';
    default:
      return '';
  }
}

function safeStorage(): Storage {
  try {
    return localStorage;
  } catch {
    const kept = new Map<string, string>();
    return {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    } as Storage;
  }
}
