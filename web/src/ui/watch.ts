/** The watch page: picture, controls, and words when there is no picture. */

import { spokenLag } from '../format';
import { matches } from '../net/api';
import type { ServerClock } from '../net/clock';
import type { Problem } from '../net/problem';
import { keepWatched } from '../play/history';
import { Session, type SessionEvents } from '../play/session';
import { load, save } from '../play/settings';
import { busy, type State, sentence } from '../play/state';
import { language, t } from '../words';
import { announce } from './announce';
import { Controls, STEP_S } from './controls';
import { h, setText, type View } from './dom';
import { setIcon } from './icons';
import { Message } from './message';
import { Panel } from './panel';
import { Score } from './score';
import { isDirection, moveFocus } from './spatial';

/** The controls leave a playing picture after this long without a sign of the viewer. */
const HIDE_AFTER_MS = 3_500;

/** How often figures on the page are brought up to date. */
const UPDATE_MS = 250;

/** A notice is small and may be read twice. */
const NOTICE_MS = 7_000;

/** How often it is noted where the picture is, to go on from there another time. */
const REMEMBER_MS = 5_000;

/** Two taps closer than this are one double tap. */
const DOUBLE_TAP_MS = 300;

export function watch(match: string, clock: ServerClock): View {
  return new Watch(match, clock);
}

class Watch implements View {
  readonly element: HTMLElement;
  readonly #video = h('video', {
    playsinline: true,
    'aria-label': t.watch.picture,
    disableremoteplayback: true,
  });
  readonly #captions = h('div', { class: 'captions' });
  readonly #title = h('h1', { tabindex: '-1' }, t.common.match);
  readonly #message: Message;
  readonly #sound = h('button', { class: 'pill sound', type: 'button', hidden: true }, t.watch.sound);
  readonly #notice = h('p', { class: 'notice', hidden: true });
  readonly #aboutTitle = h('h2', {}, t.common.match);
  readonly #aboutState = h('p', { class: 'quiet' });
  readonly #stage: HTMLElement;
  readonly #screen: HTMLElement;
  readonly #session: Session;
  readonly #controls: Controls;
  readonly #panel: Panel;
  readonly #score: Score;
  readonly #life = new AbortController();
  #hide: ReturnType<typeof setTimeout> | undefined;
  #noticeEnds: ReturnType<typeof setTimeout> | undefined;
  #tap: ReturnType<typeof setTimeout> | undefined;
  readonly #match: string;
  #named = '';
  // What was seen for a moment is gone on with, too.
  #remembered = Number.NEGATIVE_INFINITY;

  constructor(match: string, clock: ServerClock) {
    this.#match = match;
    document.title = 'Pavilion';
    const home = h('a', { class: 'icon', href: '/', 'aria-label': t.common.allMatches });
    setIcon(home, 'home');
    this.#message = new Message(
      () => void (this.#session.state === 'blocked' ? this.#session.play() : this.#session.start()),
      (name) => (name === match && this.#named !== '' ? this.#named : name),
    );
    this.#stage = h(
      'div',
      { class: 'stage' },
      this.#video,
      this.#captions,
      h('div', { class: 'shade', 'aria-hidden': 'true' }),
      this.#message.element,
      this.#sound,
      this.#notice,
    );
    const events: SessionEvents = {
      state: (state) => this.#state(state),
      refused: (problem) => this.#refused(problem),
      tracks: () => this.#tracks(),
      heldBack: (by) => this.#say(t.watch.heldBack(by.toFixed(1))),
      title: (title) => this.#name(title),
      scores: (access) => {
        this.#score.begin(access);
        this.element.classList.toggle('has-score', this.#score.has);
      },
      frame: () => this.#score?.tick(),
    };
    this.#session = new Session(match, this.#video, this.#captions, load(), clock, events, from());
    this.#score = new Score(
      match,
      {
        picture: () => this.#session.picture(),
        seek: (at) => this.#session.playhead.seek(at),
        earliestMs: () => this.#session.playhead.window()?.start ?? null,
        scores: (signal) => this.#session.scores(signal),
      },
      (open) => this.#opened(open),
    );
    this.#controls = new Controls(this.#session, {
      fullscreen: () => this.#fullscreen(),
      pictureInPicture: () => this.#pictureInPicture(),
      settings: () => this.#panel.open(),
      scorecard: () => this.#score.open(!this.#score.isOpen),
      captions: () => this.#toggleCaptions(),
      mute: () => this.#mute(),
    });
    this.#panel = new Panel(this.#session);
    this.#screen = h(
      'div',
      { class: 'screen' },
      h('header', { class: 'top' }, home, this.#title),
      this.#stage,
      this.#controls.element,
    );
    this.element = h(
      'main',
      { class: 'watch' },
      this.#screen,
      h('section', { class: 'about', 'aria-label': t.watch.about }, this.#aboutTitle, this.#aboutState),
      this.#score.board.element,
      this.#score.sheet,
      this.#panel.element,
    );
    this.#listen();
    this.#state('loading');
    window.pavilion = { stats: () => this.#session.stats(), score: () => this.#score.health() };
  }

  leave(): void {
    this.#remember();
    this.#life.abort();
    clearTimeout(this.#hide);
    clearTimeout(this.#noticeEnds);
    clearTimeout(this.#tap);
    delete window.pavilion;
    this.#score.leave();
    void this.#session.destroy();
  }

  #opened(open: boolean): void {
    this.element.classList.toggle('with-sheet', open);
    if (!open) this.#controls.scorecard.focus();
    this.#wake();
    this.#update();
  }

  #state(state: State): void {
    this.element.dataset.state = state;
    this.element.classList.toggle('busy', busy(state));
    const words = this.#message.show(state);
    if (state === 'not-found') this.#name(t.watch.notFound);
    announce(this.#spoken(state, words));
    this.#wake();
    this.#update();
  }

  #spoken(state: State, words: string): string {
    const behind = this.#session?.playhead.behindS() ?? null;
    if (state === 'playing' && behind !== null) return t.states.playing(spokenLag(behind));
    if (state === 'paused') return t.states.paused;
    return state === 'ended' ? t.states.ended : words;
  }

  /** Who is not let in is at least told what it is that they are not let in to. */
  #refused(problem: Problem): void {
    this.#message.refused(problem);
    if (this.#named !== '') return;
    matches(this.#life.signal).then(
      (all) => {
        const found = all.find((m) => m.match === this.#match);
        if (!found || this.#named !== '') return;
        this.#name(found.titles[language] ?? found.title);
        this.#message.refused(problem);
        this.#message.show(this.#session.state);
      },
      () => undefined,
    );
  }

  /** Where to go on another time. */
  #remember(): void {
    const { state, playhead } = this.#session;
    const at = playhead.venueMs();
    if ((state !== 'playing' && state !== 'paused') || at === null) return;
    this.#remembered = performance.now();
    const venueMs = playhead.following && state === 'playing' ? null : Math.round(at);
    keepWatched({ match: this.#match, venueMs, atMs: Date.now() });
  }

  #tracks(): void {
    const { adapter, settings } = this.#session;
    const first = adapter?.captions()[0];
    if (settings.captions && first && adapter?.caption() === null) adapter.chooseCaption(first.id);
    this.#panel.refresh();
    this.#update();
  }

  #name(title: string): void {
    this.#named = title;
    document.title = `${title} · Pavilion`;
    setText(this.#title, title);
    setText(this.#aboutTitle, title);
  }

  #say(words: string): void {
    setText(this.#notice, words);
    this.#notice.hidden = false;
    announce(words);
    clearTimeout(this.#noticeEnds);
    this.#noticeEnds = setTimeout(() => {
      this.#notice.hidden = true;
    }, NOTICE_MS);
  }

  #update(): void {
    // The session speaks once before there are controls.
    if (!this.#controls) return;
    this.#controls.update();
    this.#controls.score(this.#score.has, this.#score.isOpen);
    // Without frames (paused, not begun, gone) it is looked after here.
    this.#score.tick();
    this.#sound.hidden = !(this.#session.silenced && this.#video.muted && !this.#video.paused);
    setText(this.#aboutState, about(this.#session));
    if (this.#panel.element.open) this.#panel.figures();
    if (performance.now() - this.#remembered > REMEMBER_MS) this.#remember();
  }

  #wake(): void {
    this.element.classList.remove('idle');
    clearTimeout(this.#hide);
    this.#hide = setTimeout(() => {
      const busyHands = this.#controls.element.querySelector(':focus-visible') !== null;
      const open = this.#panel.element.open || this.#score.isOpen;
      const resting = this.#session.state === 'playing' && !open && !busyHands;
      this.element.classList.toggle('idle', resting);
    }, HIDE_AFTER_MS);
  }

  #mute(): void {
    const { video, settings } = this.#session;
    if (video.muted) this.#session.unmute();
    else video.muted = true;
    settings.muted = video.muted;
    settings.volume = video.volume;
    save(settings);
    this.#update();
  }

  #toggleCaptions(): void {
    const { adapter, settings } = this.#session;
    const first = adapter?.captions()[0];
    if (!adapter || !first) return;
    settings.captions = adapter.caption() === null;
    adapter.chooseCaption(settings.captions ? first.id : null);
    save(settings);
  }

  #fullscreen(): void {
    if (document.fullscreenElement) {
      void document.exitFullscreen();
      return;
    }
    // The whole page, so that the settings and the live region stay on it. iPhones know only the video's own.
    const page = this.element as HTMLElement & { requestFullscreen?: () => Promise<void> };
    const video = this.#video as HTMLVideoElement & { webkitEnterFullscreen?: () => void };
    if (page.requestFullscreen) page.requestFullscreen().catch(() => undefined);
    else video.webkitEnterFullscreen?.();
  }

  #pictureInPicture(): void {
    const change = document.pictureInPictureElement
      ? document.exitPictureInPicture()
      : this.#video.requestPictureInPicture();
    change.catch(() => this.#say(t.watch.noPip));
  }

  #listen(): void {
    const { signal } = this.#life;
    const timer = setInterval(() => this.#update(), UPDATE_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
    for (const name of ['pointermove', 'pointerdown', 'focusin']) {
      this.element.addEventListener(name, () => this.#wake());
    }
    document.addEventListener('fullscreenchange', () => this.#update(), { signal });
    document.addEventListener('keydown', (event) => this.#key(event), { signal });
    for (const name of ['volumechange', 'play', 'pause', 'seeked']) {
      this.#video.addEventListener(name, () => this.#update(), { signal });
    }
    this.#sound.addEventListener('click', () => this.#session.unmute());
    this.#stage.addEventListener('pointerup', (event) => this.#touched(event));
  }

  /** Mouse: click plays and pauses, twice is full screen. Touch: tap shows, twice steps, as on every phone. */
  #touched(event: PointerEvent): void {
    if (event.target instanceof Element && event.target.closest('button, a')) return;
    if (event.button !== 0) return;
    const second = this.#tap !== undefined;
    clearTimeout(this.#tap);
    this.#tap = undefined;
    if (second) {
      if (event.pointerType === 'mouse') this.#fullscreen();
      else this.#session.playhead.step(event.offsetX > this.#stage.clientWidth / 2 ? STEP_S : -STEP_S);
      return;
    }
    const idle = this.element.classList.contains('idle');
    this.#tap = setTimeout(() => {
      this.#tap = undefined;
      if (event.pointerType === 'mouse') this.#session.toggle();
      else if (!idle && this.#session.state === 'playing') this.element.classList.add('idle');
    }, DOUBLE_TAP_MS);
  }

  #key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.#panel.element.open) return;
    this.#wake();
    if (this.#act(event.key, event.target)) event.preventDefault();
  }

  #act(key: string, target: EventTarget | null): boolean {
    const session = this.#session;
    const inControls =
      target instanceof HTMLElement && this.#screen.contains(target) && target !== this.#title;
    // Beyond the last of what can be chosen, the card scrolls by the same keys.
    if (isDirection(key) && target instanceof Node && this.#score.sheet.contains(target)) {
      return moveFocus(this.#score.sheet, key);
    }
    if (isDirection(key)) {
      if (target instanceof HTMLInputElement && (key === 'ArrowLeft' || key === 'ArrowRight')) return false;
      if (!inControls && key === 'ArrowLeft') session.playhead.step(-STEP_S);
      else if (!inControls && key === 'ArrowRight') session.playhead.step(STEP_S);
      else if (!inControls && this.#controls.play.offsetParent !== null) this.#controls.play.focus();
      else moveFocus(this.#screen, key);
      return true;
    }
    switch (key) {
      case ' ':
        // A focused button or link is pressed by it.
        if (target instanceof HTMLElement && target.closest('button, a, input')) return false;
        session.toggle();
        return true;
      case 'k':
      case 'MediaPlayPause':
        session.toggle();
        return true;
      case 'm':
        this.#mute();
        return true;
      case 'f':
        this.#fullscreen();
        return true;
      case 'l':
        session.goLive();
        return true;
      case 'c':
        this.#toggleCaptions();
        return true;
      case 's':
        this.#panel.open();
        return true;
      case 'b':
        if (this.#score.has) this.#score.open(!this.#score.isOpen);
        return true;
      case 'Escape':
        if (!this.#score.isOpen) return false;
        this.#score.open(false);
        return true;
      case 'GoBack':
      case 'BrowserBack':
        history.back();
        return true;
      default:
        return false;
    }
  }
}

/** `?at=`: where to go on, venue time, UTC ms. */
function from(): number | null {
  const at = Number(new URLSearchParams(location.search).get('at'));
  return at > 0 && Number.isFinite(at) ? at : null;
}

function about(session: Session): string {
  if (session.playhead.ended) return t.states.ended;
  const behind = session.playhead.behindS();
  if (behind === null) return sentence(session.state);
  return session.playhead.following ? t.watch.fromGround : t.watch.behind(spokenLag(behind));
}
