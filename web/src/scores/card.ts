/** The card of a match of any sport that has one here. Pure. */

import type { Happening } from './cricket/body';
import * as cricket from './cricket/card';
import * as fold from './cricket/fold';
import * as football from './football/card';
import { fields, type Headline, headline, type ScoreEvent, string } from './wire';

export type Card = cricket.Card | football.FootballCard;

export function isFootball(card: Card): card is football.FootballCard {
  return 'sport' in card;
}

/** `GET /v1/matches/{m}/card?at=`. */
export interface CardAnswer {
  /** Nothing after the time that was asked for stands before it in the log. */
  readonly cursor: string | null;
  /** The newest that was looked at; null when the server does not say. */
  readonly upto: string | null;
  readonly score: Headline | null;
  /** Null for a sport that has no card here. */
  readonly card: Card | null;
}

/** Reads an answer; throws when it is none. */
export function readAnswer(value: unknown): CardAnswer {
  const o = fields(value);
  if (!o) throw new TypeError('not a card');
  return {
    cursor: string(o.cursor),
    upto: string(o.upto),
    score: headline(o.score),
    card: cricket.readCard(o.card) ?? football.readCard(o.card),
  };
}

/** The card with what is shown beyond it; null for a sport without one. */
export function carryOn(card: Card | null, beyond: readonly ScoreEvent[]): Card | null {
  if (!card) return null;
  const bodies = beyond.map(({ body }) => body);
  if (isFootball(card)) return football.carryOn(card, bodies);
  return fold.carryOn(
    card,
    bodies.flatMap((body) => (isHappening(body) ? [body] : [])),
    true,
  );
}

/** Whether our card says what the server's headline says. */
export function agrees(card: Card, headline: Headline | null): boolean {
  if (!headline) return true;
  if (isFootball(card)) {
    const { home, away } = headline;
    // Who won is for the server to put into words.
    const ended = card.period !== 'final' || card.result !== null;
    return ended && home?.goals === card.home.goals && away?.goals === card.away.goals;
  }
  const innings = card.innings.find((i) => i.innings === headline.innings);
  if (!innings) return true;
  return (
    innings.runs === headline.runs && innings.wickets === headline.wickets && innings.overs === headline.overs
  );
}

/** As far as the fold needs it: a body that lies to it gives a card that does not agree with the headline. */
function isHappening(body: object): body is Happening {
  const { sport, at, kind } = body as { sport?: unknown; at?: unknown; kind?: unknown };
  return sport === 'cricket' && typeof at === 'object' && at !== null && typeof kind === 'string';
}
