/** Frames as they reach the screen: the only honest witness of a stall. */

/** A playhead that stands for longer than this has stalled. */
export const STALL_MS = 250;

/** Enough for a day of trouble; the oldest go first. */
const STALLS_KEPT = 200;

export interface Stall {
  /** When it ended: UTC ms by the device's clock. */
  readonly at: number;
  readonly ms: number;
}

/** Time between frames, and what of it counts. Pure: time is an argument. */
export class FrameGaps {
  #lastMs: number | null = null;
  #longestMs = 0;
  readonly stalls: Stall[] = [];

  /** A frame is on screen. Returns the gap before it when it was a stall. */
  frame(nowMs: number, utcMs: number): number | null {
    const gap = this.#lastMs === null ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    this.#longestMs = Math.max(this.#longestMs, gap);
    if (gap <= STALL_MS) return null;
    this.stalls.push({ at: Math.round(utcMs), ms: Math.round(gap) });
    if (this.stalls.length > STALLS_KEPT) this.stalls.shift();
    return gap;
  }

  /** No frames are expected (paused, hidden, the viewer seeks): the next gap is not counted. */
  excuse(): void {
    this.#lastMs = null;
  }

  /** The longest gap so far, the one that is going on included. */
  longestMs(nowMs: number): number {
    return Math.max(this.#longestMs, this.openMs(nowMs));
  }

  /** The gap that is going on. */
  openMs(nowMs: number): number {
    return this.#lastMs === null ? 0 : nowMs - this.#lastMs;
  }
}

/** Calls back for each frame that is presented, with its media time. Returns how to end it. */
export function eachFrame(video: HTMLVideoElement, onFrame: (mediaTime: number) => void): () => void {
  let ended = false;
  if ('requestVideoFrameCallback' in video) {
    let handle = video.requestVideoFrameCallback(function next(_, frame) {
      if (ended) return;
      handle = video.requestVideoFrameCallback(next);
      onFrame(frame.mediaTime);
    });
    return () => {
      ended = true;
      video.cancelVideoFrameCallback(handle);
    };
  }
  // Old browsers: the element's time, looked at once per repaint.
  const element = video as HTMLVideoElement;
  let seen = -1;
  requestAnimationFrame(function next() {
    if (ended) return;
    requestAnimationFrame(next);
    if (element.currentTime === seen) return;
    seen = element.currentTime;
    onFrame(seen);
  });
  return () => {
    ended = true;
  };
}
