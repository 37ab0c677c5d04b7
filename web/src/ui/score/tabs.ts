/** Tabs (WAI-ARIA authoring practices): one is on, arrow keys change it. */

import { h } from '../dom';

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly content: HTMLElement;
}

export function tabs(label: string, all: readonly Tab[]): HTMLElement {
  const buttons = all.map((tab, i) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${tab.id}`,
        'aria-controls': `panel-${tab.id}`,
        'aria-selected': String(i === 0),
        tabindex: i === 0 ? '0' : '-1',
      },
      tab.name,
    ),
  );
  const panels = all.map((tab, i) =>
    h(
      'div',
      {
        role: 'tabpanel',
        id: `panel-${tab.id}`,
        'aria-labelledby': `tab-${tab.id}`,
        tabindex: '0',
        hidden: i !== 0,
      },
      tab.content,
    ),
  );
  const choose = (n: number, focus: boolean): void => {
    for (const [i, button] of buttons.entries()) {
      button.setAttribute('aria-selected', String(i === n));
      button.tabIndex = i === n ? 0 : -1;
      const panel = panels[i];
      if (panel) panel.hidden = i !== n;
    }
    if (focus) buttons[n]?.focus();
  };
  for (const [i, button] of buttons.entries()) {
    button.addEventListener('click', () => choose(i, false));
    button.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, Home: -i, End: buttons.length - 1 - i }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      choose((i + step + buttons.length) % buttons.length, true);
    });
  }
  return h(
    'div',
    { class: 'tabs' },
    h('div', { role: 'tablist', 'aria-label': label }, ...buttons),
    ...panels,
  );
}
