/** Logging in: by password, by a code for whoever is new or has forgotten it, by a provider. */

import * as api from '../../net/account';
import { deviceName } from '../../net/device';
import { RequestError } from '../../net/request';
import { t } from '../../words';
import { h } from '../dom';
import { field, form } from '../form';
import { go } from '../go';

/** The server's least, in characters. */
const PASSWORD_MIN = 8;

/** @param to where to go on afterwards. @param entered somebody is logged in. */
export function signIn(to: string | null, entered: () => Promise<void>, signal: AbortSignal): HTMLElement[] {
  const label = deviceName(navigator.userAgent);
  const login = form(
    t.account.logIn,
    [address(), password(t.account.password, 'current-password', '')],
    async (of) => {
      const who = await api.login(of('email').trim(), of('password'), label);
      if (who.account !== null) return entered();
      // Accounts cannot be reached: this device may watch for a while all the same.
      if (to === null) throw new RequestError(503, 'not known yet', null);
      go(to);
    },
    (error) => (error.problem?.kind === 'wrong-credentials' ? t.account.wrong : notEmail(error)),
  );
  const ways = h('div', { class: 'ways' });
  void offer(ways, to, signal);
  return [
    h('section', { class: 'part' }, h('h2', {}, t.account.logIn), login, ways),
    register(entered, label),
  ];
}

function register(entered: () => Promise<void>, label: string): HTMLElement {
  const steps = h('div', {});
  const ask = (email: string): void => {
    const send = form(
      t.account.sendCode,
      [address(email)],
      async (of) => {
        const to = of('email').trim();
        await api.register(to);
        confirm(to);
      },
      notEmail,
    );
    steps.replaceChildren(h('p', { class: 'quiet' }, t.account.newHelp), send);
  };
  const confirm = (email: string): void => {
    const other = h('button', { class: 'link', type: 'button' }, t.account.otherAddress);
    other.addEventListener('click', () => {
      ask(email);
      steps.querySelector('input')?.focus();
    });
    const code = {
      name: 'code',
      required: true,
      autocomplete: 'one-time-code',
      autocapitalize: 'characters',
    };
    const set = form(
      t.account.confirm,
      [
        field(t.account.code, { ...code, maxlength: 32, spellcheck: 'false' }),
        password(t.account.newPassword, 'new-password', t.account.passwordHint),
      ],
      async (of) => {
        await api.confirm(email, of('code').trim(), of('password'), label);
        await entered();
      },
      (error) => {
        if (error.problem?.kind === 'wrong-credentials') return t.account.wrongCode;
        return error.status === 400 ? t.account.passwordHintFailed : null;
      },
    );
    // A password manager keeps the password with the address.
    set.prepend(
      h('input', {
        class: 'hidden-visually',
        name: 'email',
        autocomplete: 'username',
        value: email,
        readonly: true,
        tabindex: '-1',
        'aria-hidden': 'true',
      }),
    );
    steps.replaceChildren(h('p', { role: 'status' }, t.account.codeSent(email)), set, other);
    steps.querySelector<HTMLElement>('[name=code]')?.focus();
  };
  ask('');
  return h('section', { class: 'part' }, h('h2', {}, t.account.new), steps);
}

/** Nobody waits for the providers, and without them there is the password. */
async function offer(ways: HTMLElement, to: string | null, signal: AbortSignal): Promise<void> {
  const back = to === null ? '/account' : `/account?to=${encodeURIComponent(to)}`;
  try {
    const links = (await api.providers(signal)).map(({ name, start }) => {
      // Away from the page, for once: the provider has its own.
      const href = `${start}?return=${encodeURIComponent(back)}`;
      return h('a', { class: 'pill', href, target: '_self' }, t.account.by(name));
    });
    ways.replaceChildren(...links);
  } catch {
    // As said.
  }
}

function address(value = ''): HTMLElement {
  return field(t.account.email, {
    name: 'email',
    type: 'email',
    required: true,
    autocomplete: 'username',
    maxlength: 254,
    value,
  });
}

function password(label: string, autocomplete: string, hint: string): HTMLElement {
  const least = autocomplete === 'new-password' ? { minlength: PASSWORD_MIN } : {};
  return field(label, { name: 'password', type: 'password', required: true, autocomplete, ...least }, hint);
}

function notEmail(error: RequestError): string | null {
  return error.status === 400 ? t.account.notEmail : null;
}
