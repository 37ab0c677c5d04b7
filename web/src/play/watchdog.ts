/** Gets a standing playhead across a hole sooner than the players do (they take 1 to 3 seconds). */

import { aheadS, farSide, ranges } from './holes';

/** Two frames late at 25 a second: something is wrong. */
const LATE_MS = 80;

/** How often to look while no frame comes; the far side may still be on its way. */
const CHECK_MS = 50;

/**
 * The far side must have been there at the check before: hls.js often fills a hole right after its far side, from
 * the other pipeline's whole segment, and then nothing is lost. Two checks are within the 100 ms of the design.
 */
type Seen = number | null;

/**
 * Time runs, media is there, and no frame comes: Chromium waits for the next keyframe when a segment was put over
 * the one that plays. Long enough that no busy processor is meant; a busy one is asked only once.
 */
const FROZEN_MS = 200;
const FROZEN_AHEAD_S = 0.3;

/** A seek to the very same time may do nothing. */
const THAW_S = 0.001;

/** After a jump the decoder needs a moment; jumping again meanwhile would throw its work away. */
const SETTLE_MS = 250;

export class Watchdog {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #jumpedAt = Number.NEGATIVE_INFINITY;
  #seen: Seen = null;
  #frameAt = Number.POSITIVE_INFINITY;
  readonly #video: HTMLVideoElement;
  readonly #onJump: (from: number, to: number) => void;

  constructor(video: HTMLVideoElement, onJump: (from: number, to: number) => void) {
    this.#video = video;
    this.#onJump = onJump;
    video.addEventListener('waiting', this.#check);
  }

  /** A frame came: all is well, look again when the next is late. */
  frame(): void {
    clearTimeout(this.#timer);
    this.#seen = null;
    this.#frameAt = performance.now();
    this.#timer = setTimeout(this.#check, LATE_MS);
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#video.removeEventListener('waiting', this.#check);
  }

  readonly #check = (): void => {
    clearTimeout(this.#timer);
    const video = this.#video;
    // A paused or ended element shows no frames, and a `playing` or a frame wakes us again.
    if (video.paused || video.ended) return;
    this.#timer = setTimeout(this.#check, CHECK_MS);
    if (video.seeking || performance.now() - this.#jumpedAt < SETTLE_MS) return;
    const from = video.currentTime;
    const buffered = ranges(video.buffered);
    const to = farSide(buffered, from);
    const seen = this.#seen;
    this.#seen = to;
    if (to !== null && to === seen) this.#jump(from, to);
    else if (performance.now() - this.#frameAt > FROZEN_MS && aheadS(buffered, from) > FROZEN_AHEAD_S)
      this.#thaw();
  };

  #jump(from: number, to: number): void {
    this.#jumpedAt = performance.now();
    this.#video.currentTime = to;
    this.#onJump(from, to);
  }

  /** Makes the decoder begin anew where it is; once, until a frame comes. */
  #thaw(): void {
    this.#frameAt = Number.POSITIVE_INFINITY;
    this.#jumpedAt = performance.now();
    this.#video.currentTime += THAW_S;
  }
}
