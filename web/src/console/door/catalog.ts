/** The catalog: documents of every kind, one by one and as one file. */

import { h } from '../../ui/dom';
import { live } from '../live';
import { button, confirm, type Page } from '../parts';
import { type Document, documents, FILE, importFile, KINDS, type Kind } from './api';
import { edit } from './editor';
import { field, json, Mistake, once, outcome } from './forms';
import { called, KIND_WORDS, template } from './words';

/** Documents that are listed at once; a name narrows them down. */
const LISTED_MAX = 60;

export const catalog: Page = {
  name: 'catalog',
  title: 'Catalog',
  open(life) {
    const kind = h('select', { id: 'kind' });
    kind.append(...KINDS.map((one) => h('option', { value: one }, KIND_WORDS[one].many)));
    kind.value = 'match';
    const chosen = (): Kind => KINDS.find((one) => one === kind.value) ?? 'match';
    const find = h('input', { id: 'find', type: 'search', autocomplete: 'off' });
    const change = (of: Kind, document: Document, id: string | null): void =>
      edit({ kind: of, document, id, changed: () => list.now() }, life);
    const make = button(
      'new',
      'New',
      () => change(chosen(), template(chosen(), Date.now()), null),
      'primary',
    );
    const list = live(
      {
        ask: async (signal) => {
          const of = chosen();
          const found = await documents(of, signal);
          const wanted = find.value.trim().toLowerCase();
          const named = found.filter((one) =>
            `${String(one.id)} ${called(one)}`.toLowerCase().includes(wanted),
          );
          return { of, named, all: found.length };
        },
        draw: ({ of, named, all }) => {
          if (named.length === 0 && all === 0) return [];
          const shown = named.slice(0, LISTED_MAX);
          const cards = shown.map((one) => card(of, one, (id) => change(of, one, id)));
          const more =
            named.length > shown.length
              ? `The first ${shown.length} of ${named.length}. Find narrows them down.`
              : '';
          const none = named.length === 0 ? `None of ${all} has that in its name.` : more;
          return [
            h('ul', { class: 'grid' }, ...cards),
            ...(none === '' ? [] : [h('p', { class: 'quiet' }, none)]),
          ];
        },
        empty: 'There is none of this kind.',
      },
      life,
    );
    kind.addEventListener('change', () => list.now());
    find.addEventListener('input', () => list.now());
    const pick = h('div', { class: 'card make fields' }, field('Kind', kind), field('Find', find), make);
    return [pick, list.element, h('h2', { class: 'part' }, 'As a file'), file(() => list.now(), life)];
  },
};

function card(kind: Kind, document: Document, then: (id: string) => void): HTMLElement {
  const id = String(document.id);
  const open = button(`edit-${kind}-${id}`, 'Edit', () => then(id));
  open.setAttribute('aria-label', `Edit ${kind} ${id}`);
  return h(
    'li',
    { class: 'card', 'data-document': `${kind}/${id}` },
    h('h2', {}, called(document) || id),
    h('p', { class: 'quiet mono' }, id),
    open,
  );
}

/** Everything out, and in again: looked at first, then done. */
function file(changed: () => void, life: AbortSignal): HTMLElement {
  const told = outcome();
  const out = h('a', { class: 'do link', href: FILE, download: 'catalog.json' }, 'Save all to a file');
  const from = h('input', { id: 'file', type: 'file', accept: '.json,application/json' });
  const replace = h('input', { id: 'replace', type: 'checkbox' });
  const look = h('button', { type: 'submit', class: 'do' }, 'Check');
  /** What was checked: this, and nothing else, is imported. */
  let checked: { readonly file: unknown; readonly replace: boolean } | null = null;
  const take = button('import', 'Import', () => {
    const what = checked;
    if (what === null) return;
    const words = what.replace
      ? 'What the file does not have is taken away.'
      : 'What the file does not have stays.';
    confirm('Import the file?', words, 'Import', () => {
      void once(take, told, async () => {
        const { put, removed } = await importFile(what.file, { replace: what.replace, dry: false }, life);
        changed();
        return `Imported. Documents written: ${put}; taken away: ${removed}.`;
      }).finally(forget);
    });
  });
  const forget = (): void => {
    checked = null;
    take.disabled = true;
  };
  forget();
  for (const input of [from, replace]) {
    input.addEventListener('change', () => {
      forget();
      told.clear();
    });
  }
  const form = h(
    'form',
    { class: 'card make' },
    out,
    field('File to import', from),
    h(
      'div',
      { class: 'check' },
      replace,
      h('label', { for: 'replace' }, 'Take away what the file does not have'),
    ),
    told.element,
    h('div', { class: 'row' }, look, take),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    forget();
    void once(look, told, async () => {
      const picked = from.files?.[0];
      if (!picked) throw new Mistake('Choose a file first.');
      const read = { file: json(await picked.text()), replace: replace.checked };
      const { put, removed } = await importFile(read.file, { replace: read.replace, dry: true }, life);
      checked = read;
      take.disabled = false;
      return `It is good. Documents to write: ${put}; to take away: ${removed}.`;
    });
  });
  return form;
}
