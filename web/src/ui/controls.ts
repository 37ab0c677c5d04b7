/** The row of buttons under the picture, and the bar above it. */

import { lag, wallClock } from '../format';
import type { Session } from '../play/session';
import { save } from '../play/settings';
import { t } from '../words';
import { h, setText } from './dom';
import { Dvr } from './dvr';
import { type IconName, setIcon } from './icons';

/** What the forward and back buttons, and the arrow keys, step over, in seconds. */
export const STEP_S = 10;

export interface Actions {
  fullscreen(): void;
  pictureInPicture(): void;
  settings(): void;
  scorecard(): void;
  captions(): void;
  mute(): void;
}

export class Controls {
  readonly element: HTMLElement;
  readonly dvr: Dvr;
  readonly play = button('play', t.controls.play);
  readonly #session: Session;
  readonly #back = button('back', t.controls.back(STEP_S));
  readonly #forward = button('forward', t.controls.forward(STEP_S));
  readonly #mute = button('sound', t.controls.mute);
  readonly #volume = h('input', {
    class: 'volume',
    type: 'range',
    min: 0,
    max: 100,
    'aria-label': t.controls.volume,
  });
  readonly #live = h(
    'button',
    { class: 'live-button', type: 'button' },
    h('span', { class: 'dot' }),
    h('span'),
  );
  readonly #time = h('span', { class: 'time' });
  readonly #captions = button('captions', t.controls.captions);
  readonly scorecard = button('scorecard', t.common.scorecard);
  readonly #settings = button('settings', t.common.settings);
  readonly #pip = button('pip', t.controls.pip);
  readonly #fullscreen = button('expand', t.controls.full);

  constructor(session: Session, actions: Actions) {
    this.#session = session;
    this.dvr = new Dvr({
      seek: (at) => session.playhead.seek(at),
      step: (by) => session.playhead.step(by),
      goLive: () => session.goLive(),
    });
    this.element = h(
      'div',
      { class: 'controls', role: 'group', 'aria-label': t.controls.name },
      this.dvr.element,
      h('div', { class: 'transport' }, this.#back, this.play, this.#forward),
      h('div', { class: 'status' }, this.#live, this.#time),
      h(
        'div',
        { class: 'tools' },
        h('div', { class: 'loudness' }, this.#mute, this.#volume),
        this.#captions,
        this.scorecard,
        this.#settings,
        this.#pip,
        this.#fullscreen,
      ),
    );
    const click = (on: HTMLElement, then: () => void): void => on.addEventListener('click', then);
    click(this.play, () => session.toggle());
    click(this.#back, () => session.playhead.step(-STEP_S));
    click(this.#forward, () => session.playhead.step(STEP_S));
    click(this.#live, () => session.goLive());
    click(this.#mute, () => actions.mute());
    click(this.#captions, () => actions.captions());
    click(this.#settings, () => actions.settings());
    click(this.scorecard, () => actions.scorecard());
    click(this.#pip, () => actions.pictureInPicture());
    click(this.#fullscreen, () => actions.fullscreen());
    this.#volume.addEventListener('input', () => {
      session.video.volume = Number(this.#volume.value) / 100;
      session.video.muted = session.video.volume === 0;
      session.settings.volume = session.video.volume;
      save(session.settings);
    });
    this.#pip.hidden = !document.pictureInPictureEnabled;
    this.#captions.hidden = true;
    this.scorecard.hidden = true;
    this.update();
  }

  /** Whether the match has a score, and whether its card is open. */
  score(has: boolean, open: boolean): void {
    this.scorecard.hidden = !has;
    this.scorecard.setAttribute('aria-expanded', String(open));
  }

  /** Called a few times a second, and when something happened. */
  update(): void {
    const session = this.#session;
    const { video } = session;
    const playing = !video.paused;
    label(this.play, playing ? 'pause' : 'play', playing ? t.controls.pause : t.controls.play);
    label(this.#mute, video.muted ? 'muted' : 'sound', video.muted ? t.controls.unmute : t.controls.mute);
    this.#volume.value = String(video.muted ? 0 : Math.round(video.volume * 100));
    const full = document.fullscreenElement !== null;
    label(this.#fullscreen, full ? 'shrink' : 'expand', full ? t.controls.leaveFull : t.controls.full);
    this.#captions.hidden = (session.adapter?.captions().length ?? 0) === 0;
    this.#captions.setAttribute('aria-pressed', String((session.adapter?.caption() ?? null) !== null));

    const { playhead } = session;
    const window = playhead.window();
    const at = playhead.venueMs();
    const behindS = playhead.behindS();
    const { ended } = playhead;
    const live = playhead.following && !ended && playing;
    this.dvr.update(window && at !== null ? { window, playhead: at, live, ended } : null);

    this.#live.hidden = ended || behindS === null;
    this.#live.classList.toggle('on', live);
    const text = this.#live.lastElementChild;
    if (text instanceof HTMLElement) setText(text, live ? t.common.live : t.controls.goLive);
    setText(this.#time, timeText(at, behindS, ended));
  }
}

function timeText(at: number | null, behindS: number | null, ended: boolean): string {
  if (at === null || behindS === null) return '';
  return ended ? t.controls.endedAt(wallClock(at)) : t.controls.behind(lag(behindS));
}

export function button(icon: IconName, name: string): HTMLButtonElement {
  const element = h('button', { class: 'icon', type: 'button' });
  label(element, icon, name);
  return element;
}

function label(element: HTMLButtonElement, icon: IconName, name: string): void {
  setIcon(element, icon);
  if (element.getAttribute('aria-label') === name) return;
  element.setAttribute('aria-label', name);
  element.title = name;
}
