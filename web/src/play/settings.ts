/** What the viewer chose, remembered on this device; the URL overrides it for one visit. */

import { DEFAULT_PLAYER, isPlayer, type PlayerName } from './adapter';
import { DEFAULT_PROFILE, isProfile, type ProfileName } from './profile';

export interface Settings {
  player: PlayerName;
  profile: ProfileName;
  /** BCP 47, or null: the match's default. */
  language: string | null;
  captions: boolean;
  /** 0 to 1. */
  volume: number;
  muted: boolean;
}

const KEY = 'pavilion';

/** `?player=`, `?profile=` and `?language=` of the address, then what was stored, then the defaults. */
export function read(stored: string | null, search: string): Settings {
  const url = new URLSearchParams(search);
  const old = parse(stored);
  const pick = (key: string): string | null =>
    url.get(key) ?? (typeof old[key] === 'string' ? old[key] : null);
  const player = pick('player');
  const profile = pick('profile');
  const volume = old.volume;
  return {
    player: isPlayer(player) ? player : DEFAULT_PLAYER,
    profile: isProfile(profile) ? profile : DEFAULT_PROFILE,
    language: pick('language'),
    captions: old.captions === true,
    volume: typeof volume === 'number' && volume >= 0 && volume <= 1 ? volume : 1,
    muted: old.muted === true,
  };
}

export function load(): Settings {
  return read(
    storage((s) => s.getItem(KEY)),
    location.search,
  );
}

export function save(settings: Settings): void {
  storage((s) => {
    s.setItem(KEY, JSON.stringify(settings));
    return null;
  });
}

/** Private windows may refuse storage; the page then forgets, and works. */
function storage(use: (s: Storage) => string | null): string | null {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

function parse(stored: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(stored ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
