/** What clients are told: how to come again, how often to ask, what to leave off. */

import { h } from '../../ui/dom';
import type { Page } from '../parts';
import * as api from './api';
import { field, once, outcome } from './forms';

export const advice: Page = {
  name: 'advice',
  title: 'Advice',
  open(life) {
    const told = outcome();
    const body = h('div', { class: 'live', 'aria-busy': 'true' }, h('div', { class: 'loading card' }));
    const show = (now: api.Advice): void => body.replaceChildren(form(now, told, show, life));
    const asked = api.advice(life).then(show, (error: unknown) => {
      if (life.aborted) return;
      body.replaceChildren();
      told.refused(error);
    });
    void asked.finally(() => body.setAttribute('aria-busy', 'false'));
    const words =
      'Players and pages obey it within a minute. While the door is crowded they are told longer times than these.';
    return [h('p', { class: 'quiet' }, words), body, told.element];
  },
};

function number(id: string, value: number): HTMLInputElement {
  const input = h('input', { id, type: 'number', inputmode: 'numeric', min: 0, required: true });
  input.value = String(value);
  return input;
}

function form(
  now: api.Advice,
  told: ReturnType<typeof outcome>,
  show: (set: api.Advice) => void,
  life: AbortSignal,
): HTMLElement {
  const base = number('base', now.backOff.baseMs);
  const cap = number('cap', now.backOff.capMs);
  const tries = number('tries', now.backOff.perMinute);
  const refresh = Object.entries(now.refreshS).map(([what, seconds]) => ({
    what,
    input: number(`refresh-${what}`, seconds),
  }));
  const off = h('input', { id: 'off', autocomplete: 'off', spellcheck: 'false' });
  off.value = now.off.join(', ');
  const set = h('button', { type: 'submit', class: 'do primary' }, 'Set');
  const element = h(
    'form',
    { class: 'card make' },
    h(
      'fieldset',
      { class: 'fields' },
      h('legend', {}, 'Coming again after a failure'),
      field('Least wait, ms', base),
      field('Longest wait, ms', cap),
      field('Tries again in a minute', tries),
    ),
    h(
      'fieldset',
      { class: 'fields' },
      h('legend', {}, 'Seconds between two looks'),
      ...refresh.map(({ what, input }) => field(what, input)),
    ),
    field('Features that are off, with commas between', off),
    h('div', { class: 'row' }, set),
  );
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void once(set, told, async () => {
      const names = off.value.split(',').map((name) => name.trim());
      const wanted: api.Advice = {
        backOff: { baseMs: Number(base.value), capMs: Number(cap.value), perMinute: Number(tries.value) },
        refreshS: Object.fromEntries(refresh.map(({ what, input }) => [what, Number(input.value)])),
        off: names.filter((name) => name !== ''),
      };
      show(await api.setAdvice(wanted, life));
      return 'The advice is set.';
    });
  });
  return element;
}
