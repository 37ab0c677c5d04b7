/** The settings: a modal dialog of radio groups, so that focus, Escape and arrow keys are the browser's. */

import { bits, languageName, rungName } from '../format';
import { PLAYERS, type PlayerName } from '../play/adapter';
import { PROFILES, type ProfileName } from '../play/profile';
import type { Session } from '../play/session';
import { save } from '../play/settings';
import { t } from '../words';
import { h, setText } from './dom';
import { setIcon } from './icons';

const PLAYER_WORDS: Record<PlayerName, [string, string]> = {
  hls: ['hls.js', ''],
  shaka: ['Shaka Player', ''],
};

interface Choice {
  readonly id: string;
  readonly name: string;
  readonly hint?: string;
  readonly lang?: string;
}

export class Panel {
  readonly element: HTMLDialogElement;
  readonly #session: Session;
  readonly #body = h('div', { class: 'groups' });
  readonly #figures = h('dl', { class: 'figures' });

  constructor(session: Session) {
    this.#session = session;
    const close = h('button', { class: 'icon', type: 'button', 'aria-label': t.panel.close });
    setIcon(close, 'close');
    this.element = h(
      'dialog',
      { class: 'panel', 'aria-labelledby': 'panel-title' },
      h('header', {}, h('h2', { id: 'panel-title' }, t.common.settings), close),
      this.#body,
      h('h3', {}, t.panel.now),
      this.#figures,
    );
    close.addEventListener('click', () => this.element.close());
    // A click on the backdrop is a click on the dialog itself.
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'GoBack' || event.key === 'BrowserBack') this.element.close();
      event.stopPropagation();
    });
  }

  open(): void {
    this.#draw();
    this.figures();
    this.element.showModal();
    this.element.querySelector<HTMLInputElement>('input:checked')?.focus();
  }

  /** Tracks changed: draws again if open, and keeps the focus. */
  refresh(): void {
    if (!this.element.open) return;
    const focus = document.activeElement?.id;
    this.#draw();
    if (focus) document.getElementById(focus)?.focus();
  }

  /** What is in force, for those who like to know. */
  figures(): void {
    const s = this.#session.stats();
    const rung = this.#session.adapter?.rung();
    const seconds = (ms: number, digits: number): string => `${(ms / 1000).toFixed(digits)} ${t.units.s}`;
    const holdBack = seconds(s.holdBackMs, 2);
    const rows: [string, string][] = [
      [t.panel.behind, s.behindMs === null ? '–' : seconds(s.behindMs, 2)],
      [t.panel.holdBack, s.widenedMs > 0 ? t.panel.widened(holdBack) : holdBack],
      [t.panel.ahead, seconds(s.aheadMs, 1)],
      [t.panel.picture, rung ? `${rung.height}p, ${bits(rung.bandwidth)}` : '–'],
      [t.panel.interruptions, String(s.stalls.length)],
    ];
    while (this.#figures.children.length < rows.length) {
      this.#figures.append(h('div', {}, h('dt'), h('dd')));
    }
    for (const [i, [name, value]] of rows.entries()) {
      const row = this.#figures.children[i];
      const [dt, dd] = row ? [row.querySelector('dt'), row.querySelector('dd')] : [null, null];
      if (dt) setText(dt, name);
      if (dd) setText(dd, value);
    }
  }

  #draw(): void {
    const session = this.#session;
    const { settings, adapter } = session;
    const rungs = [...(adapter?.rungs() ?? [])].sort((a, b) => b.bandwidth - a.bandwidth);
    const languages = adapter?.languages() ?? [];
    const captions = adapter?.captions() ?? [];
    const groups = [
      group(
        'profile',
        t.panel.latency,
        PROFILES.map((id) => ({ id, ...profileWords(id) })),
        settings.profile,
        (id) => {
          void session.change(settings.player, id as ProfileName);
        },
      ),
    ];
    if (languages.length > 1) {
      const choices = languages.map((t) => ({ id: t.id, name: languageName(t), lang: t.language }));
      groups.push(
        group('language', t.panel.commentary, choices, adapter?.language()?.id ?? '', (id) => {
          settings.language = languages.find((t) => t.id === id)?.language ?? null;
          adapter?.chooseLanguage(id);
        }),
      );
    }
    if (rungs.length > 1) {
      const choices = [
        { id: '', name: t.panel.automatic },
        ...rungs.map((r) => ({ id: r.id, name: rungName(r, rungs) })),
      ];
      groups.push(
        group('quality', t.panel.quality, choices, adapter?.chosenRung() ?? '', (id) => {
          adapter?.chooseRung(id === '' ? null : id);
        }),
      );
    }
    if (captions.length > 0) {
      const choices = captions.map((t) => ({ id: t.id, name: languageName(t), lang: t.language }));
      groups.push(
        group(
          'captions',
          t.panel.captions,
          [{ id: '', name: t.panel.off }, ...choices],
          adapter?.caption()?.id ?? '',
          (id) => {
            settings.captions = id !== '';
            adapter?.chooseCaption(id === '' ? null : id);
          },
        ),
      );
    }
    groups.push(
      group(
        'player',
        t.panel.player,
        PLAYERS.map((id) => ({ id, name: PLAYER_WORDS[id][0], hint: PLAYER_WORDS[id][1] })),
        settings.player,
        (id) => {
          void session.change(id as PlayerName, settings.profile);
        },
      ),
    );
    for (const g of groups) g.addEventListener('change', () => save(settings));
    this.#body.replaceChildren(...groups);
  }
}

function profileWords(id: ProfileName): { name: string; hint: string } {
  const [name = '', hint = ''] = t.panel[id];
  return { name, hint };
}

function group(
  name: string,
  title: string,
  choices: readonly Choice[],
  chosen: string,
  choose: (id: string) => void,
): HTMLElement {
  const options = choices.map((choice, i) => {
    const input = h('input', {
      type: 'radio',
      name,
      id: `${name}-${i}`,
      value: choice.id,
      checked: choice.id === chosen,
    });
    input.addEventListener('change', () => choose(choice.id));
    const words = h(
      'span',
      { class: 'words' },
      h('span', choice.lang ? { lang: choice.lang } : {}, choice.name),
    );
    if (choice.hint) words.append(h('span', { class: 'hint' }, choice.hint));
    return h('label', { class: 'option' }, input, words);
  });
  return h('fieldset', { class: name }, h('legend', {}, title), h('div', { class: 'options' }, ...options));
}
