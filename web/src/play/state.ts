/** What the page is doing, in states that a viewer can be told. */

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
  | 'failed';

/** One sentence for each state that asks for one; it is shown and announced. */
export function sentence(state: State): string {
  switch (state) {
    case 'loading':
      return 'Opening the match';
    case 'not-started':
      return 'The picture has not started yet. This page starts it by itself.';
    case 'buffering':
      return 'Waiting for the picture';
    case 'blocked':
      return 'Press play to watch';
    case 'offline':
      return 'You are offline. The match goes on as soon as you are back.';
    case 'recovering':
      return 'The picture was interrupted. Trying again.';
    case 'no-picture':
      return 'There is no picture of this match, only the score.';
    case 'not-found':
      return 'There is no such match.';
    case 'failed':
      return 'The picture cannot be played right now.';
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
