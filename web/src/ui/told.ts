/** A refusal of play in words that a person understands, and what they can do. Pure. */

import { countryName, dayAndTime, either } from '../format';
import type { Problem } from '../net/problem';
import { opensMs, texts } from '../play/refusal';
import { language, t } from '../words';

export interface Told {
  readonly words: string;
  /** What to do, or what happens by itself. */
  readonly help: string;
  /** What buttons there are beside the way to all matches. */
  readonly actions: readonly ('log-in' | 'account' | 'retry')[];
}

export function told(problem: Problem): Told {
  const { kind, members } = problem;
  const r = t.refusal;
  const number = (name: string): number | null => {
    const value = members[name];
    return typeof value === 'number' ? value : null;
  };
  const at = (ms: number | null): string => (ms === null ? '' : r.opensAt(dayAndTime(ms)));
  const say = (words: string, help: string, ...actions: Told['actions']): Told => ({ words, help, actions });
  switch (kind) {
    case 'log-in':
    case 'unauthenticated':
      return say(r.logIn, '', 'log-in');
    case 'not-bought':
      return say(r.notBought(either(texts(problem, 'products'))), r.notBoughtHelp, 'account', 'retry');
    case 'begins-later':
      return say(r.beginsLater, at(opensMs(problem)));
    case 'not-begun':
      return say(r.notBegun, at(number('start_ms')));
    case 'postponed':
      return say(r.postponed, r.postponedHelp);
    case 'country':
      return say(r.country(countryName(String(members.country ?? ''))), r.countryHelp);
    case 'not-yet':
      return say(r.notYet, at(opensMs(problem)));
    case 'over':
      return say(r.over, '');
    case 'blackout':
      return say(r.blackout(typeof members.area === 'string' ? members.area : ''), r.blackoutHelp);
    case 'place-unknown':
      return say(r.placeUnknown, r.placeUnknownHelp, 'retry');
    case 'place-hidden':
      return say(r.placeHidden, r.placeHiddenHelp, 'retry');
    case 'devices':
      return say(r.devices(Array.isArray(members.devices) ? members.devices.length : 0), r.devicesHelp);
    case 'too-often':
      return say(r.tooOften, r.again, 'retry');
    case 'busy':
    case 'later':
      return say(r.busy, r.again, 'retry');
    case 'unchecked':
      return say(r.unchecked, r.again, 'retry');
    default:
      // What is not known here has at least the server's sentence, which is in English.
      return say(t.states.failed, language === 'en' ? problem.detail : '', 'retry');
  }
}
