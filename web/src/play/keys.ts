/**
 * The keys of an encrypted match, by ClearKey (W3C EME, 9.1). The page holds them itself, the same for every player: one
 * request brings a period's keys for sound and all sizes, the next period's is asked for ahead at an instant of one's own, and a
 * player that is built anew needs none. Players are told of nothing: the browser decrypts what they append.
 */

import { array, object, text } from '../net/narrow';
import { RequestError, requestJson } from '../net/request';
import {
  type Announced,
  announced,
  askInMs,
  fromBase64Url,
  keysOfPssh,
  sessionKeys,
  toBase64Url,
} from './keynames';

const CLEAR_KEY = 'org.w3.clearkey';

/** Periods whose keys are held; of older ones they are asked for again. A browser allows some hundred sessions. */
const SESSIONS_MAX = 24;

/** Names in a request: what the endpoint reads. */
const KIDS_MAX = 30;

export interface KeysEvents {
  /** Keys that are needed cannot be had. */
  failed(detail: string, unsupported: boolean): void;
}

/** Where licences are, and what opens them. */
export interface Door {
  readonly url: string;
  /** The pass of now. */
  pass(): string;
  nowMs(): number;
}

interface Held {
  readonly session: MediaKeySession;
  readonly kids: readonly string[];
}

export class Keys {
  readonly #video: HTMLVideoElement;
  readonly #events: KeysEvents;
  /** This viewer's place in the crowd. */
  readonly #spread = Math.random();
  readonly #life = new AbortController();
  #door: Door | null = null;
  #made: Promise<MediaKeys> | null = null;
  /** Held, oldest first. */
  #held: Held[] = [];
  readonly #known = new Set<string>();
  readonly #wanted = new Set<string>();
  /** Of media that is here already. */
  readonly #needed = new Set<string>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  #asking = false;
  #requests = 0;

  constructor(video: HTMLVideoElement, events: KeysEvents) {
    this.#video = video;
    this.#events = events;
  }

  /** How many licences were asked for. */
  get requests(): number {
    return this.#requests;
  }

  /** Before anything is appended, also where media begins in the clear: browsers take keys only of what knows of them. */
  async open(door: Door): Promise<void> {
    this.#door = door;
    if (this.#made === null) {
      // Before the player's own listener: Shaka takes the event for a fault where it has no DRM of its own.
      this.#video.addEventListener('encrypted', (event) => this.#encrypted(event), {
        signal: this.#life.signal,
      });
      this.#made = this.#make();
    }
    await this.#made;
    // What a player before this one lacked.
    this.#want([...this.#needed]);
  }

  /** A playlist came, of either kind. */
  read(playlist: string): void {
    this.#want(sessionKeys(playlist));
    for (const next of announced(playlist)) this.#later(next);
  }

  async destroy(): Promise<void> {
    this.#life.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await Promise.allSettled(this.#held.map(({ session }) => session.close()));
    this.#held = [];
  }

  async #make(): Promise<MediaKeys> {
    try {
      const mp4 = (codecs: string): MediaKeySystemMediaCapability[] => [{ contentType: codecs }];
      const access = await navigator.requestMediaKeySystemAccess(CLEAR_KEY, [
        {
          initDataTypes: ['keyids'],
          videoCapabilities: mp4('video/mp4; codecs="avc1.42e01e"'),
          audioCapabilities: mp4('audio/mp4; codecs="mp4a.40.2"'),
        },
      ]);
      const keys = await access.createMediaKeys();
      await this.#video.setMediaKeys(keys);
      return keys;
    } catch (error) {
      // Also where the page came neither by TLS nor from this machine: browsers have no EME there.
      this.#events.failed(`ClearKey: ${String(error)}`, true);
      throw error;
    }
  }

  #encrypted(event: MediaEncryptedEvent): void {
    event.stopImmediatePropagation();
    if (!event.initData || event.initDataType !== 'cenc') return;
    const kids = keysOfPssh(event.initData).filter((kid) => !this.#known.has(kid));
    for (const kid of kids) this.#needed.add(kid);
    this.#want(kids);
  }

  #later({ kid, fromMs }: Announced): void {
    if (this.#known.has(kid) || this.#timers.has(kid) || !this.#door) return;
    const wait = askInMs(this.#door.nowMs(), fromMs, this.#spread);
    this.#timers.set(
      kid,
      setTimeout(() => {
        this.#timers.delete(kid);
        this.#want([kid]);
      }, wait),
    );
  }

  #want(kids: readonly string[]): void {
    for (const kid of kids) if (!this.#known.has(kid)) this.#wanted.add(kid);
    void this.#ask();
  }

  /** One request at a time: what is wanted meanwhile may be in its answer. */
  async #ask(): Promise<void> {
    if (this.#asking || !this.#door || !this.#made) return;
    this.#asking = true;
    try {
      while (this.#wanted.size > 0 && !this.#life.signal.aborted) {
        const kids = [...this.#wanted].slice(0, KIDS_MAX);
        await this.#licence(this.#door, await this.#made, kids);
        for (const kid of kids) this.#wanted.delete(kid);
        for (const kid of this.#known) this.#wanted.delete(kid);
      }
    } catch (error) {
      // What was asked for ahead is asked for again when its media comes.
      const missed = [...this.#wanted].some((kid) => this.#needed.has(kid));
      this.#wanted.clear();
      if (missed && !this.#life.signal.aborted)
        this.#events.failed(`licence: ${String(error)}`, refused(error));
    } finally {
      this.#asking = false;
    }
  }

  async #licence(door: Door, keys: MediaKeys, kids: readonly string[]): Promise<void> {
    const session = keys.createSession();
    const message = new Promise<MediaKeyMessageEvent>((resolve) => {
      session.addEventListener('message', resolve, { once: true });
    });
    const names = new TextEncoder().encode(JSON.stringify({ kids: kids.map(toBase64Url) }));
    await session.generateRequest('keyids', names);
    const request = JSON.parse(new TextDecoder().decode((await message).message)) as unknown;
    this.#requests += 1;
    const given = await requestJson(door.url, readLicence, {
      method: 'POST',
      body: request,
      headers: { authorization: `Bearer ${door.pass()}` },
      signal: this.#life.signal,
    });
    await session.update(new TextEncoder().encode(JSON.stringify(given.licence)));
    // What was left out is not given to us, and is not asked for again while this is held.
    const all = [...new Set([...kids, ...given.kids])];
    for (const kid of all) {
      this.#known.add(kid);
      this.#needed.delete(kid);
      clearTimeout(this.#timers.get(kid));
      this.#timers.delete(kid);
    }
    this.#held.push({ session, kids: all });
    if (this.#held.length > SESSIONS_MAX) await this.#drop(this.#held.shift());
  }

  async #drop(held: Held | undefined): Promise<void> {
    for (const kid of held?.kids ?? []) this.#known.delete(kid);
    await held?.session.close();
  }
}

/** Whether asking again is of no use. */
function refused(error: unknown): boolean {
  return error instanceof RequestError && error.status === 403;
}

function readLicence(body: unknown): { licence: object; kids: string[] } {
  const licence = object(body);
  const kids = array(licence.keys).map((key) => fromBase64Url(text(object(key), 'kid')));
  return { licence, kids };
}
