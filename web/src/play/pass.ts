/**
 * The pass: the first path segment of all that comes from the edge. An edge renews it with an answer (CTA-5007), and from
 * then on it stands in every request. Players are never told: to them all URLs have the pass they began with, so that a
 * playlist's name, and what is relative to it, stays what it was.
 */

/** Where an edge hands over the next one. */
export const PASS_HEADER = 'CTA-Common-Access-Token';

/** Passes of before that may still stand in URLs: of requests on their way, of which each lasts some seconds. */
const HELD_MAX = 16;

/** Why a request was refused, as the edge says it (`reason` of its problem document); empty when it does not say. */
export type Refused = (reason: string) => void;

export class Pass {
  readonly #origin: string;
  readonly #first: string;
  readonly #refused: Refused;
  readonly #held: string[];
  #now: string;
  #renewals = 0;

  /** `playlist`: an absolute URL with the pass. */
  constructor(playlist: string, refused: Refused) {
    const { origin, first } = split(playlist);
    this.#origin = `${origin}/`;
    this.#first = first;
    this.#now = first;
    this.#held = [first];
    this.#refused = refused;
  }

  /** The pass of now. */
  get now(): string {
    return this.#now;
  }

  /** How often it was renewed. */
  get renewals(): number {
    return this.#renewals;
  }

  /** The URL that is asked for. What does not begin with the pass is somebody else's, and stays. */
  asked(url: string): string {
    return this.#with(url, this.#now);
  }

  /** The URL as players know it. */
  known(url: string): string {
    return this.#with(url, this.#first);
  }

  /** The next pass. */
  take(next: string | null): void {
    if (next === null || next === this.#now || !/^[\w~.-]+$/.test(next)) return;
    this.#now = next;
    this.#held.push(next);
    // The first one stays: players know it for good.
    if (this.#held.length > HELD_MAX) this.#held.splice(1, 1);
    this.#renewals += 1;
  }

  /** From a playlist's URL that was given anew. False when it is not the same match on the same edge. */
  takeFrom(playlist: string, before: string): boolean {
    const [next, was] = [split(playlist), split(before)];
    if (`${next.origin}/` !== this.#origin || next.rest !== was.rest) return false;
    this.take(next.first);
    return true;
  }

  /** An answer came, for that URL as it was asked. `body` is looked at when it is a refusal. */
  answered(url: string, status: number, next: string | null, body: () => string): void {
    // What a pass of before is told is of no interest.
    if (!url.startsWith(`${this.#origin}${this.#now}/`)) return;
    if (status === 401 || status === 403) this.#refused(reason(body));
    else this.take(next);
  }

  #with(url: string, to: string): string {
    if (!url.startsWith(this.#origin)) return url;
    const end = url.indexOf('/', this.#origin.length);
    const held = end >= 0 && this.#held.includes(url.slice(this.#origin.length, end));
    return held ? `${this.#origin}${to}${url.slice(end)}` : url;
  }
}

function split(url: string): { origin: string; first: string; rest: string } {
  const { origin, pathname } = new URL(url);
  const [, first = '', ...rest] = pathname.split('/');
  return { origin, first, rest: rest.join('/') };
}

function reason(body: () => string): string {
  try {
    const said = (JSON.parse(body()) as { reason?: unknown } | null)?.reason;
    return typeof said === 'string' ? said : '';
  } catch {
    return '';
  }
}
