/** The DVR bar: the match so far, and where the picture is in it. */

import { lag, length, spokenLag, wallClock } from '../format';
import type { Range } from '../play/holes';
import { t } from '../words';
import { h, setText } from './dom';

export interface DvrState {
  /** UTC ms. */
  readonly window: Range;
  readonly playhead: number;
  /** At the live position. */
  readonly live: boolean;
  /** The match has ended: times count from its start. */
  readonly ended: boolean;
}

/** How the bar moves the picture. */
export interface Moves {
  /** To venue time, UTC ms. */
  seek(venueMs: number): void;
  /** From where it is, or is going to, seconds. */
  step(seconds: number): void;
  goLive(): void;
}

/** Arrow keys, and page keys, in seconds. */
const STEP_S = 10;
const PAGE_S = 60;

/** A screen reader that rests on the bar is not told every second. */
const SPEAK_EVERY_MS = 5_000;

export class Dvr {
  /** The slider between its two labels. */
  readonly element: HTMLElement;
  readonly #slider: HTMLElement;
  readonly #from = h('span', { class: 'label', 'aria-hidden': 'true' });
  readonly #to = h('span', { class: 'label', 'aria-hidden': 'true' });
  readonly #played = h('div', { class: 'played' });
  readonly #thumb = h('div', { class: 'thumb' });
  readonly #tip = h('div', { class: 'tip', hidden: true });
  readonly #moves: Moves;
  #state: DvrState | null = null;
  /** While the viewer drags: where to, UTC ms. */
  #drag: number | null = null;
  #spokenAt = Number.NEGATIVE_INFINITY;

  constructor(moves: Moves) {
    this.#moves = moves;
    this.#slider = h(
      'div',
      {
        class: 'dvr',
        role: 'slider',
        tabindex: '0',
        'aria-label': t.bar.name,
        'aria-valuemin': '0',
        'aria-valuemax': '0',
        'aria-valuenow': '0',
        'aria-valuetext': t.bar.unknown,
        'aria-disabled': 'true',
      },
      h('div', { class: 'track' }, this.#played, this.#thumb),
      this.#tip,
    );
    this.element = h('div', { class: 'bar' }, this.#from, this.#slider, this.#to);
    this.#listen();
  }

  update(state: DvrState | null): void {
    this.#state = state;
    this.#slider.setAttribute('aria-disabled', String(state === null));
    if (state === null) return;
    const at = this.#drag ?? state.playhead;
    const whole = state.live && this.#drag === null ? 1 : share(state.window, at);
    this.#played.style.transform = `scaleX(${whole})`;
    this.#thumb.style.left = `${whole * 100}%`;
    this.#slider.classList.toggle('live', state.live && this.#drag === null);
    setText(this.#from, wallClock(state.window.start));
    setText(this.#to, state.live ? t.common.live : wallClock(state.window.end));
    const now = performance.now();
    if (this.#drag === null && now - this.#spokenAt < SPEAK_EVERY_MS) return;
    this.#spokenAt = now;
    const size = Math.round((state.window.end - state.window.start) / 1000);
    this.#slider.setAttribute('aria-valuemax', String(size));
    this.#slider.setAttribute('aria-valuenow', String(Math.round(whole * size)));
    this.#slider.setAttribute('aria-valuetext', words(state, at, this.#drag === null));
  }

  #at(event: PointerEvent): number | null {
    const state = this.#state;
    if (!state) return null;
    const box = this.#slider.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return state.window.start + part * (state.window.end - state.window.start);
  }

  #listen(): void {
    const element = this.#slider;
    element.addEventListener('keydown', (event) => {
      const act = this.#key(event.key);
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      this.#spokenAt = Number.NEGATIVE_INFINITY;
      act();
    });
    element.addEventListener('pointerdown', (event) => {
      this.#drag = this.#at(event);
      if (this.#drag !== null) element.setPointerCapture(event.pointerId);
      this.update(this.#state);
    });
    element.addEventListener('pointermove', (event) => {
      const at = this.#at(event);
      if (at === null || !this.#state) return;
      if (this.#drag !== null) this.#drag = at;
      this.#tip.hidden = false;
      this.#tip.style.left = `${share(this.#state.window, at) * 100}%`;
      setText(this.#tip, tip(this.#state, at));
      if (this.#drag !== null) this.update(this.#state);
    });
    element.addEventListener('pointerup', () => {
      const to = this.#drag;
      this.#drag = null;
      this.#spokenAt = Number.NEGATIVE_INFINITY;
      if (to !== null) this.#moves.seek(to);
    });
    element.addEventListener('pointercancel', () => {
      this.#drag = null;
    });
    element.addEventListener('pointerleave', () => {
      this.#tip.hidden = true;
    });
  }

  #key(key: string): (() => void) | null {
    switch (key) {
      case 'ArrowLeft':
        return () => this.#moves.step(-STEP_S);
      case 'ArrowRight':
        return () => this.#moves.step(STEP_S);
      case 'PageDown':
        return () => this.#moves.step(-PAGE_S);
      case 'PageUp':
        return () => this.#moves.step(PAGE_S);
      case 'Home':
        return () => this.#state && this.#moves.seek(this.#state.window.start);
      case 'End':
        return () => (this.#state?.ended ? this.#moves.seek(this.#state.window.end) : this.#moves.goLive());
      default:
        return null;
    }
  }
}

/** Where in the window, 0 to 1. */
export function share(window: Range, at: number): number {
  const size = window.end - window.start;
  return size > 0 ? Math.min(1, Math.max(0, (at - window.start) / size)) : 1;
}

function tip(state: DvrState, at: number): string {
  const beside = state.ended
    ? length((at - state.window.start) / 1000)
    : `−${lag((state.window.end - at) / 1000)}`;
  return `${wallClock(at)} · ${beside}`;
}

function words(state: DvrState, at: number, settled: boolean): string {
  const clock = wallClock(at);
  if (state.ended) return t.bar.atGround(clock);
  if (state.live && settled) return t.bar.live(clock);
  return t.bar.behind(clock, spokenLag((state.window.end - at) / 1000));
}
