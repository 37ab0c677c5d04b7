/**
 * Shaka Player 5.2 adds 1 ms to a negative `timestampOffset` (for an old Edge), and takes a difference of 1 ms or
 * more from what it computes for a change, upon which it aborts the source buffer. Whether 1 ms is "1 ms or more"
 * is up to rounding; where it is, every part is appended after an abort, and Chromium then drops all frames up to
 * the next keyframe. Half of that millisecond is taken away again, so that there is no doubt.
 */

const HALF_MS = 0.0005;

/** Corrects the offset of all source buffers of the page, until the function that it gives is called. */
export function steadyOffsets(): () => void {
  const property = Object.getOwnPropertyDescriptor(SourceBuffer.prototype, 'timestampOffset');
  const set = property?.set;
  if (!property || !set) return () => undefined;
  Object.defineProperty(SourceBuffer.prototype, 'timestampOffset', {
    ...property,
    set(this: SourceBuffer, offset: number) {
      set.call(this, offset < 0 ? offset - HALF_MS : offset);
    },
  });
  return () => Object.defineProperty(SourceBuffer.prototype, 'timestampOffset', property);
}
