/** A football card: goals, cards, substitutions, a shoot-out. */

import type { FootballCard, Side } from '../../scores/football/card';
import { h } from '../dom';

/** One line of the card. */
export interface Row {
  readonly minute: string;
  readonly what: string;
  readonly side: Side;
  /** It was taken back. */
  readonly struck: boolean;
}

const PERIODS: Record<string, string> = {
  first_half: 'First half',
  half_time: 'Half-time',
  second_half: 'Second half',
  full_time: 'Full time',
  extra_time_first: 'Extra time, first half',
  extra_time_half: 'Half-time of extra time',
  extra_time_second: 'Extra time, second half',
  extra_time_end: 'End of extra time',
  shootout: 'Penalty shoot-out',
  shootout_end: 'End of the shoot-out',
  final: 'Final',
};

/** `24'` for the 24th minute, `45+2'` in added time: `23:10`, `45:00+1:40`. */
export function minute(clock: string): string {
  const [base = '', added] = clock.split('+');
  const minutes = Number.parseInt(base, 10);
  if (Number.isNaN(minutes)) return '';
  return added === undefined ? `${minutes + 1}'` : `${minutes}+${(Number.parseInt(added, 10) || 0) + 1}'`;
}

/** The result, or which part of the match it is. */
export function phase(card: FootballCard): string {
  return card.result ?? PERIODS[card.period ?? ''] ?? '';
}

/** What is drawn, by heading. */
export function sections(card: FootballCard): [string, Row[]][] {
  const name = (player: string | null): string => player ?? 'unknown';
  const all: [string, Row[]][] = [
    [
      'Goals',
      card.goals.map(({ side, clock, player, own, penalty, retracted }) => ({
        side,
        minute: minute(clock),
        what:
          retracted === null
            ? `${name(player)}${own ? ' (own goal)' : penalty ? ' (penalty)' : ''}`
            : `No goal: ${retracted.replaceAll('_', ' ')}`,
        struck: retracted !== null,
      })),
    ],
    [
      'Cards',
      card.cards.map(({ side, clock, player, colour }) => ({
        side,
        minute: minute(clock),
        what: `${name(player)}, ${colour.replaceAll('_', ' ')}`,
        struck: false,
      })),
    ],
    [
      'Substitutions',
      card.substitutions.map(({ side, clock, off, on }) => ({
        side,
        minute: minute(clock),
        what: `${on} for ${off}`,
        struck: false,
      })),
    ],
    [
      'Shoot-out',
      card.shootout.map(({ side, player, scored }) => ({
        side,
        minute: '',
        what: `${name(player)} ${scored ? 'scores' : 'misses'}`,
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
