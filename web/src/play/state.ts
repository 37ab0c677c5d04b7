/** What the page is doing, in states that a viewer can be told. */

import { t } from '../words';

export type State =
  | 'loading'
  | 'not-started'
  | 'playing'
  | 'paused'
  | 'buffering'
  | 'blocked'
  | 'offline'
  | 'recovering'
  | 'ended'
  | 'not-found'
  | 'no-picture'
  | 'failed'
  | 'unsupported'
  | 'refused'
  | 'later'
  | 'stopped';

/** One sentence for each state that asks for one; it is shown and announced. */
export function sentence(state: State): string {
  switch (state) {
    case 'loading':
      return t.states.loading;
    case 'not-started':
      return t.states.notStarted;
    case 'buffering':
      return t.states.buffering;
    case 'blocked':
      return t.states.blocked;
    case 'offline':
      return t.states.offline;
    case 'recovering':
      return t.states.recovering;
    case 'no-picture':
      return t.states.noPicture;
    case 'not-found':
      return t.states.notFound;
    case 'failed':
      return t.states.failed;
    case 'unsupported':
      return t.states.unsupported;
    case 'stopped':
      return t.states.stopped;
    // Those have reasons, which the page says.
    case 'refused':
    case 'later':
    case 'ended':
    case 'playing':
    case 'paused':
      return '';
  }
}

/** States in which the stage shows a spinner. */
export function busy(state: State): boolean {
  return state === 'loading' || state === 'not-started' || state === 'buffering' || state === 'recovering';
}
