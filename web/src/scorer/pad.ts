/** The ball: runs with one tap, everything else with two or three. */

import { ballText, DISMISSALS, type Dismissal, eventId, isBowlers, oversText } from '../scores/cricket/body';
import { h } from '../ui/dom';
import { delivery, type Tap, tapOf } from './ball';
import type { View } from './model';
import { type Act, endings } from './panes';
import { balls, placeText, type State } from './state';
import { big, check, choose, dialog, field, names, type Values } from './ui';

/** Extras that are armed for the next ball. */
export interface Armed {
  wide: boolean;
  noball: boolean;
  as: 'byes' | 'legbyes' | null;
}

export function disarmed(): Armed {
  return { wide: false, noball: false, as: null };
}

const RUNS = [0, 1, 2, 3, 4, 5, 6];

/** Ways out at a ball, the frequent first. */
const AT_A_BALL: Dismissal[] = [
  'caught',
  'bowled',
  'lbw',
  'run_out',
  'stumped',
  'caught_and_bowled',
  'hit_wicket',
  'obstructing_the_field',
  'hit_the_ball_twice',
];

export function pad(state: State, view: View, armed: Armed, act: Act, redraw: () => void): HTMLElement {
  const tap = (runs: number): Tap => ({
    runs,
    wide: armed.wide,
    noball: armed.noball,
    ...(armed.as && !armed.wide ? { as: armed.as } : {}),
  });
  const bowl = (t: Tap): void => {
    Object.assign(armed, disarmed());
    act({ do: 'ball', tap: t });
  };
  const toggle = (id: string, words: string, on: boolean, change: () => void): HTMLButtonElement => {
    const button = big(
      id,
      words,
      () => {
        change();
        redraw();
      },
      'toggle',
    );
    button.setAttribute('aria-pressed', String(on));
    return button;
  };
  const runs = RUNS.map((n) => {
    const button = big(
      `runs-${n}`,
      String(n),
      () => bowl(tap(n)),
      n === 4 || n === 6 ? 'runs boundary' : 'runs',
    );
    button.setAttribute('aria-label', `${n} ${n === 1 ? 'run' : 'runs'}`);
    return button;
  });
  const as = (kind: 'byes' | 'legbyes'): void => {
    armed.as = armed.as === kind ? null : kind;
    armed.wide = false;
  };
  return h(
    'section',
    { class: 'pane pad', 'aria-label': 'This ball' },
    h('h2', {}, `Ball ${oversText(view.innings?.balls ?? 0, view.card.balls_per_over)}`),
    h(
      'div',
      { class: 'toggles' },
      toggle('wide', 'Wide', armed.wide, () => Object.assign(armed, { ...disarmed(), wide: !armed.wide })),
      toggle('noball', 'No-ball', armed.noball, () =>
        Object.assign(armed, { noball: !armed.noball, wide: false }),
      ),
      toggle('byes', 'Byes', armed.as === 'byes', () => as('byes')),
      toggle('legbyes', 'Leg byes', armed.as === 'legbyes', () => as('legbyes')),
    ),
    h(
      'div',
      { class: 'run-grid' },
      ...runs,
      big('wicket', 'Wicket', () => wicket(state, view, tap, bowl), 'wicket'),
    ),
    h('p', { class: 'quiet help' }, help(armed)),
  );
}

function help(armed: Armed): string {
  if (armed.wide) return 'A wide: tap the runs that were run besides, 0 for none.';
  if (armed.noball && armed.as) return 'A no-ball: tap the byes that were run.';
  if (armed.noball) return 'A no-ball: tap the runs off the bat, 0 for none.';
  if (armed.as) return 'Tap how many.';
  return 'Tap the runs off the bat.';
}

/** Who is out, how, with whom, and what was run meanwhile. */
function wicket(state: State, view: View, tap: (runs: number) => Tap, bowl: (tap: Tap) => void): void {
  const parts = wicketParts(state, view, null);
  dialog('Wicket', 'Record the wicket', parts, (values) => {
    const found = readWicket(state, values);
    if (typeof found === 'string') return found;
    bowl({ ...tap(values.count('runs') ?? 0), wicket: found });
    return null;
  });
}

function wicketParts(state: State, view: View, before: Tap['wicket'] | null): HTMLElement[] {
  const { striker, nonStriker } = state.crease;
  const in_ = before
    ? [before.out, striker, nonStriker].filter((n): n is string => n !== null)
    : [striker, nonStriker].filter((n): n is string => n !== null);
  const ways = AT_A_BALL.map((value) => ({ value, label: DISMISSALS[value] }));
  return [
    choose('how', 'How?', ways, before?.how ?? 'caught'),
    choose('out', 'Who is out?', names([...new Set(in_)]), before?.out ?? striker),
    choose(
      'fielder',
      'Fielder',
      [{ value: '', label: 'Nobody, or not known' }, ...names(view.bowling)],
      before?.fielders?.[0] ?? '',
    ),
    ...(before ? [] : [field({ name: 'runs', label: 'Runs that count', type: 'number', value: '0' })]),
    check('crossed', 'The batters had crossed', before?.crossed ?? false),
  ];
}

function readWicket(state: State, values: Values): NonNullable<Tap['wicket']> | string {
  const how = values.text('how') as Dismissal;
  const out = values.text('out');
  const fielder = values.text('fielder');
  if (!(how in DISMISSALS)) return 'How?';
  if (out === '') return 'Who is out?';
  if (isBowlers(how) && out === state.crease.nonStriker)
    return 'Only the batter on strike can be out that way.';
  const hands = ['caught', 'stumped', 'run_out', 'obstructing_the_field'].includes(how);
  return { how, out, fielders: hands && fielder !== '' ? [fielder] : [], crossed: values.has('crossed') };
}

/** Everything that happens between balls. */
export function more(state: State, view: View, act: Act): HTMLElement {
  const teams = state.squads?.teams ?? [];
  const batters = [state.crease.striker, state.crease.nonStriker].filter((n): n is string => n !== null);
  const items: [string, string, () => void][] = [
    ['swap', 'Swap ends', () => act({ do: 'swap' })],
    ['over', 'Over called', () => act({ do: 'over' })],
    ['bowler', 'Change bowler', () => act({ do: 'crease', crease: { bowler: null } })],
    ['retire', 'Batter leaves', () => retire(batters, view, act)],
    ['penalty', 'Penalty runs', () => penalty(teams, act)],
    view.card.interrupted
      ? [
          'resume',
          'Play goes on',
          () => act({ do: 'interruption', reason: view.card.interrupted ?? 'rain', stopped: false }),
        ]
      : ['stop', 'Play stops', () => stop(act)],
    ['review', 'Review', () => review(teams, view, act)],
    ['revise', 'Target or overs', () => revise(view, act)],
    ['finish', 'End the innings', () => finish(act)],
  ];
  return h(
    'details',
    { class: 'more', id: 'more' },
    h('summary', {}, 'Between balls'),
    h('div', { class: 'picks' }, ...items.map(([id, words, then]) => big(`more-${id}`, words, then))),
  );
}

function retire(batters: readonly string[], view: View, act: Act): void {
  const ways: Dismissal[] = ['retired_hurt', 'retired_not_out', 'retired_out', 'timed_out'];
  const all = [...batters, ...view.yetToBat.filter((n) => !batters.includes(n))];
  dialog(
    'Batter leaves',
    'Record it',
    [
      choose('out', 'Who?', names(all), batters[0] ?? null),
      choose(
        'how',
        'How?',
        ways.map((value) => ({ value, label: DISMISSALS[value] })),
        'retired_hurt',
      ),
    ],
    (values) => {
      const out = values.text('out');
      if (out === '') return 'Who?';
      act({ do: 'retire', wicket: { how: values.text('how') as Dismissal, player_out: out } });
      return null;
    },
  );
}

function penalty(teams: readonly string[], act: Act): void {
  dialog(
    'Penalty runs',
    'Record them',
    [
      choose('team', 'To', names(teams), teams[0] ?? null),
      field({ name: 'runs', label: 'Runs', type: 'number', value: '5' }),
    ],
    (values) => {
      const runs = values.count('runs');
      if (runs === null || runs < 1 || runs > 100) return 'How many?';
      act({ do: 'penalty', team: values.text('team'), runs });
      return null;
    },
  );
}

function stop(act: Act): void {
  const reasons = ['rain', 'bad_light', 'drinks', 'injury', 'other'];
  const choices = reasons.map((value) => ({ value, label: value.replace('_', ' ') }));
  dialog('Play stops', 'Record it', [choose('reason', 'Why?', choices, 'rain')], (values) => {
    act({ do: 'interruption', reason: values.text('reason') || 'other', stopped: true });
    return null;
  });
}

function review(teams: readonly string[], view: View, act: Act): void {
  dialog(
    'Review',
    'Record it',
    [
      choose('by', 'Who asked?', [...names(teams), { value: 'umpire', label: 'The umpires' }], null),
      choose('batter', 'About', names(view.innings?.batters.slice(-4).map((b) => b.name) ?? []), null),
      choose(
        'outcome',
        'The decision',
        [
          { value: 'struck_down', label: 'Stands' },
          { value: 'upheld', label: 'Is overturned' },
        ],
        'struck_down',
      ),
      check('close', 'Umpire’s call', false),
      h('p', { class: 'quiet' }, 'If the decision is overturned, correct the ball as well.'),
    ],
    (values) => {
      const by = values.text('by');
      if (by === '') return 'Who asked?';
      const outcome = values.text('outcome') === 'upheld' ? 'upheld' : 'struck_down';
      act({
        do: 'review',
        by,
        batter: values.text('batter') || null,
        outcome,
        umpiresCall: values.has('close'),
      });
      return null;
    },
  );
}

function revise(view: View, act: Act): void {
  const { innings } = view;
  dialog(
    'Target or overs',
    'Record it',
    [
      field({
        name: 'target',
        label: 'Runs to win',
        type: 'number',
        value: innings?.target ? String(innings.target.runs) : '',
      }),
      field({
        name: 'overs',
        label: 'Overs of this innings',
        type: 'number',
        value: String(innings?.overs_max ?? ''),
      }),
      field({ name: 'method', label: 'Method', value: 'DLS' }),
    ],
    (values) => {
      const [runs, overs] = [values.count('target'), values.count('overs')];
      const method = values.text('method').toLowerCase();
      if (method === '') return 'By which method?';
      if (runs === null && overs === null) return 'A new target, or new overs?';
      const target = runs ? { runs, overs: overs === null ? null : String(overs) } : null;
      act({ do: 'revise', target, overs: overs === 0 ? null : overs, method });
      return null;
    },
  );
}

function finish(act: Act): void {
  dialog('End the innings', 'End it', [choose('how', 'How?', endings(), 'declared')], (values) => {
    act({ do: 'end', how: values.text('how') || 'declared' });
    return null;
  });
}

/** Balls that were entered, the newest first; each may be put right. */
export function entered(state: State, view: View, act: Act): HTMLElement {
  const all = balls(state, view.at.innings).toReversed();
  const items = all.map((ball) => {
    const id = eventId(ball.at);
    const words = `${ball.at.over + 1}.${ball.at.ball}  ${ballText(ball)}  ${ball.bowler} to ${ball.batter}`;
    const button = h(
      'button',
      { type: 'button', class: 'entered', id: `ball-${id}`, 'data-event': id },
      words,
    );
    button.addEventListener('click', () => correct(state, view, id, act));
    return h('li', {}, button);
  });
  return h(
    'details',
    { class: 'more', id: 'entered' },
    h('summary', {}, `Correct a ball (${all.length})`),
    h('ol', { class: 'entered-list', reversed: true }, ...items),
  );
}

function correct(state: State, view: View, id: number, act: Act): void {
  const ball = balls(state, view.at.innings).find((b) => eventId(b.at) === id);
  if (!ball) return;
  const tap = tapOf(ball);
  const kinds = [
    { value: '', label: 'Off the bat' },
    { value: 'wide', label: 'Wide' },
    { value: 'noball', label: 'No-ball' },
    { value: 'byes', label: 'Byes' },
    { value: 'legbyes', label: 'Leg byes' },
  ];
  const kind = tap.wide ? 'wide' : tap.noball ? 'noball' : (tap.as ?? '');
  const in_ = { ...state, crease: { ...state.crease, striker: ball.batter, nonStriker: ball.non_striker } };
  const wicketFields = h(
    'div',
    { class: 'wicket-fields' },
    ...wicketParts(in_, view, tap.wicket ?? null).slice(0, 3),
  );
  dialog(
    `Correct ${placeText(id).toLowerCase()}`,
    'Correct it',
    [
      field({
        name: 'runs',
        label: 'Runs (without the one of a wide or no-ball)',
        type: 'number',
        value: String(tap.runs),
      }),
      choose('kind', 'They are', kinds, kind),
      choose(
        'batter',
        'Batter',
        names([...new Set([ball.batter, ball.non_striker, ...view.batting])]),
        ball.batter,
      ),
      choose(
        'non_striker',
        'Other end',
        names([...new Set([ball.non_striker, ball.batter, ...view.batting])]),
        ball.non_striker,
      ),
      choose('bowler', 'Bowler', names([...new Set([ball.bowler, ...view.bowling])]), ball.bowler),
      check('wicket', 'A wicket', tap.wicket !== undefined),
      wicketFields,
      check('withdraw', 'This ball was not bowled', false),
    ],
    (values) => {
      if (values.has('withdraw')) {
        act({ do: 'withdraw', eventId: id });
        return null;
      }
      const [batter, nonStriker, bowler] = [
        values.text('batter'),
        values.text('non_striker'),
        values.text('bowler'),
      ];
      if (batter === nonStriker) return 'One batter cannot be at both ends.';
      const found = values.has('wicket')
        ? readWicket({ ...in_, crease: { ...in_.crease, striker: batter, nonStriker } }, values)
        : null;
      if (typeof found === 'string') return found;
      const runs = values.count('runs');
      if (runs === null || runs > 20) return 'How many runs?';
      const is = values.text('kind');
      const changed: Tap = {
        runs,
        wide: is === 'wide',
        noball: is === 'noball',
        ...(is === 'byes' || is === 'legbyes' ? { as: is } : {}),
        ...(tap.noball && tap.as && is === 'noball' ? { as: tap.as } : {}),
        ...(tap.allRun ? { allRun: true } : {}),
        ...(tap.penalty ? { penalty: tap.penalty } : {}),
        ...(found ? { wicket: found } : {}),
      };
      const to = delivery(changed, { striker: batter, nonStriker, bowler, over: ball.at.over });
      if (to) act({ do: 'correct', eventId: id, ball: to });
      return null;
    },
  );
}
