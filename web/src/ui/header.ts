/** The top of pages without a picture: the name, the language, the account. */

import { isSignedIn } from '../net/identity';
import { choose, LANGUAGES, type Language, language, t } from '../words';
import { h } from './dom';
import { svg } from './icons';

/** The view is to be drawn again, in another language. */
export const LANGUAGE_CHOSEN = 'pavilion-language';

/** @param account whether there is a way to the account. */
export function header(account: boolean): HTMLElement {
  const brand = h('a', { class: 'brand', href: '/' });
  brand.innerHTML = svg('brand');
  brand.append('Pavilion');
  const element = h('header', { class: 'head' }, brand, languages());
  if (account) {
    const words = isSignedIn() ? t.common.account : t.common.logIn;
    element.append(h('a', { class: 'to-account', href: '/account' }, words));
  }
  return element;
}

function languages(): HTMLElement {
  const all = (Object.keys(LANGUAGES) as Language[]).map((tag) => {
    const button = h(
      'button',
      { type: 'button', lang: tag, 'aria-pressed': String(tag === language) },
      LANGUAGES[tag],
    );
    button.addEventListener('click', () => {
      void choose(tag).then(() => {
        dispatchEvent(new Event(LANGUAGE_CHOSEN));
        document.querySelector<HTMLElement>(`.languages [lang=${tag}]`)?.focus();
      });
    });
    return button;
  });
  return h('div', { class: 'languages', role: 'group', 'aria-label': t.common.language }, ...all);
}
