/** The streams that are on, each with a button that stops it: on the account's page, and where one is too many. */

import { timeOfDay } from '../format';
import { type Stream, stop } from '../net/streams';
import { t } from '../words';
import { h } from './dom';
import { action } from './form';

/** @param title of a match, for people. @param stopped one is over. */
export function streamList(
  all: readonly Stream[],
  title: (match: string) => string,
  stopped: (stream: Stream) => void,
): HTMLElement {
  const said = h('p', { class: 'wrong', role: 'alert' });
  const items = all.map((stream) => {
    // What the door calls a device that does not say what it is.
    const name = stream.name === 'a device' ? t.account.unnamed : stream.name;
    const button = h(
      'button',
      { class: 'pill', type: 'button', 'aria-label': t.refusal.stopDevice(name) },
      t.common.stop,
    );
    action(button, said, async () => {
      await stop(stream.id);
      stopped(stream);
    });
    const here = stream.here ? ` · ${t.account.thisDevice}` : '';
    const since = t.refusal.watches(title(stream.match), timeOfDay(stream.sinceMs));
    return h(
      'li',
      { 'data-stream': stream.id },
      h('span', { class: 'what' }, h('strong', {}, `${name}${here}`), h('span', { class: 'quiet' }, since)),
      button,
    );
  });
  return h('div', {}, h('ul', { class: 'rows' }, ...items), said);
}
