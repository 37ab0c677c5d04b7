/** The identity API (docs/openapi.yaml), as the account's pages need it. Tokens go to cookies, never through here. */

import { askAsMe, asMe, forget, note, readWho, type Who } from './identity';
import { array, count, object, text } from './narrow';
import { RequestError, request, requestJson } from './request';

export interface Profile {
  readonly id: string;
  readonly name: string;
  /** BCP 47 */
  readonly language: string | null;
}

export interface Me {
  /** Null: signed in by a provider. */
  readonly email: string | null;
  readonly profile: string | null;
  readonly profiles: readonly Profile[];
}

/** A device that is signed in. */
export interface Device {
  readonly id: string;
  readonly label: string;
  /** UTC, ms. */
  readonly createdMs: number;
  readonly usedMs: number;
  readonly current: boolean;
}

export interface Provider {
  readonly name: string;
  readonly start: string;
}

const AT = '/v1/identity';

/** Sends a code to the address. */
export async function register(email: string): Promise<void> {
  await request(`${AT}/register`, { method: 'POST', body: { email }, once: true });
}

/** Uses the code up, sets the password, and signs in. */
export function confirm(email: string, code: string, password: string, label: string): Promise<Who> {
  return enter('register/confirm', { email, code, password }, label, true);
}

export function login(email: string, password: string, label: string): Promise<Who> {
  return enter('login', { email, password }, label, false);
}

async function enter(how: string, proof: object, label: string, once: boolean): Promise<Who> {
  const body = { ...proof, use: 'cookie', ...(label === '' ? {} : { label }) };
  return note(await requestJson(`${AT}/${how}`, readWho, { method: 'POST', body, once }));
}

/** Ends the session. Whatever the server answers, its cookies are gone by that; throws when it did not. */
export async function logout(): Promise<void> {
  try {
    await request(`${AT}/logout`, { method: 'POST', body: {} });
  } catch (error) {
    if (!(error instanceof RequestError) || error.status === 0) throw error;
  }
  forget();
}

/** Null: nobody is signed in. */
export function me(signal: AbortSignal): Promise<Me | null> {
  return askAsMe(`${AT}/me`, (body) => (object(body).account == null ? null : readMe(object(body))), {
    signal,
  });
}

export function devices(signal: AbortSignal): Promise<Device[]> {
  return askAsMe(`${AT}/sessions`, (body) => array(body).map(readDevice), { signal });
}

export async function signOut(device: string): Promise<void> {
  await asMe(`${AT}/sessions/${encodeURIComponent(device)}`, { method: 'DELETE' });
}

export async function signOutElsewhere(): Promise<void> {
  await asMe(`${AT}/sessions`, { method: 'DELETE' });
}

export async function makeProfile(name: string, language: string): Promise<void> {
  await asMe(`${AT}/profiles`, { method: 'POST', body: { name, language }, once: true });
}

export async function deleteProfile(id: string): Promise<void> {
  await asMe(`${AT}/profiles/${encodeURIComponent(id)}`, { method: 'DELETE' });
}

export async function chooseProfile(id: string): Promise<void> {
  const url = `${AT}/profiles/${encodeURIComponent(id)}/choose`;
  note(await askAsMe(url, readWho, { method: 'POST', body: { use: 'cookie' } }));
}

export function providers(signal: AbortSignal): Promise<Provider[]> {
  const read = (body: unknown): Provider[] =>
    array(body).map((one) => ({ name: text(object(one), 'name'), start: text(object(one), 'start') }));
  return requestJson(`${AT}/oidc`, read, { signal });
}

function readMe(o: Record<string, unknown>): Me {
  return {
    email: o.email == null ? null : text(o, 'email'),
    profile: o.profile == null ? null : text(o, 'profile'),
    profiles: array(o.profiles).map((one) => {
      const p = object(one);
      return {
        id: text(p, 'id'),
        name: text(p, 'name'),
        language: p.language == null ? null : text(p, 'language'),
      };
    }),
  };
}

function readDevice(body: unknown): Device {
  const o = object(body);
  return {
    id: text(o, 'id'),
    label: text(o, 'label'),
    createdMs: count(o, 'created_ms'),
    usedMs: count(o, 'used_ms'),
    current: o.current === true,
  };
}
