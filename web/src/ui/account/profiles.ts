/** Who watches in a household: one is chosen, others are added and taken away. */

import * as api from '../../net/account';
import { language, t } from '../../words';
import { h } from '../dom';
import { action, field, form } from '../form';
import { setIcon } from '../icons';

/** The server's longest, in characters. */
const NAME_MAX = 40;

/** @param again the account is to be drawn anew. */
export function profiles(me: api.Me, again: () => Promise<void>): HTMLElement {
  const said = h('p', { class: 'wrong', role: 'alert' });
  const items = me.profiles.map((profile) => {
    const chosen = profile.id === me.profile;
    const choose = h(
      'button',
      { class: 'profile', type: 'button', 'aria-pressed': String(chosen) },
      profile.name,
    );
    action(choose, said, async () => {
      if (!chosen) await api.chooseProfile(profile.id);
      await again();
      focusOn(profile.name);
    });
    const remove = h('button', {
      class: 'icon',
      type: 'button',
      'aria-label': t.account.deleteProfile(profile.name),
    });
    setIcon(remove, 'close');
    action(remove, said, async () => {
      await api.deleteProfile(profile.id);
      await again();
      document.querySelector<HTMLElement>('.profiles h2')?.focus();
    });
    return h('li', {}, choose, remove);
  });
  const add = form(
    t.account.add,
    [
      field(t.account.profileName, {
        name: 'name',
        required: true,
        maxlength: NAME_MAX,
        autocomplete: 'off',
      }),
    ],
    async (of) => {
      const name = of('name').trim();
      await api.makeProfile(name, language);
      await again();
      focusOn(name);
    },
    (error) => (error.status === 409 ? t.account.profilesFull : null),
  );
  return h(
    'section',
    { class: 'part profiles' },
    h('h2', { tabindex: '-1' }, t.account.profiles),
    h('ul', { class: 'names', hidden: items.length === 0 }, ...items),
    said,
    h('details', {}, h('summary', {}, t.account.addProfile), add),
  );
}

function focusOn(name: string): void {
  const all = [...document.querySelectorAll<HTMLElement>('.profile')];
  all.find((button) => button.textContent === name)?.focus();
}
