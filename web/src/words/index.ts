/** What viewers read, in their language: English is at hand, another comes as a chunk of its own. */

import { en, type Words } from './en';

/** Each in its own words. */
export const LANGUAGES = { en: 'English', hi: 'हिन्दी', ta: 'தமிழ்' } as const;
export type Language = keyof typeof LANGUAGES;

/** Every text, in the language in force. */
export let t: Words = en;

/** The language in force. */
export let language: Language = 'en';

/** The same as it is spoken where the viewer lives, if their browser says so: what dates are written in. */
export let locale = 'en';

const KEY = 'pavilion-language';

const load: Record<Language, () => Promise<Words>> = {
  en: () => Promise.resolve(en),
  hi: async () => (await import('./hi')).hi,
  ta: async () => (await import('./ta')).ta,
};

/** What the viewer chose, else the first that they read and we have, else English. */
export function preferred(chosen: string | null, reads: readonly string[]): Language {
  const known = (tag: string): Language | undefined => {
    const first = tag.toLowerCase().split('-')[0] ?? '';
    return isLanguage(first) ? first : undefined;
  };
  for (const tag of chosen === null ? reads : [chosen, ...reads]) {
    const found = known(tag);
    if (found) return found;
  }
  return 'en';
}

/** The language of this visit. */
export async function begin(): Promise<void> {
  let chosen: string | null = null;
  try {
    chosen = localStorage.getItem(KEY);
  } catch {
    // Storage is forbidden.
  }
  await use(preferred(chosen, navigator.languages));
}

/** The viewer chose one: remembered on this device. */
export async function choose(next: Language): Promise<void> {
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // For this visit, then.
  }
  await use(next);
}

/** If it cannot be fetched, what is in force stays. */
async function use(next: Language): Promise<void> {
  try {
    t = await load[next]();
    language = next;
    locale = navigator.languages.find((tag) => tag.split('-')[0] === next) ?? next;
  } catch {
    return;
  }
  document.documentElement.lang = next;
}

function isLanguage(tag: string): tag is Language {
  return tag in LANGUAGES;
}
