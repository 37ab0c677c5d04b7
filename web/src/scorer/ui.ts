/** What the scorer's panes are made of: large things for thumbs. */

import { h } from '../ui/dom';

/** A large button. `id` keeps the focus over a redraw. */
export function big(id: string, words: string, then: () => void, look = ''): HTMLButtonElement {
  const element = h('button', { type: 'button', id, class: `big ${look}`.trim() }, words);
  element.addEventListener('click', then);
  return element;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string;
  readonly type?: 'text' | 'number' | 'lines';
  readonly hint?: string;
}

export function field({ name, label, value = '', type = 'text', hint }: Field): HTMLElement {
  const id = `field-${name}`;
  const input =
    type === 'lines'
      ? h('textarea', { id, name, rows: 6, autocapitalize: 'words', spellcheck: 'false' })
      : h('input', {
          id,
          name,
          type: 'text',
          autocomplete: 'off',
          inputmode: type === 'number' ? 'numeric' : 'text',
        });
  input.value = value;
  const element = h('p', { class: 'field' }, h('label', { for: id }, label), input);
  if (hint) {
    input.setAttribute('aria-describedby', `${id}-hint`);
    element.append(h('span', { class: 'hint', id: `${id}-hint` }, hint));
  }
  return element;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** One of several, as large radio buttons. */
export function choose(
  name: string,
  label: string,
  choices: readonly Choice[],
  chosen: string | null,
): HTMLFieldSetElement {
  const options = choices.map(({ value, label: words }, i) =>
    h(
      'label',
      { class: 'choice' },
      h('input', { type: 'radio', name, value, id: `${name}-${i}`, checked: value === chosen }),
      h('span', {}, words),
    ),
  );
  return h(
    'fieldset',
    { class: 'choose' },
    h('legend', {}, label),
    h('div', { class: 'choices' }, ...options),
  );
}

export function names(all: readonly string[]): Choice[] {
  return all.map((name) => ({ value: name, label: name }));
}

export function check(name: string, label: string, checked: boolean): HTMLElement {
  const input = h('input', { type: 'checkbox', name, id: `check-${name}`, checked });
  return h('label', { class: 'choice' }, input, h('span', {}, label));
}

/** What a form says. */
export class Values {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  text(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value.trim() : '';
  }

  /** Null when it is no whole number from 0. */
  count(name: string): number | null {
    const text = this.text(name);
    return /^\d{1,4}$/.test(text) ? Number(text) : null;
  }

  has(name: string): boolean {
    return this.#data.get(name) !== null;
  }

  /** One a line; each once. */
  lines(name: string): string[] {
    const value = this.#data.get(name);
    const lines = typeof value === 'string' ? value.split('\n') : [];
    return [...new Set(lines.map((l) => l.trim()).filter((l) => l !== ''))];
  }
}

/** A form that does something, or says what is wrong with it. */
export function form(
  submit: string,
  parts: readonly HTMLElement[],
  then: (values: Values) => string | null | Promise<string | null>,
): HTMLFormElement {
  const wrong = h('p', { class: 'wrong', role: 'alert', hidden: true });
  const button = h('button', { type: 'submit', class: 'big primary' }, submit);
  const element = h('form', { novalidate: true }, ...parts, wrong, button);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    button.disabled = true;
    void Promise.resolve(then(new Values(element))).then((words) => {
      button.disabled = false;
      wrong.hidden = words === null;
      wrong.textContent = words ?? '';
    });
  });
  return element;
}

/** A modal form; closing it does nothing. */
export function dialog(
  title: string,
  submit: string,
  parts: readonly HTMLElement[],
  then: (values: Values) => string | null,
): void {
  const close = h('button', { type: 'button', class: 'big' }, 'Cancel');
  const element = h('dialog', { class: 'ask', 'aria-labelledby': 'ask-title' });
  const inner = form(submit, parts, (values) => {
    const words = then(values);
    if (words === null) element.close();
    return words;
  });
  inner.append(close);
  element.append(h('h2', { id: 'ask-title' }, title), inner);
  close.addEventListener('click', () => element.close());
  element.addEventListener('close', () => element.remove());
  document.querySelector('.scorer')?.append(element);
  element.showModal();
}
