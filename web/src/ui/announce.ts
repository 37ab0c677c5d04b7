/** One polite live region for the whole page. */

import { h } from './dom';

const region = h('div', { class: 'hidden-visually', role: 'status', 'aria-live': 'polite' });

export function installAnnouncer(): void {
  document.body.append(region);
}

/** Says it once; the same words again are not news. */
export function announce(words: string): void {
  if (words !== '' && region.textContent !== words) region.textContent = words;
}
