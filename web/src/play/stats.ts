/** `window.pavilion.stats()`: what tests, and the curious, read. */

import type { PlayerName } from './adapter';
import type { Stall } from './frames';
import type { ProfileName } from './profile';
import type { State } from './state';

export interface Stats {
  readonly state: State;
  readonly player: PlayerName;
  readonly profile: ProfileName;
  /** Ground to screen, by PDT and the server's clock. */
  readonly behindMs: number | null;
  /** Ground to buffer: the age of media as it arrives. */
  readonly delayMs: number | null;
  /** In force. */
  readonly holdBackMs: number;
  /** Of it, added after stalls. */
  readonly widenedMs: number;
  /** Media ahead of the playhead. */
  readonly aheadMs: number;
  readonly playbackRate: number;
  readonly stalls: readonly Stall[];
  readonly longestFrameGapMs: number;
  readonly framesPresented: number;
  /** Holes in the stream that were jumped, and the media lost by that. */
  readonly jumps: readonly { readonly at: number; readonly ms: number }[];
  /** Height of the rung on its way to the screen. */
  readonly level: number | null;
  readonly levels: readonly number[];
  readonly audio: string | null;
  readonly audios: readonly string[];
  readonly following: boolean;
  /** PDT of the frame on screen, UTC ms. */
  readonly venueMs: number | null;
  /** How many licences were asked for. */
  readonly licences: number;
  /** How often the pass was renewed since the match was opened. */
  readonly passes: number;
  readonly errors: readonly string[];
}

declare global {
  interface Window {
    pavilion?: { stats(): Stats; score(): object | null };
  }
}
