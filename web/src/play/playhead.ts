/** Where the picture is in the match, how steadily it comes, and keeping it where it belongs. */

import type { ServerClock } from '../net/clock';
import type { Adapter } from './adapter';
import { eachFrame, FrameGaps } from './frames';
import { HoldBack } from './holdback';
import { aheadS, type Range, ranges } from './holes';
import type { Profile } from './profile';
import { Delay, JUMP_S, lagS, type Position, playbackRate } from './rate';
import { Watchdog } from './watchdog';

/** How often the live position is looked after. */
const TICK_MS = 250;

/** After the first frame, players settle (first rung, first catching up); stalls then do not widen anything. */
const SETTLING_MS = 3_000;

/** From one frame to the next, media time never grows by this much, unless someone (we, or the player) jumped a hole. */
const HOLE_S = 0.2;

/** Stalls this soon after a jump over a hole are the hole's: the playhead landed at the very edge. */
const HOLE_GRACE_MS = 4_000;

/** Further back than this from where it belongs, the viewer is in the DVR, and is left there. */
const FOLLOW_S = 10;

/** A seek that ends within this of the live position means the live position. */
const SNAP_S = 1;

/** hls.js may leave out the last part of a match that has ended: this close to the end is the end, seconds. */
const END_S = 1;

/** How long the picture must stand there, so that nothing that still comes is missed. */
const END_STANDS_MS = 1_000;

/** Two frames at 25 a second: the frame on screen and the element's clock are nearer to each other. */
const FRAMES_S = 0.08;

/** Jumps kept for `stats()`. */
const JUMPS_KEPT = 50;

/**
 * A picture that stands this long although the match goes on: the playhead is put to the live position, and every
 * third time the player is rebuilt. Players lose their way after a long hole; we do not wait for them.
 */
const STANDS_MS = 3_000;
const STANDS_REBUILD = 3;

/** Without a first frame after this long the player is rebuilt: a held request and its retries fit into it. */
const STARTS_MS = 15_000;

export interface PlayheadEvents {
  frame(): void;
  /** The hold-back in force changed, and by how much it was widened now (0: it narrowed), seconds. */
  heldBack(widenedByS: number): void;
  /** The picture stood, for the n-th time in a row. */
  stood(times: number, rebuild: boolean): void;
}

export class Playhead {
  /** Whether playback keeps to the live edge; off in the DVR. */
  following = true;
  frames = 0;
  readonly gaps = new FrameGaps();
  readonly jumps: { at: number; ms: number }[] = [];
  readonly delay = new Delay();
  holdBack: HoldBack;

  readonly #video: HTMLVideoElement;
  readonly #clock: ServerClock;
  readonly #events: PlayheadEvents;
  readonly #watchdog: Watchdog;
  readonly #endFrames: () => void;
  readonly #timer: ReturnType<typeof setInterval>;
  #adapter: Adapter | null = null;
  #profile: Profile;
  #mediaTime: number | null = null;
  #firstFrameAt: number | null = null;
  #skippedAt = Number.NEGATIVE_INFINITY;
  /** When a frame came, or was last excused from coming. */
  #aliveAt = performance.now();
  #stood = 0;

  constructor(video: HTMLVideoElement, clock: ServerClock, profile: Profile, events: PlayheadEvents) {
    this.#video = video;
    this.#clock = clock;
    this.#profile = profile;
    this.#events = events;
    this.holdBack = new HoldBack(profile);
    this.#watchdog = new Watchdog(video, (from, to) => this.#jumped(from, to));
    this.#endFrames = eachFrame(video, (mediaTime) => this.#frame(mediaTime));
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Another player, or none, plays with another profile. */
  begin(adapter: Adapter | null, profile: Profile): void {
    this.#adapter = adapter;
    this.#profile = profile;
    this.holdBack = new HoldBack(profile);
    this.delay.reset();
    this.excuse();
    this.#firstFrameAt = null;
    this.#mediaTime = null;
    this.following = true;
  }

  destroy(): void {
    this.#watchdog.destroy();
    this.#endFrames();
    clearInterval(this.#timer);
    this.#adapter = null;
  }

  /** Whether this player has shown a frame. */
  get started(): boolean {
    return this.#firstFrameAt !== null;
  }

  get ended(): boolean {
    return this.#adapter?.ended() ?? false;
  }

  /** The match has ended, and the picture is at its end. */
  get finished(): boolean {
    const end = this.#adapter?.window()?.end;
    return this.ended && end !== undefined && end - this.#video.currentTime < END_S;
  }

  /** No frame is expected for now; its absence is no stall. */
  excuse(): void {
    this.gaps.excuse();
    this.#aliveAt = performance.now();
  }

  /** PDT of the frame on screen, UTC ms. */
  venueMs(): number | null {
    const origin = this.#adapter?.originMs() ?? null;
    if (origin === null || !this.started) return null;
    // While it seeks, the frame on screen is of the old place.
    const at = this.#video.seeking ? this.#video.currentTime : (this.#mediaTime ?? this.#video.currentTime);
    return origin + at * 1000;
  }

  /**
   * Venue time that the viewer has surely seen, UTC ms: of the frame on screen, and while it seeks not later than
   * where it goes. A page that is not drawn has no frames; there the element's clock tells, less a frame or two.
   */
  seenMs(): number | null {
    const origin = this.#adapter?.originMs() ?? null;
    if (origin === null || !this.started) return null;
    const { currentTime, paused, seeking } = this.#video;
    const frame = this.#mediaTime ?? currentTime;
    // A frame comes on screen a little before the clock gets to it. Far before it, it is of the place before a seek.
    const seen = seeking || frame - currentTime > FRAMES_S ? Math.min(frame, currentTime) : frame;
    const unseen = document.hidden && !paused && !seeking;
    return origin + (unseen ? currentTime - FRAMES_S : seen) * 1000;
  }

  /** Ground to screen, seconds. */
  behindS(): number | null {
    const venue = this.venueMs();
    return venue === null ? null : (this.#clock.nowMs() - venue) / 1000;
  }

  /** Media ahead without a hole, seconds. */
  aheadS(): number {
    return aheadS(ranges(this.#video.buffered), this.#video.currentTime);
  }

  /** The DVR window in UTC ms, null until known. */
  window(): Range | null {
    const range = this.#adapter?.window() ?? null;
    const origin = this.#adapter?.originMs() ?? null;
    if (!range || origin === null) return null;
    return { start: origin + range.start * 1000, end: origin + range.end * 1000 };
  }

  /** Seeks to venue time, UTC ms. False: it is not known yet where that is. */
  seek(venueMs: number): boolean {
    const range = this.#adapter?.window();
    const origin = this.#adapter?.originMs() ?? null;
    if (!range || origin === null) return false;
    const to = Math.max(range.start, (venueMs - origin) / 1000);
    if (!this.ended && to > range.end - this.holdBack.seconds - SNAP_S) this.goLive();
    else {
      this.following = false;
      this.#moveTo(Math.min(to, range.end));
    }
    return true;
  }

  /** Seeks from where it is, or is going to, seconds. */
  step(seconds: number): void {
    const origin = this.#adapter?.originMs() ?? null;
    if (origin !== null) this.seek(origin + (this.#video.currentTime + seconds) * 1000);
  }

  goLive(): void {
    const range = this.#adapter?.window();
    if (!range || this.ended) return;
    this.following = true;
    this.#moveTo(Math.max(range.start, range.end - this.holdBack.seconds));
  }

  /** Playing again after a pause: one of more than a moment leaves the viewer in the DVR, where they were. */
  resumed(): void {
    this.excuse();
    const behind = this.behindS();
    if (behind !== null && behind > this.holdBack.seconds + FOLLOW_S) this.following = false;
  }

  #moveTo(mediaTime: number): void {
    this.excuse();
    this.#video.playbackRate = 1;
    this.#video.currentTime = this.#adapter?.outside(mediaTime) ?? mediaTime;
  }

  #frame(mediaTime: number): void {
    const now = performance.now();
    const skipped = this.#mediaTime !== null && mediaTime - this.#mediaTime > HOLE_S;
    if (skipped) this.#skippedAt = now;
    this.frames += 1;
    this.#mediaTime = mediaTime;
    this.#aliveAt = now;
    this.#stood = 0;
    this.#firstFrameAt ??= now;
    this.#watchdog.frame();
    const gap = this.gaps.frame(now, Date.now());
    if (gap !== null) this.#stalled(now, gap, this.#firstFrameAt);
    this.#events.frame();
  }

  #stalled(now: number, gapMs: number, firstFrameAt: number): void {
    const settling = now - firstFrameAt < SETTLING_MS;
    // A hole in the stream is not the network's fault: waiting longer would not have filled it.
    const hole = now - this.#skippedAt < gapMs + HOLE_GRACE_MS;
    if (settling || hole || !this.following || this.ended) return;
    const before = this.holdBack.seconds;
    if (!this.holdBack.stalled(now)) return;
    this.#adapter?.holdBack(this.holdBack.seconds);
    this.#events.heldBack(this.holdBack.seconds - before);
  }

  #jumped(from: number, to: number): void {
    this.jumps.push({ at: Date.now(), ms: Math.round((to - from) * 1000) });
    if (this.jumps.length > JUMPS_KEPT) this.jumps.shift();
  }

  /** Keeps to the live edge. */
  #tick(): void {
    const video = this.#video;
    const adapter = this.#adapter;
    const now = performance.now();
    if (this.finished && !video.paused && now - this.#aliveAt > END_STANDS_MS) video.pause();
    if (!adapter || video.paused || document.hidden) {
      this.#aliveAt = now;
      return;
    }
    if (this.ended) {
      // Nothing to keep up with any more; Shaka's rate 0, while it buffers, is its own to undo.
      if (video.playbackRate !== 0) video.playbackRate = 1;
      return;
    }
    if (this.#stands(now) || !this.started) return;
    const origin = adapter.originMs();
    const behindS = this.behindS();
    if (video.seeking || origin === null || behindS === null) return;
    const end = ranges(video.buffered).at(-1)?.end;
    if (end !== undefined) this.delay.see(now, (this.#clock.nowMs() - origin) / 1000 - end);
    if (this.holdBack.settle(now)) {
      adapter.holdBack(this.holdBack.seconds);
      this.#events.heldBack(0);
    }
    this.#follow(behindS);
  }

  #follow(behindS: number): void {
    const delayS = this.delay.seconds;
    if (!this.following || !this.#profile.lowLatency || delayS === null) return;
    const at: Position = {
      behindS,
      delayS,
      holdBackS: this.holdBack.seconds,
      aheadS: this.aheadS(),
      rateMax: this.#profile.rateMax,
    };
    if (lagS(at) > JUMP_S) {
      this.goLive();
      return;
    }
    // Shaka stops the element by rate 0 while it buffers; that is its own to undo.
    if (this.#video.playbackRate === 0) return;
    const rate = playbackRate(at);
    if (this.#video.playbackRate !== rate) this.#video.playbackRate = rate;
  }

  /** Acts when the picture stands although it should not. */
  #stands(now: number): boolean {
    if (!this.following || now - this.#aliveAt < (this.started ? STANDS_MS : STARTS_MS)) return false;
    this.#aliveAt = now;
    this.#stood += 1;
    const rebuild = !this.started || this.#stood % STANDS_REBUILD === 0;
    if (!rebuild) this.goLive();
    this.#events.stood(this.#stood, rebuild);
    return true;
  }
}
