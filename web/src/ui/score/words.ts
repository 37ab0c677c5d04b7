/** What the scoreboard says, in words. Pure. */

import { type Card, isFootball } from '../../scores/card';
import type { State } from '../../scores/core';
import { ballText, placeOf } from '../../scores/cricket/body';
import type { Innings } from '../../scores/cricket/card';
import type { Headline, ScoreEvent } from '../../scores/wire';
import { t } from '../../words';

/** The parts of a headline that are drawn apart: `CSK`, `45/2`, `5.3`. Null when it is of another form. */
export function parts(headline: Headline): { team: string; score: string; overs: string } | null {
  const found = /^(.*?) (\d+\/\d+(?: SO)?) \((\d+\.\d)\)( SO)?$/.exec(headline.text);
  if (!found) return null;
  return { team: found[1] ?? '', score: `${found[2]}${found[4] ?? ''}`, overs: found[3] ?? '' };
}

/** The innings that the headline speaks of. */
export function inningsOf(card: Card | null, headline: Headline | null): Innings | null {
  if (!card || isFootball(card)) return null;
  return card.innings.find((i) => i.innings === headline?.innings) ?? null;
}

/** `Need 48 from 32 · required 9.00`, or the run rate, or the result. */
export function chase(innings: Innings | null, card: Card | null): string {
  if (card?.result) return card.result;
  if (!innings) return '';
  const { target, runs_needed: needed, balls_left: left, required_rate: required, run_rate: rate } = innings;
  const at = rate === null ? '' : t.score.runRate(rate.toFixed(2));
  if (!target || needed === null) return capital(at);
  if (needed === 0) return t.score.reached;
  const need = left === null ? t.score.need(needed) : t.score.needFrom(needed, left);
  const rates = [required === null ? '' : t.score.required(required.toFixed(2)), at].filter((w) => w !== '');
  return [need, ...rates].join(' · ');
}

/** For the line that says what is wrong with the feed; empty when nothing is. */
export function feed(state: State, detail: string, delayed: boolean): string {
  if (state === 'reconnecting') return t.score.reconnecting;
  if (state === 'refused') return detail === '' ? t.score.refused : detail;
  return delayed ? t.score.late : '';
}

/** A ball, or whatever it was, in a few words: `5.3: 4`. */
export function happening(event: ScoreEvent): string {
  const { over, ball } = placeOf(event.event_id);
  const { body } = event;
  if (event.moment) return event.moment.text;
  if (body.sport !== 'cricket') {
    return body.sport === 'withdrawn' ? t.score.takenBack : String(body.kind ?? '').replaceAll('_', ' ');
  }
  if (body.kind !== 'delivery') return String(body.kind ?? '').replaceAll('_', ' ');
  return `${t.score.ball(over + 1, ball)}: ${ballText(body as unknown as Parameters<typeof ballText>[0])}`;
}

/** How a correction is told. */
export function correction(event: ScoreEvent, headline: Headline | null): string {
  const what = event.body.sport === 'withdrawn' ? withdrawn(event) : happening(event);
  return `${t.score.corrected(what)}${headline ? `. ${headline.text}` : ''}`;
}

function withdrawn(event: ScoreEvent): string {
  if (event.score?.sport !== 'cricket') return t.score.lastDoesNotCount;
  const { over, ball } = placeOf(event.event_id);
  return t.score.doesNotCount(t.score.ball(over + 1, ball));
}

/** `4`, `W` …, for a screen reader. */
export function spokenBall(text: string): string {
  const { spoken } = t.score;
  if (text === '.') return spoken.none;
  return text
    .replace(/W$/, ` ${spoken.wicket}`)
    .replace('wd', ` ${spoken.wide}`)
    .replace('nb', ` ${spoken.noball}`)
    .replace('lb', ` ${spoken.legbye}`)
    .replace(/(\d)b/, `$1 ${spoken.bye}`)
    .replace('+', ', ')
    .trim();
}

/** Which look a ball has. */
export function ballClass(text: string): string {
  if (text.endsWith('W')) return 'wicket';
  if (/(^|\+)6/.test(text)) return 'six';
  if (/(^|\+)4$/.test(text)) return 'four';
  return text === '.' ? 'dot-ball' : /wd|nb|b$/.test(text) ? 'extra' : '';
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
