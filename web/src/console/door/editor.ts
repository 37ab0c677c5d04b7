/** One document, in a dialog: the door judges it, and its sentence is shown. */

import { announce } from '../../ui/announce';
import { h } from '../../ui/dom';
import { button, confirm } from '../parts';
import { type Document, deleteDocument, type Kind, putDocument } from './api';
import { json, Mistake, once, outcome } from './forms';
import { KIND_WORDS } from './words';

export interface Edited {
  readonly kind: Kind;
  readonly document: Document;
  /** Of one that stands; null: it is new. */
  readonly id: string | null;
  /** When something was changed. */
  readonly changed: () => void;
}

export function edit({ kind, document: given, id, changed }: Edited, life: AbortSignal): void {
  const title = id === null ? `A new ${kind}` : `${kind} ${id}`;
  const told = outcome();
  const textarea = h('textarea', { id: 'document', rows: 16, spellcheck: 'false', autocapitalize: 'off' });
  textarea.value = JSON.stringify(given, null, 2);
  const save = h('button', { type: 'submit', class: 'do primary' }, 'Save');
  const cancel = button('cancel', 'Cancel', () => dialog.close());
  const buttons = [save, cancel];
  if (id !== null) {
    const ask = (): void =>
      confirm(
        `Delete ${kind} ${id}?`,
        'What others name cannot be deleted. The history keeps it.',
        'Delete',
        () => {
          void once(remove, told, async () => {
            await deleteDocument(kind, id, life);
            end(`${kind} ${id} is deleted`);
            return null;
          });
        },
      );
    const remove = button('delete', 'Delete', ask, 'danger');
    buttons.push(remove);
  }
  const form = h(
    'form',
    { class: 'make' },
    h('p', { class: 'quiet' }, KIND_WORDS[kind].about),
    h('label', { for: 'document' }, 'Document, as JSON'),
    textarea,
    told.element,
    h('div', { class: 'row' }, ...buttons),
  );
  const dialog = h(
    'dialog',
    { class: 'confirm editor', 'aria-labelledby': 'editor-title' },
    h('h2', { id: 'editor-title' }, title),
    form,
  );
  const end = (words: string): void => {
    dialog.close();
    announce(words);
    changed();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void once(save, told, async () => {
      const written = read(textarea.value);
      const to = id ?? written.id;
      if (typeof to !== 'string' || to === '') throw new Mistake('A new document needs an id.');
      await putDocument(kind, to, written, life);
      end(`${kind} ${to} is saved`);
      return null;
    });
  });
  dialog.addEventListener('close', () => dialog.remove());
  life.addEventListener('abort', () => dialog.close(), { once: true });
  document.body.append(dialog);
  dialog.showModal();
  textarea.focus();
  textarea.setSelectionRange(0, 0);
}

function read(text: string): Document {
  const value = json(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Mistake('A document is an object: it begins with { and ends with }.');
  return value as Document;
}
