/** What an account has bought: given, and ended. */

import { h } from '../../ui/dom';
import { button, chip, confirm, figures, type Page } from '../parts';
import * as api from './api';
import { field, fromLocal, localInput, Mistake, once, outcome } from './forms';
import { day, when } from './words';

/** What is offered as the end of a new one. */
const MONTH_MS = 30 * 86_400_000;

export const purchases: Page = {
  name: 'purchases',
  title: 'Purchases',
  open(life) {
    const told = outcome();
    const account = h('input', { id: 'account', autocomplete: 'off', spellcheck: 'false', required: true });
    const show = h('button', { type: 'submit', class: 'do primary' }, 'Show');
    const form = h(
      'form',
      { class: 'card make' },
      field('Account', account),
      h('div', { class: 'row' }, show),
    );
    const found = h('div', { class: 'live' });
    const named = (): string => {
      const name = account.value.trim();
      if (name === '') throw new Mistake('Write the account first.');
      return name;
    };
    const refresh = async (name: string): Promise<void> => {
      const all = await api.purchases(name, life);
      found.replaceChildren(...list(name, all, end));
    };
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void once(show, told, async () => {
        await refresh(named());
        return null;
      });
    });
    const end = (one: api.Purchase, by: HTMLButtonElement): void =>
      confirm(
        `End ${one.product} of ${one.account}?`,
        'They are not let in by it from now on.',
        'End',
        () => {
          void once(by, told, async () => {
            await api.putPurchase({ ...one, untilMs: Math.max(Date.now(), one.fromMs) }, life);
            await refresh(one.account);
            return `${one.product} of ${one.account} has ended.`;
          });
        },
      );
    const give = giving(named, told, refresh, life);
    const words = 'What an account has now, and will have. What is over is not listed; the history has it.';
    return [
      h('p', { class: 'quiet' }, words),
      form,
      told.element,
      found,
      h('h2', { class: 'part' }, 'Give'),
      give,
    ];
  },
};

function list(
  account: string,
  all: readonly api.Purchase[],
  end: (one: api.Purchase, by: HTMLButtonElement) => void,
): HTMLElement[] {
  if (all.length === 0) return [h('p', { class: 'empty card' }, `${account} has nothing.`)];
  const nowMs = Date.now();
  const cards = all.map((one) => {
    const by = button(`end-${one.id}`, 'End now', () => end(one, by));
    by.setAttribute('aria-label', `End now: ${one.product}`);
    const is = when(one, nowMs) === 'now';
    return h(
      'li',
      { class: 'card', 'data-purchase': one.product },
      h(
        'div',
        { class: 'head' },
        h('h2', {}, one.product),
        chip(is ? { words: 'Good now', tone: 'good' } : { words: 'Later', tone: 'plain' }),
      ),
      figures([
        ['From', day(one.fromMs)],
        ['Until', day(one.untilMs)],
      ]),
      by,
    );
  });
  return [h('ul', { class: 'grid' }, ...cards)];
}

function giving(
  named: () => string,
  told: ReturnType<typeof outcome>,
  refresh: (account: string) => Promise<void>,
  life: AbortSignal,
): HTMLElement {
  const product = h('select', { id: 'product' });
  const from = h('input', { id: 'from', type: 'datetime-local' });
  const until = h('input', { id: 'until', type: 'datetime-local' });
  from.value = localInput(Date.now());
  until.value = localInput(Date.now() + MONTH_MS);
  const give = h('button', { type: 'submit', class: 'do', disabled: true }, 'Give');
  const offered = api.products(life).then((all) => {
    product.append(...all.map((one) => h('option', { value: one.id }, `${one.name} (${one.id})`)));
    give.disabled = all.length === 0;
  });
  void offered.catch((error: unknown) => {
    if (!life.aborted) told.refused(error);
  });
  const form = h(
    'form',
    { class: 'card make' },
    h('div', { class: 'fields' }, field('Product', product), field('From', from), field('Until', until)),
    h('div', { class: 'row' }, give),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void once(give, told, async () => {
      const account = named();
      const fromMs = fromLocal(from.value, 'From');
      const untilMs = fromLocal(until.value, 'Until');
      await api.putPurchase({ account, product: product.value, fromMs, untilMs }, life);
      await refresh(account);
      return `${account} has ${product.value}.`;
    });
  });
  return form;
}
