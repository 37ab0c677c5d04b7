/** What forms of the door's pages are made of. */

import { announce } from '../../ui/announce';
import { h } from '../../ui/dom';
import { sentence } from '../live';

export type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A field with its name above it; its id is the field's. */
export function field(name: string, input: Input): HTMLElement {
  return h('div', { class: 'field' }, h('label', { for: input.id }, name), input);
}

export interface Outcome {
  readonly element: HTMLElement;
  clear(): void;
  /** Why it was refused, in the server's words. */
  refused(error: unknown): void;
  done(words: string): void;
}

/** What came of it, below what asked for it. */
export function outcome(): Outcome {
  const wrong = h('p', { class: 'notice', role: 'alert', hidden: true });
  const good = h('p', { class: 'done', hidden: true });
  const clear = (): void => {
    wrong.hidden = true;
    good.hidden = true;
  };
  return {
    element: h('div', { class: 'outcome' }, wrong, good),
    clear,
    refused(error) {
      clear();
      wrong.textContent = error instanceof Mistake ? error.message : sentence(error);
      wrong.hidden = false;
    },
    done(words) {
      clear();
      good.textContent = words;
      good.hidden = false;
      announce(words);
    },
  };
}

/** Something that is wrong before it is sent. */
export class Mistake extends Error {}

/** A text as JSON. Throws {@link Mistake}. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Mistake(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Does it once at a time, and says what came of it. `done` gives the words for success; none: nothing is said. */
export async function once(
  button: HTMLButtonElement,
  told: Outcome,
  act: () => Promise<string | null>,
): Promise<void> {
  button.disabled = true;
  told.clear();
  try {
    const words = await act();
    if (words !== null) told.done(words);
  } catch (error) {
    told.refused(error);
  } finally {
    button.disabled = false;
  }
}

/** A moment for `datetime-local`, in the operator's time zone. */
export function localInput(utcMs: number): string {
  const at = new Date(utcMs);
  return new Date(utcMs - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The other way. Throws {@link Mistake}. */
export function fromLocal(text: string, name: string): number {
  const ms = new Date(text).getTime();
  if (!Number.isFinite(ms)) throw new Mistake(`${name} must be a day and a time.`);
  return ms;
}
