/** Forms and buttons that ask the server: busy while they do, and say in words what went wrong. */

import { RequestError } from '../net/request';
import { t } from '../words';
import { announce } from './announce';
import { h } from './dom';

let fields = 0;

/** A labelled input; its hint is read with it. */
export function field(
  label: string,
  attributes: Record<string, string | number | boolean>,
  hint = '',
): HTMLElement {
  fields += 1;
  const id = `field-${fields}`;
  const input = h('input', {
    id,
    ...attributes,
    ...(hint === '' ? {} : { 'aria-describedby': `${id}-hint` }),
  });
  const element = h('div', { class: 'field' }, h('label', { for: id }, label), input);
  if (hint !== '') element.append(h('span', { class: 'hint', id: `${id}-hint` }, hint));
  return element;
}

/**
 * @param act does it, with what was entered by name. What it throws is said.
 * @param words what is said of an error that is this form's own; null: it is none of those.
 */
export function form(
  submit: string,
  inputs: readonly HTMLElement[],
  act: (entered: (name: string) => string) => Promise<void>,
  words: (error: RequestError) => string | null = () => null,
): HTMLFormElement {
  const button = h('button', { class: 'pill', type: 'submit' }, submit);
  const wrong = h('p', { class: 'wrong', role: 'alert' });
  const element = h('form', { class: 'form' }, ...inputs, wrong, button);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const data = new FormData(element);
    const entered = (name: string): string => String(data.get(name) ?? '');
    wrong.textContent = '';
    void once(button, () => act(entered)).catch((error: unknown) => {
      wrong.textContent = sentence(error, words);
      // What was refused is what one wants to change.
      inputs.at(-1)?.querySelector('input')?.select();
    });
  });
  return element;
}

/** @param said where it is said if it did not work; empty when it did. @param words as of {@link form}. */
export function action(
  button: HTMLButtonElement,
  said: HTMLElement,
  act: () => Promise<void>,
  words: (error: RequestError) => string | null = () => null,
): void {
  button.addEventListener('click', () => {
    said.textContent = '';
    void once(button, act).catch((error: unknown) => {
      said.textContent = sentence(error, words);
      announce(said.textContent);
    });
  });
}

/** Once at a time. The button stays in place, so that the focus does. */
async function once(button: HTMLButtonElement, act: () => Promise<void>): Promise<void> {
  if (button.getAttribute('aria-busy') === 'true') return;
  button.setAttribute('aria-busy', 'true');
  try {
    await act();
  } finally {
    button.removeAttribute('aria-busy');
  }
}

/** What went wrong, and what to do. */
export function sentence(error: unknown, own: (error: RequestError) => string | null = () => null): string {
  if (!(error instanceof RequestError)) return t.account.failed;
  const mine = own(error);
  if (mine !== null) return mine;
  const wait =
    error.retryAfterMs === null ? '' : ` ${t.account.waitFor(Math.ceil(error.retryAfterMs / 1000))}`;
  if (error.status === 0) return navigator.onLine ? t.account.failed : t.account.offline;
  if (error.status === 401) return t.account.signedOutHere;
  if (error.status === 429) return `${t.account.tooOften}${wait}`;
  if (error.status < 500) return t.account.failed;
  return `${error.problem?.kind === 'busy' ? t.refusal.busy : t.account.unreachable}${wait}`;
}
