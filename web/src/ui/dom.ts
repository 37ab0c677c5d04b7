/** The least that building a page by hand needs. */

type Attributes = Record<string, string | number | boolean>;

/** An element with attributes (`false` leaves one out) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

/** Sets text only when it differs, so that nothing is laid out or read anew for nothing. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A view on the page; `leave` ends what it started. */
export interface View {
  readonly element: HTMLElement;
  leave(): void;
}
