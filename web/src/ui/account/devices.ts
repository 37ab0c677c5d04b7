/** What plays now, and where one is logged in: each can be ended. */

import { dayAndTime } from '../../format';
import * as api from '../../net/account';
import { matches } from '../../net/api';
import { streams } from '../../net/streams';
import { language, t } from '../../words';
import { h } from '../dom';
import { action, sentence } from '../form';
import { streamList } from '../streams';

/** The streams that are on. */
export function watching(signal: AbortSignal): HTMLElement {
  return part('watching', t.account.watching, async (again) => {
    const all = await streams(signal);
    if (all.length === 0) return h('p', { class: 'quiet' }, t.account.notWatching);
    const titles = new Map<string, string>();
    // Without titles the names in URLs must do.
    for (const m of await matches(signal).catch(() => [])) titles.set(m.match, m.titles[language] ?? m.title);
    return streamList(all, (match) => titles.get(match) ?? match, again);
  });
}

/** The devices that are logged in. */
export function devices(signal: AbortSignal): HTMLElement {
  return part('sessions', t.account.devices, async (again) => {
    const all = await api.devices(signal);
    const said = h('p', { class: 'wrong', role: 'alert' });
    const items = all.map((device) => {
      const name = device.label === 'A device' ? t.account.unnamed : device.label;
      const used = device.current ? t.account.thisDevice : t.account.lastUsed(dayAndTime(device.usedMs));
      const item = h(
        'li',
        { 'data-device': device.id },
        h('span', { class: 'what' }, h('strong', {}, name), h('span', { class: 'quiet' }, used)),
      );
      if (!device.current) {
        const out = h(
          'button',
          { class: 'pill', type: 'button', 'aria-label': t.account.signOutDevice(name) },
          t.account.signOut,
        );
        action(out, said, async () => {
          await api.signOut(device.id);
          again();
        });
        item.append(out);
      }
      return item;
    });
    const body = h('div', {}, h('ul', { class: 'rows' }, ...items), said);
    if (all.length > 2) {
      const others = h('button', { class: 'pill', type: 'button' }, t.account.signOutElsewhere);
      action(others, said, async () => {
        await api.signOutElsewhere();
        again();
      });
      body.append(others);
    }
    return body;
  });
}

/** A part of the page that asks for itself: one that fails says so, and the others stand. */
function part(name: string, title: string, load: (again: () => void) => Promise<HTMLElement>): HTMLElement {
  const heading = h('h2', { tabindex: '-1' }, title);
  const body = h('div', {}, h('p', { class: 'quiet' }, t.common.busy));
  const show = async (): Promise<void> => {
    try {
      const again = (): void => void show().then(() => heading.focus());
      body.replaceChildren(await load(again));
    } catch (error) {
      body.replaceChildren(h('p', { class: 'wrong' }, sentence(error)));
    }
  };
  void show();
  return h('section', { class: `part ${name}` }, heading, body);
}
