/** Scorers: a one-time code for a match, and who has one. */

import { announce } from '../ui/announce';
import { h } from '../ui/dom';
import * as api from './api';
import { live, sentence } from './live';
import { button, chip, confirm, copier, figures, type Page } from './parts';
import { moment, SCORERS, scorerUrl } from './words';

export const scorers: Page = {
  name: 'scorers',
  title: 'Scorers',
  open(life) {
    const made = h('div', { class: 'made' });
    const wrong = h('p', { class: 'notice', role: 'alert', hidden: true });
    const fail = (error: unknown): void => {
      wrong.hidden = false;
      wrong.textContent = sentence(error);
    };
    const match = h('select', { id: 'match', name: 'match' });
    const make = h('button', { type: 'submit', class: 'do primary', disabled: true }, 'Make a code');
    const form = h(
      'form',
      { class: 'card make' },
      h('label', { for: 'match' }, 'Match'),
      h('div', { class: 'row' }, match, make),
      wrong,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      make.disabled = true;
      wrong.hidden = true;
      const asked = api.makeCode(match.value, life).then(async (code) => {
        const { app } = await api.overview(life).catch(() => ({ app: null }));
        made.replaceChildren(madeCard(code, app));
        announce(`The code is ${[...code.code].join(' ')}`);
        list.now();
      });
      void asked.catch(fail).finally(() => {
        make.disabled = false;
      });
    });
    const take = (scorer: api.Scorer): void =>
      confirm(
        `Revoke the scorer of ${scorer.match}?`,
        'The code, and the page that it has opened, send nothing from now on. What was entered stands.',
        'Revoke',
        () => {
          wrong.hidden = true;
          void api.revoke(scorer.id, life).then(() => list.now(), fail);
        },
      );
    let known = '';
    const list = live(
      {
        ask: async (signal) => {
          const [found, feeds] = await Promise.all([api.scorers(signal), api.feeds(signal)]);
          const open = feeds.matches.filter(({ status }) => status === 'live' || status === 'scheduled');
          const options = open.map((of) => ({ match: of.match, title: of.title }));
          // Only when it has changed: it may be open.
          if (JSON.stringify(options) !== known) offer(match, options);
          known = JSON.stringify(options);
          make.disabled = options.length === 0;
          return found;
        },
        draw: (found) => draw(found, take),
        empty: 'Nobody has a code.',
      },
      life,
    );
    return [form, made, h('h2', { class: 'part' }, 'Codes and open pages'), list.element];
  },
};

function offer(into: HTMLSelectElement, options: readonly { match: string; title: string }[]): void {
  const chosen = into.value;
  into.replaceChildren(...options.map((of) => h('option', { value: of.match }, `${of.title} (${of.match})`)));
  if (options.some((of) => of.match === chosen)) into.value = chosen;
}

function madeCard({ match, code, seconds }: api.Code, app: string | null): HTMLElement {
  const url = scorerUrl(app, match);
  const spaced = `${code.slice(0, 4)} ${code.slice(4)}`;
  const until = moment(Date.now() + seconds * 1000);
  const address =
    app === null
      ? h('span', { class: 'mono' }, url)
      : h('a', { href: url, target: '_blank', rel: 'noreferrer' }, url);
  return h(
    'section',
    { class: 'card code', 'aria-label': 'The new code' },
    h('p', {}, 'Give the scorer this address and this code:'),
    h('p', { class: 'address' }, address),
    h('p', { class: 'big mono' }, spaced),
    h('p', { class: 'quiet' }, `It opens the page once, until ${until}. It is not shown again.`),
    h(
      'div',
      { class: 'row' },
      copier('copy-code', 'Copy the code', code),
      copier('copy-both', 'Copy both', `${url}\nCode: ${spaced}`),
    ),
  );
}

function draw({ scorers, more }: api.Scorers, take: (scorer: api.Scorer) => void): HTMLElement[] {
  if (scorers.length === 0) return [];
  const cards = scorers.map((scorer) => {
    const parts = [
      h('div', { class: 'head' }, h('h3', {}, scorer.match), chip(SCORERS[scorer.state])),
      figures([
        ['Since', moment(scorer.sinceMs)],
        [scorer.state === 'revoked' ? 'Was good until' : 'Good until', moment(scorer.untilMs)],
      ]),
    ];
    if (scorer.state !== 'revoked') {
      const words = 'Revoke';
      const revoke = button(`revoke-${scorer.id}`, words, () => take(scorer));
      revoke.setAttribute(
        'aria-label',
        `${words} the scorer of ${scorer.match}, since ${moment(scorer.sinceMs)}`,
      );
      parts.push(revoke);
    }
    return h('li', { class: 'card', 'data-scorer': scorer.match, 'data-state': scorer.state }, ...parts);
  });
  const parts: HTMLElement[] = [h('ul', { class: 'grid' }, ...cards)];
  if (more > 0) parts.push(h('p', { class: 'quiet' }, `and ${more} older ones`));
  return parts;
}
