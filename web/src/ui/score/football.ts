/** A football card: goals, cards, substitutions, a shoot-out. */

import type { FootballCard, Side } from '../../scores/football/card';
import { t } from '../../words';
import { h } from '../dom';

/** One line of the card. */
export interface Row {
  readonly minute: string;
  readonly what: string;
  readonly side: Side;
  /** It was taken back. */
  readonly struck: boolean;
}

/** `24'` for the 24th minute, `45+2'` in added time: `23:10`, `45:00+1:40`. */
export function minute(clock: string): string {
  const [base = '', added] = clock.split('+');
  const minutes = Number.parseInt(base, 10);
  if (Number.isNaN(minutes)) return '';
  return added === undefined ? `${minutes + 1}'` : `${minutes}+${(Number.parseInt(added, 10) || 0) + 1}'`;
}

/** The result, or which part of the match it is. */
export function phase(card: FootballCard): string {
  const periods: Readonly<Record<string, string>> = t.football.periods;
  return card.result ?? periods[card.period ?? ''] ?? '';
}

/** What is drawn, by heading. */
export function sections(card: FootballCard): [string, Row[]][] {
  const name = (player: string | null): string => player ?? t.football.unknown;
  const all: [string, Row[]][] = [
    [
      t.football.goals,
      card.goals.map(({ side, clock, player, own, penalty, retracted }) => ({
        side,
        minute: minute(clock),
        what:
          retracted === null
            ? own
              ? t.football.own(name(player))
              : penalty
                ? t.football.penalty(name(player))
                : name(player)
            : t.football.noGoal(retracted.replaceAll('_', ' ')),
        struck: retracted !== null,
      })),
    ],
    [
      t.football.cards,
      card.cards.map(({ side, clock, player, colour }) => ({
        side,
        minute: minute(clock),
        what: `${name(player)}, ${colour.replaceAll('_', ' ')}`,
        struck: false,
      })),
    ],
    [
      t.football.substitutions,
      card.substitutions.map(({ side, clock, off, on }) => ({
        side,
        minute: minute(clock),
        what: t.football.change(on, off),
        struck: false,
      })),
    ],
    [
      t.football.shootout,
      card.shootout.map(({ side, player, scored }) => ({
        side,
        minute: '',
        what: scored ? t.football.scores(name(player)) : t.football.misses(name(player)),
        struck: !scored,
      })),
    ],
  ];
  return all.filter(([, rows]) => rows.length > 0);
}

/** The card as it is drawn. */
export function body(card: FootballCard): HTMLElement[] {
  return sections(card).flatMap(([heading, rows]) => [
    h('h3', {}, heading),
    h(
      'ol',
      { class: 'incidents' },
      ...rows.map(({ minute, what, side, struck }) =>
        h(
          'li',
          { class: struck ? 'struck' : '' },
          h('span', { class: 'figures-of' }, minute),
          h('span', { class: 'name' }, what),
          h('span', { class: 'note' }, card[side].name),
        ),
      ),
    ),
  ]);
}
