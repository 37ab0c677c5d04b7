/** Everything that is not a ball: teams, toss, who is where, the ends of innings and match. */

import type { Outcome } from '../scores/cricket/body';
import { outcomeOf } from '../scores/cricket/decide';
import { resultText } from '../scores/cricket/fold';
import { h } from '../ui/dom';
import { battingNext, type Command, targetOf, type View } from './model';
import type { Crease, Squads, State } from './state';
import { big, check, choose, field, form, names } from './ui';

export type Act = (command: Command) => void;

/** The longest name that the feed takes, in bytes. */
const NAME_MAX = 120;

export function code(open: (code: string) => Promise<void>): HTMLElement {
  return pane(
    'Open the scorer’s page',
    h(
      'p',
      { class: 'quiet' },
      'You were given a code for this match. It opens this page once, on this phone.',
    ),
    form('Open', [field({ name: 'code', label: 'Code' })], async (values) => {
      if (values.text('code') === '') return 'Enter the code.';
      try {
        await open(values.text('code'));
        return null;
      } catch (error) {
        return error instanceof Error && error.name === 'Error'
          ? error.message
          : 'There is no network. Try again.';
      }
    }),
  );
}

export function squads(state: State, act: Act): HTMLElement {
  const before = state.squads;
  const team = (i: 0 | 1): HTMLElement[] => [
    field({ name: `team${i}`, label: i === 0 ? 'First team' : 'Second team', value: before?.teams[i] ?? '' }),
    field({
      name: `players${i}`,
      label: 'Players',
      type: 'lines',
      value: before?.players[i].join('\n') ?? '',
      hint: 'One on each line',
    }),
  ];
  return pane(
    'Teams',
    form('Go on to the toss', [...team(0), ...team(1)], (values) => {
      const teams: [string, string] = [values.text('team0'), values.text('team1')];
      const players: [string[], string[]] = [values.lines('players0'), values.lines('players1')];
      const wrong = wrongSquads({ teams, players });
      if (wrong === null) act({ do: 'squads', squads: { teams, players } });
      return wrong;
    }),
  );
}

function wrongSquads({ teams, players }: Squads): string | null {
  if (teams.some((t) => t === '') || teams[0] === teams[1]) return 'Two teams need two names.';
  if (players.some((p) => p.length < 2)) return 'Each team needs two players at least.';
  const bytes = (text: string): number => new TextEncoder().encode(text).length;
  return [...teams, ...players.flat()].some((n) => bytes(n) > NAME_MAX) ? 'A name is too long.' : null;
}

export function toss(state: State, act: Act): HTMLElement {
  return pane(
    'Toss',
    form(
      'Start the match',
      [
        choose('winner', 'Who won the toss?', names(state.squads?.teams ?? []), null),
        choose(
          'decision',
          'They chose to',
          [
            { value: 'bat', label: 'Bat' },
            { value: 'field', label: 'Field' },
          ],
          null,
        ),
        field({
          name: 'overs',
          label: 'Overs an innings',
          type: 'number',
          value: '20',
          hint: 'Empty: no limit',
        }),
        field({ name: 'per', label: 'Balls an over', type: 'number', value: '6' }),
      ],
      (values) => {
        const [winner, decision] = [values.text('winner'), values.text('decision')];
        const overs = values.text('overs') === '' ? null : values.count('overs');
        const per = values.count('per') ?? 0;
        if (winner === '') return 'Who won the toss?';
        if (decision !== 'bat' && decision !== 'field') return 'Bat or field?';
        if (overs === 0 || (overs === null && values.text('overs') !== '')) return 'How many overs?';
        if (per < 1 || per > 10) return 'An over has 1 to 10 balls.';
        const format = overs === null ? 'Test' : overs === 50 ? 'ODI' : `T${overs}`;
        act({ do: 'toss', winner, decision, overs, ballsPerOver: per, format });
        return null;
      },
    ),
  );
}

export function innings(state: State, view: View, act: Act): HTMLElement {
  const teams = state.squads?.teams ?? ['', ''];
  const target = targetOf(view.card);
  const played = view.card.innings.length;
  const superOver = played >= 2 && view.card.overs !== null;
  const parts = [
    choose('batting', 'Who bats?', names(teams), battingNext(view.card, teams)),
    ...(superOver ? [check('super', 'A super over', true)] : []),
    ...(played > 0
      ? [
          field({
            name: 'target',
            label: 'Runs to win',
            type: 'number',
            value: target ? String(target.runs) : '',
            hint: 'Empty: there is no target',
          }),
          field({
            name: 'overs',
            label: 'In how many overs',
            value: target?.overs ?? '',
            hint: 'Such as 20 or 14.3',
          }),
        ]
      : []),
  ];
  return pane(
    superOver ? 'Super over' : `Innings ${played + 1}`,
    form('Start the innings', parts, (values) => {
      const batting = values.text('batting');
      if (batting === '') return 'Who bats?';
      const runs = values.count('target');
      const overs = values.text('overs');
      if (overs !== '' && !/^\d{1,3}(\.\d)?$/.test(overs)) return 'Write overs as 20 or 14.3.';
      const to = runs === null || runs === 0 ? null : { runs, overs: overs === '' ? null : overs };
      act({ do: 'innings', batting, superOver: values.has('super'), target: to });
      return null;
    }),
  );
}

/** Picks whoever is missing at the crease, or the bowler. */
export function pick(state: State, view: View, act: Act): HTMLElement {
  const { striker, nonStriker } = state.crease;
  const bowler = view.next === 'bowler';
  const slot: keyof Crease = bowler ? 'bowler' : striker === null ? 'striker' : 'nonStriker';
  const first = striker === null && nonStriker === null;
  const words = bowler
    ? `Who bowls over ${view.at.over + 1}?`
    : slot === 'striker'
      ? first && view.at.over === 0 && view.at.ball === 1
        ? 'Who faces the first ball?'
        : 'Who comes in, on strike?'
      : first || view.innings?.deliveries === 0
        ? 'Who is at the other end?'
        : 'Who comes in, at the other end?';
  const all = bowler ? view.mayBowl : view.yetToBat;
  const buttons = all.map((name, i) =>
    big(`pick-${i}`, name, () => act({ do: 'crease', crease: { [slot]: name } })),
  );
  return pane(words, h('div', { class: 'picks' }, ...buttons), another(state, view, bowler, act));
}

/** Somebody who was not typed in. */
function another(state: State, view: View, bowler: boolean, act: Act): HTMLElement {
  const team = bowler ? view.innings?.bowling : view.innings?.batting;
  return h(
    'details',
    { class: 'another' },
    h('summary', {}, 'Somebody else'),
    form('Add', [field({ name: 'player', label: 'Name' })], (values) => {
      const name = values.text('player');
      const { squads } = state;
      if (name === '' || !squads) return 'Who?';
      const add = (i: 0 | 1): readonly string[] =>
        squads.teams[i] === team ? [...new Set([...squads.players[i], name])] : squads.players[i];
      act({ do: 'squads', squads: { ...squads, players: [add(0), add(1)] } });
      return null;
    }),
  );
}

const HOW: Record<string, string> = {
  all_out: 'All out',
  overs: 'All overs are bowled',
  target: 'The target is reached',
  declared: 'Declared',
  forfeited: 'Forfeited',
  abandoned: 'Abandoned',
};

export function end(view: View, act: Act): HTMLElement {
  return pane(
    HOW[view.how] ?? 'End of the innings',
    h('p', { class: 'quiet' }, 'If the last ball was entered wrong, undo or correct it first.'),
    big('end', 'End the innings', () => act({ do: 'end', how: view.how }), 'primary'),
  );
}

export function endings(): { value: string; label: string }[] {
  return Object.entries(HOW).map(([value, label]) => ({ value, label }));
}

export function result(state: State, view: View, act: Act): HTMLElement {
  const decided = outcomeOf(view.card);
  const parts: HTMLElement[] = [
    big('result', resultText(decided), () => act({ do: 'result', outcome: decided }), 'primary'),
  ];
  const tied = decided.result === 'tie' && decided.eliminator === null;
  if (tied) parts.push(innings(state, view, act));
  parts.push(h('details', { class: 'another' }, h('summary', {}, 'Another result'), other(state, act)));
  return pane('Result', ...parts);
}

function other(state: State, act: Act): HTMLElement {
  const choices = [
    ...names(state.squads?.teams ?? []),
    { value: '=tie', label: 'Tie' },
    { value: '=draw', label: 'Draw' },
    { value: '=no_result', label: 'No result' },
  ];
  return form(
    'Confirm',
    [
      choose('winner', 'Who won?', choices, null),
      choose(
        'by',
        'By',
        [
          { value: 'runs', label: 'Runs' },
          { value: 'wickets', label: 'Wickets' },
          { value: 'innings', label: 'An innings and runs' },
        ],
        null,
      ),
      field({ name: 'margin', label: 'By how many', type: 'number' }),
      field({ name: 'method', label: 'Method', hint: 'Such as DLS; empty if there was none' }),
    ],
    (values) => {
      const winner = values.text('winner');
      if (winner === '') return 'Who won?';
      const none: Outcome = {
        winner: null,
        by: null,
        margin: null,
        result: null,
        eliminator: null,
        method: null,
      };
      const method = values.text('method').toLowerCase() || null;
      const by = values.text('by') || null;
      const outcome: Outcome = winner.startsWith('=')
        ? { ...none, result: winner.slice(1), method }
        : { ...none, winner, by, margin: by === null ? null : values.count('margin'), method };
      act({ do: 'result', outcome });
      return null;
    },
  );
}

export function player(state: State, act: Act): HTMLElement {
  const all = state.squads?.players.flat() ?? [];
  const buttons = all.map((name, i) => big(`pick-${i}`, name, () => act({ do: 'player', player: name })));
  return pane('Player of the match', h('div', { class: 'picks' }, ...buttons));
}

export function done(view: View): HTMLElement {
  return pane(
    'The match is over',
    h('p', {}, view.card.result ?? ''),
    h(
      'p',
      { class: 'quiet' },
      'Keep this page open until everything is sent. Corrections are still possible.',
    ),
  );
}

export function pane(title: string, ...parts: HTMLElement[]): HTMLElement {
  return h('section', { class: 'pane', 'aria-label': title }, h('h2', {}, title), ...parts);
}
