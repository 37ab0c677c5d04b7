/** Arrow keys move the focus on screen, as a TV remote expects. The geometry is pure. */

export type Direction = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';

export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Being off to the side costs this much more than being further on. */
const ASIDE = 3;

/** Index of the nearest box in a direction from `from`, or -1. */
export function nearest(from: Box, boxes: readonly Box[], direction: Direction): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const [i, box] of boxes.entries()) {
    const cost = distance(from, box, direction);
    if (cost !== null && cost < least) {
      least = cost;
      best = i;
    }
  }
  return best;
}

function distance(from: Box, to: Box, direction: Direction): number | null {
  const across = direction === 'ArrowLeft' || direction === 'ArrowRight';
  const centre = (b: Box, x: boolean): number => (x ? b.left + b.right : b.top + b.bottom) / 2;
  const sign = direction === 'ArrowRight' || direction === 'ArrowDown' ? 1 : -1;
  const ahead = (centre(to, across) - centre(from, across)) * sign;
  // Centres within a pixel are the same row or column.
  if (ahead <= 1) return null;
  const [lowFrom, highFrom, lowTo, highTo] = across
    ? [from.top, from.bottom, to.top, to.bottom]
    : [from.left, from.right, to.left, to.right];
  const gap = Math.max(0, lowTo - highFrom, lowFrom - highTo);
  // For left and right only what shares the row; up and down may slant.
  if (across && gap > 0) return null;
  return ahead + ASIDE * gap;
}

export function isDirection(key: string): key is Direction {
  return key === 'ArrowUp' || key === 'ArrowDown' || key === 'ArrowLeft' || key === 'ArrowRight';
}

/**
 * Arrow keys move the focus in a page without a picture; in a text they move its cursor.
 * @param first what most come for: it is chosen while nothing has the focus.
 */
export function followArrows(
  root: HTMLElement,
  signal: AbortSignal,
  first: () => HTMLElement | null = () => null,
): void {
  const arrows = (event: KeyboardEvent): void => {
    if (!isDirection(event.key) || event.defaultPrevented) return;
    const across = event.key === 'ArrowLeft' || event.key === 'ArrowRight';
    if (across && event.target instanceof HTMLInputElement) return;
    if (moveFocus(root, event.key, first())) event.preventDefault();
  };
  // On the document: at first nothing in the page has the focus.
  document.addEventListener('keydown', arrows, { signal });
}

const FOCUSABLE = 'a[href], button:not([disabled]), [tabindex="0"], input:not([disabled]), summary';

/** Moves the focus within `root`. Returns whether it moved. */
export function moveFocus(
  root: HTMLElement,
  direction: Direction,
  first: HTMLElement | null = null,
): boolean {
  const all = [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((e) => e.offsetParent !== null);
  const now = document.activeElement;
  if (!(now instanceof HTMLElement) || !root.contains(now) || !all.includes(now)) {
    (first ?? all[0])?.focus();
    return all.length > 0;
  }
  const others = all.filter((e) => e !== now);
  const to =
    others[
      nearest(
        now.getBoundingClientRect(),
        others.map((e) => e.getBoundingClientRect()),
        direction,
      )
    ];
  to?.focus();
  return to !== undefined;
}
