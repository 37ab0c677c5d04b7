/** The resources beside the stream: cards, key moments, the number watching. */

import { type RequestOptions, request } from '../net/request';
import { type CardAnswer, readAnswer } from './card';
import { fields, list, type Moment, moment, number, type Snapshot, snapshot } from './wire';

/** Of what is asked for in a loop: the loop tries again. */
const ONCE: RequestOptions = { retries: 0 };

export class Resources {
  readonly #base: string;
  readonly #match: string;
  readonly #token: () => string;

  /** @param base `https://host:port` of the score edge. */
  constructor(base: string, match: string, token: () => string) {
    this.#base = base;
    this.#match = match;
    this.#token = token;
  }

  /** The card at a moment (UTC, ms), folded from at least `since`; null: all that is known. */
  card(at: number | null, since: string | null, signal: AbortSignal): Promise<CardAnswer> {
    const query = new URLSearchParams();
    if (at !== null) query.set('at', String(Math.floor(at)));
    if (since !== null) query.set('since', since);
    return this.#get(`card?${query}`, signal, readAnswer, ONCE);
  }

  moments(signal: AbortSignal): Promise<Moment[]> {
    return this.#get('moments', signal, (body) =>
      list(fields(body)?.moments).flatMap((m) => moment(m) ?? []),
    );
  }

  snapshot(signal: AbortSignal): Promise<Snapshot> {
    const read = (body: unknown, answer: Response): Snapshot =>
      snapshot(body, answer.headers.get('x-snapshot-stale') === 'true');
    return this.#get('snapshot', signal, read, ONCE);
  }

  async watching(signal: AbortSignal): Promise<number | null> {
    return this.#get('watching', signal, (body) => number(fields(body)?.watching), ONCE);
  }

  async #get<T>(
    what: string,
    signal: AbortSignal,
    read: (body: unknown, answer: Response) => T,
    options: RequestOptions = {},
  ): Promise<T> {
    const url = new URL(`/v1/matches/${encodeURIComponent(this.#match)}/${what}`, this.#base);
    const token = this.#token();
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    const answer = await request(url, { ...options, headers, signal });
    return read((await answer.json()) as unknown, answer);
  }
}
