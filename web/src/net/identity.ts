/**
 * Who watches here. Tokens are in cookies that no script can read; what is remembered is only whether somebody is signed
 * in, and until when the token holds, so that a page of nobody's asks nothing.
 */

import { object, text } from './narrow';
import { RequestError, type RequestOptions, request, requestJson } from './request';

const KEY = 'pavilion-who';

/** A token is renewed this long before its end: a slow request still arrives with it. */
const MARGIN_MS = 60_000;

export interface Who {
  /** Null: a device that nobody signed in on. */
  readonly account: string | null;
  /** Accounts could not be reached: good for watching here, and for nothing else. */
  readonly provisional: boolean;
  readonly expiresS: number;
}

interface Hint {
  readonly untilMs: number;
}

let refreshing: Promise<Who | null> | null = null;

/** Whether somebody is signed in, as far as is known here. */
export function isSignedIn(): boolean {
  return hint() !== null;
}

/** What the server said of who this is. */
export function note(who: Who): Who {
  // Who is let in provisionally was signed in, and will be again.
  if (who.account !== null || (who.provisional && isSignedIn())) {
    keep({ untilMs: Date.now() + who.expiresS * 1000 });
  } else keep(null);
  return who;
}

/** Nobody is signed in any more. */
export function forget(): void {
  keep(null);
}

/** The token holds a while when this is done; without a person nothing is asked. Throws {@link RequestError}. */
export async function fresh(): Promise<void> {
  const known = hint();
  if (known !== null && known.untilMs - Date.now() < MARGIN_MS) await refresh();
}

/** `POST /v1/identity/refresh`, by the cookies; null: nobody is signed in here. One at a time: each uses a token up. */
export function refresh(): Promise<Who | null> {
  refreshing ??= requestJson('/v1/identity/refresh', readWho, { method: 'POST', body: {} })
    .then(note, (error: unknown) => {
      if (!(error instanceof RequestError) || error.status !== 401) throw error;
      forget();
      return null;
    })
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

/** A request as whoever is signed in; once more with a new token if the old one does not hold. */
export async function asMe(url: string, options: RequestOptions = {}): Promise<Response> {
  await fresh();
  try {
    return await request(url, options);
  } catch (error) {
    const over = error instanceof RequestError && error.problem?.kind === 'unauthenticated';
    if (!over || (await refresh())?.account == null) throw error;
    return request(url, options);
  }
}

/** The same, parsed. */
export async function askAsMe<T>(
  url: string,
  read: (body: unknown) => T,
  options: RequestOptions = {},
): Promise<T> {
  const response = await asMe(url, options);
  return read((await response.json()) as unknown);
}

export function readWho(body: unknown): Who {
  const o = object(body);
  return {
    account: o.account == null ? null : text(o, 'account'),
    provisional: o.provisional === true,
    expiresS: typeof o.expires_s === 'number' ? o.expires_s : 0,
  };
}

function hint(): Hint | null {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? 'null') as { untilMs?: unknown } | null;
    return typeof kept?.untilMs === 'number' ? { untilMs: kept.untilMs } : null;
  } catch {
    return memory;
  }
}

/** Private windows may refuse storage: then until the page is left. */
let memory: Hint | null = null;

function keep(next: Hint | null): void {
  memory = next;
  try {
    if (next === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // In memory.
  }
}
