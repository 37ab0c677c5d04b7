/** The account: logging in, or who is logged in, what plays, and on which devices. */

import '../../styles/account.css';
import * as api from '../../net/account';
import { isSignedIn, refresh } from '../../net/identity';
import type { RequestError } from '../../net/request';
import { forgetWatched } from '../../play/history';
import { t } from '../../words';
import { announce } from '../announce';
import { h, type View } from '../dom';
import { action, sentence } from '../form';
import { go, ourPath } from '../go';
import { header } from '../header';
import { followArrows } from '../spatial';
import { devices, watching } from './devices';
import { profiles } from './profiles';
import { signIn } from './signin';

export function account(): View {
  const title = h('h1', { tabindex: '-1' }, t.account.title);
  const body = h(
    'div',
    { class: 'parts', 'aria-busy': 'true' },
    h('p', { class: 'quiet' }, t.account.asking),
  );
  const element = h('main', { class: 'home account' }, header(false), title, body);
  const life = new AbortController();
  followArrows(element, life.signal);
  document.title = `${t.account.title} · Pavilion`;
  const put = (...parts: HTMLElement[]): void => {
    body.setAttribute('aria-busy', 'false');
    body.replaceChildren(...parts);
  };
  const show = async (): Promise<void> => {
    try {
      const me = await whoIsHere(life.signal);
      life.signal.throwIfAborted();
      const to = ourPath(new URLSearchParams(location.search).get('to'));
      if (me !== null && to !== null) return go(to);
      if (me === null) put(...signIn(to, entered, life.signal));
      else put(...signedIn(me, show, life.signal, left));
    } catch (error) {
      if (life.signal.aborted) return;
      const again = h('button', { class: 'pill', type: 'button' }, t.watch.retry);
      again.addEventListener('click', () => void show());
      put(h('p', { role: 'alert' }, sentence(error)), again);
    }
  };
  const entered = async (): Promise<void> => {
    await show();
    title.focus();
  };
  const left = (): void => {
    put(...signIn(null, entered, life.signal));
    announce(t.account.loggedOut);
    title.focus();
  };
  void show();
  return { element, leave: () => life.abort() };
}

/** Whom the cookies name: also those that a provider's way back has set, of which the page knows nothing yet. */
async function whoIsHere(signal: AbortSignal): Promise<api.Me | null> {
  if (!isSignedIn() && (await refresh())?.account == null) return null;
  try {
    return await api.me(signal);
  } catch (error) {
    // It was ended from another device.
    if (!isSignedIn()) return null;
    throw error;
  }
}

function signedIn(
  me: api.Me,
  again: () => Promise<void>,
  signal: AbortSignal,
  left: () => void,
): HTMLElement[] {
  const said = h('p', { class: 'wrong', role: 'alert' });
  const out = h('button', { class: 'pill', type: 'button' }, t.account.logOut);
  const still = (error: RequestError): string | null => (error.status === 0 ? t.account.logOutFailed : null);
  const leave = async (): Promise<void> => {
    await api.logout();
    forgetWatched();
    left();
  };
  action(out, said, leave, still);
  const who = me.email === null ? t.account.signedIn : t.account.signedInAs(me.email);
  return [
    h('section', { class: 'part who' }, h('p', {}, who), out, said),
    profiles(me, again),
    watching(signal),
    devices(signal),
  ];
}
