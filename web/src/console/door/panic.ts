/** When the database behind the door is gone: the lever, how the store is, and who was let in meanwhile. */

import { h } from '../../ui/dom';
import { live } from '../live';
import { chip, confirm, figures, type Page } from '../parts';
import { ago, moment } from '../words';
import * as api from './api';
import { field, once, outcome } from './forms';
import { panicWord, VERDICT_WORDS } from './words';

const POSITIVE_WORDS: Record<api.Positive, string> = {
  auto: 'Found out: who cannot be checked is let in while the store is slow or gone',
  on: 'On: nobody is asked of the store, and who is not known is let in for minutes',
  off: 'Off: nobody is let in without a check; they are asked to come again',
};

export const panic: Page = {
  name: 'panic',
  title: 'Panic',
  open(life) {
    const state = live({ ask: api.panic, draw: (now) => [stateCard(now)], empty: '' }, life);
    const report = live({ ask: api.report, draw, empty: '' }, life);
    const changed = (): void => {
      state.now();
      report.now();
    };
    return [
      h('p', { class: 'quiet' }, 'Where a match may be shown never depends on any of this.'),
      state.element,
      h('h2', { class: 'part' }, 'Lever'),
      lever(changed, life),
      h('h2', { class: 'part' }, 'Provisional passes of the last day'),
      report.element,
    ];
  },
};

function stateCard(now: api.Panic): HTMLElement {
  const { lever, letsIn, storeBadSinceMs, pending, pressure } = now;
  const set = lever.by === '' ? 'never' : `${moment(lever.atMs)} by ${lever.by}`;
  return h(
    'section',
    { class: 'card', 'aria-label': 'State', 'data-panic': String(now.panic) },
    h('div', { class: 'head' }, h('h2', {}, 'The entitlement store'), chip(panicWord(now))),
    figures([
      [
        'Store',
        storeBadSinceMs === null ? 'answers' : `slow or gone for ${ago(Date.now() - storeBadSinceMs, '')}`,
      ],
      ['Who cannot be checked', letsIn ? 'is let in for minutes' : 'is asked to come again'],
      ['Settings and the like', lever.negative ? 'are politely refused' : 'are open'],
      ['Not settled yet', String(pending)],
      ['Crowd', `${Math.round(pressure * 100)} %`],
      ['Lever set', set],
      ['Note', lever.note === '' ? 'none' : lever.note],
    ]),
  );
}

function lever(changed: () => void, life: AbortSignal): HTMLElement {
  const told = outcome();
  const radios = api.POSITIVES.map((value) =>
    h('input', { type: 'radio', name: 'positive', id: `positive-${value}`, value }),
  );
  const rows = radios.map((radio, n) =>
    h(
      'div',
      { class: 'check' },
      radio,
      h('label', { for: radio.id }, POSITIVE_WORDS[api.POSITIVES[n] ?? 'auto']),
    ),
  );
  const negative = h('input', { id: 'negative', type: 'checkbox' });
  const note = h('input', { id: 'note', maxlength: 500, autocomplete: 'off' });
  const set = h('button', { type: 'submit', class: 'do primary', disabled: true }, 'Set');
  const fill = ({ lever: now }: api.Panic): void => {
    for (const radio of radios) radio.checked = radio.value === now.positive;
    negative.checked = now.negative;
    note.value = now.note;
    set.disabled = false;
  };
  const refused = (error: unknown): void => {
    if (!life.aborted) told.refused(error);
  };
  void api.panic(life).then(fill, refused);
  const form = h(
    'form',
    { class: 'card make' },
    h('fieldset', {}, h('legend', {}, 'Watching without a check (positive panic)'), ...rows),
    h(
      'div',
      { class: 'check' },
      negative,
      h('label', { for: 'negative' }, 'Refuse settings, logging out and the like (negative panic)'),
    ),
    field('Note, for other operators', note),
    told.element,
    h('div', { class: 'row' }, set),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const positive = api.POSITIVES.find((_, n) => radios[n]?.checked) ?? 'auto';
    const wanted = { positive, negative: negative.checked, note: note.value };
    confirm('Set the lever?', `${POSITIVE_WORDS[positive]}.`, 'Set', () => {
      void once(set, told, async () => {
        fill(await api.setLever(wanted, life));
        changed();
        return 'The lever is set. All doors know within a second or two.';
      });
    });
  });
  return form;
}

function draw(found: api.Report): HTMLElement[] {
  const { issued, entitled, notEntitled, unverified, pending, passes } = found;
  const sums = h(
    'section',
    { class: 'card', 'aria-label': 'How they were settled' },
    figures([
      ['Let in without a check', String(issued)],
      ['Had paid', String(entitled)],
      ['Had not paid', String(notEntitled)],
      ['Nobody knows', String(unverified)],
      ['Not settled yet, here', String(pending)],
    ]),
  );
  if (passes.length === 0) return [sums];
  const cards = passes.map(({ session, account, device, match, issuedMs, verdict }) =>
    h(
      'li',
      { class: 'card', 'data-pass': session },
      h(
        'div',
        { class: 'head' },
        h('h3', {}, account ?? device),
        chip(verdict === null ? { words: 'Not settled', tone: 'plain' } : VERDICT_WORDS[verdict]),
      ),
      figures([
        ['Match', match],
        ['Let in', moment(issuedMs)],
      ]),
    ),
  );
  return [sums, h('ul', { class: 'grid' }, ...cards)];
}
