/** Who acts, by their own word: it stands in the history, and opens nothing. */

import { h } from '../../ui/dom';

const KEY = 'pavilion.operator';
/** As long as the door keeps it. */
const NAME_MAX = 128;

/** The header that says it; none while nobody has said so. */
export function operatorHeader(): Readonly<Record<string, string>> {
  const name = known();
  return name === '' ? {} : { 'pavilion-operator': name };
}

/** What a header can carry of a name: ASCII. */
export function plain(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]/g, '')
    .trim()
    .slice(0, NAME_MAX);
}

/** Where operators say it. */
export function nameField(): HTMLElement {
  const field = h('input', {
    id: 'operator',
    autocomplete: 'username',
    maxlength: NAME_MAX,
    placeholder: 'Your name',
    title: 'It stands in the history of what you change; in Latin letters',
  });
  field.value = known();
  field.addEventListener('change', () => {
    field.value = plain(field.value);
    try {
      localStorage.setItem(KEY, field.value);
    } catch {
      // Without storage it is asked for again.
    }
    said = field.value;
  });
  const label = h('label', { for: 'operator', class: 'hidden-visually' }, 'Your name, for the history');
  return h('div', { class: 'operator' }, label, field);
}

let said: string | null = null;

function known(): string {
  if (said !== null) return said;
  try {
    return plain(localStorage.getItem(KEY) ?? '');
  } catch {
    return '';
  }
}
