/** What the page asks of a player, whichever it is. One file per player in `adapters/`. */

import type { Range } from './holes';
import type { Keys } from './keys';
import type { Pass } from './pass';
import type { Profile } from './profile';

export const PLAYERS = ['hls', 'shaka'] as const;
export type PlayerName = (typeof PLAYERS)[number];
export const DEFAULT_PLAYER: PlayerName = 'hls';

export interface Source {
  /** Absolute URL of the multivariant playlist. */
  readonly playlist: string;
  /** What opens it: every request and every answer goes through here. */
  readonly pass: Pass;
  /** Holds the keys; every playlist is shown to it, and the player sees it without them. Null: all is in the clear. */
  readonly keys: Keys | null;
  /** Lines of the largest picture that may be played; infinite: all. */
  readonly heightMax: number;
  readonly profile: Profile;
  /** In force at the start, seconds; it may be wider than the profile's. */
  readonly holdBackS: number;
  /** Preferred language of the commentary (BCP 47), if the viewer has chosen one. */
  readonly language: string | null;
}

/** A rung of the bitrate ladder. */
export interface Rung {
  readonly id: string;
  readonly height: number;
  readonly frameRate: number;
  /** Bits a second. */
  readonly bandwidth: number;
}

/** A language of the commentary, or of the captions. */
export interface Track {
  readonly id: string;
  /** BCP 47; may be empty. */
  readonly language: string;
  /** As the playlist names it. */
  readonly name: string;
}

export type FaultKind = 'network' | 'media' | 'keys' | 'unsupported';

/** A fault that the player does not get over by itself. */
export interface Fault {
  readonly kind: FaultKind;
  /** For logs and `stats()`, not for viewers. */
  readonly detail: string;
}

export interface AdapterEvents {
  /** Rungs, languages or captions, or which of them is in force, changed. */
  tracks(): void;
  fault(fault: Fault): void;
}

/** Times are media time in seconds, as `video.currentTime`. */
export interface Adapter {
  readonly name: PlayerName;
  /** Resolves when the first media is on its way. Faults are reported as events. */
  load(source: Source): Promise<void>;
  /** UTC in ms of media time 0: PDT minus media time. Null until known. */
  originMs(): number | null;
  /** What can be seeked to: from the oldest media listed to the newest. */
  window(): Range | null;
  /** The next place, media time, that is known not to be in a hole for which a player would wait for ever. */
  outside(mediaTime: number): number;
  /** EXT-X-ENDLIST was seen. */
  ended(): boolean;
  rungs(): readonly Rung[];
  /** Of the media being loaded. */
  rung(): Rung | null;
  /** The chosen rung's id, or null for automatic. */
  chosenRung(): string | null;
  chooseRung(id: string | null): void;
  languages(): readonly Track[];
  language(): Track | null;
  chooseLanguage(id: string): void;
  captions(): readonly Track[];
  caption(): Track | null;
  chooseCaption(id: string | null): void;
  /** The hold-back became wider or narrower, seconds. */
  holdBack(seconds: number): void;
  /** Tries to go on without being rebuilt. False when there is no way. */
  recover(fault: FaultKind): boolean;
  destroy(): Promise<void>;
}

export function isPlayer(name: string | null): name is PlayerName {
  return PLAYERS.some((p) => p === name);
}

/** Forward buffer, seconds: enough for a tunnel in `steady` and in the DVR; at the live edge there is less. */
export const BUFFER_AHEAD_S = 20;

/** Kept behind the playhead, seconds: a step back of the arrow key or two needs no network. */
export const BUFFER_BEHIND_S = 30;

/** First guess of the network, bits a second: a middle rung on any phone, corrected within seconds. */
export const BANDWIDTH_GUESS = 1_500_000;

/** A held request waits 6 s at the server at most; this is that and the network's share. */
export const RESPONSE_LIMIT_MS = 9_000;

/** Tries of one playlist, part or segment before it counts as a fault. */
export const TRIES = 5;
