/** One viewing of one match: opens it, keeps it going, and says what is happening. No DOM but the video. */

import * as api from '../net/api';
import { nextWaitMs, RECOVERY_BACKOFF, REOPEN_BACKOFF, START_BACKOFF } from '../net/backoff';
import type { ServerClock } from '../net/clock';
import type { Problem } from '../net/problem';
import { pause, RequestError, restAgain } from '../net/request';
import type { Picture } from '../scores/follow';
import type { Adapter, Fault, PlayerName } from './adapter';
import { Admission, TIMER_MS_MAX } from './admission';
import { Keys } from './keys';
import type { Pass } from './pass';
import { type Factory, factory } from './players';
import { Playhead } from './playhead';
import { type ProfileName, profile } from './profile';
import { isRefusal, opensMs } from './refusal';
import type { Settings } from './settings';
import type { State } from './state';
import type { Stats } from './stats';

/** A player that fails this often without a clean minute between will not be mended by one more try at once. */
const RECOVERIES_MAX = 6;
const CLEAN_MS = 60_000;

/** A player that failed while it loaded may never be done with closing, and another shall not wait for it. */
const CLOSE_MS = 2_000;

/** Faults kept for `stats()`. */
const FAULTS_KEPT = 50;

/** What opens at a known time is asked for within so long after it: not all who wait for it come at once. */
const OPEN_SPREAD_MS = 20_000;

/** Until the match says its grid: the usual one. Nothing is played with it. */
const USUAL_GRID = { segmentS: 1.92, partS: 0.32 };

export interface SessionEvents {
  /** The state or its words changed. */
  state(state: State): void;
  /** It is not shown, and why. */
  refused(problem: Problem): void;
  /** Rungs, languages, captions. */
  tracks(): void;
  /** The hold-back was widened by so many seconds. */
  heldBack(seconds: number): void;
  title(title: string): void;
  /** Where the score is; again, with a new token, whenever the match is opened. */
  scores(access: api.Scores | null): void;
  /** A frame is on screen, or the picture jumped. */
  frame(): void;
}

export class Session {
  readonly video: HTMLVideoElement;
  readonly settings: Settings;
  readonly playhead: Playhead;
  state: State = 'loading';
  adapter: Adapter | null = null;
  /** The browser plays only without sound until the viewer asks for it. */
  silenced = false;

  readonly #clock: ServerClock;
  readonly #captions: HTMLElement;
  readonly #events: SessionEvents;
  readonly #life = new AbortController();
  /** Ends what belongs to the present opening when another begins. */
  #run = new AbortController();
  #recoveries = 0;
  #recoveryWaitMs = RECOVERY_BACKOFF.baseMs;
  #reopenMs = REOPEN_BACKOFF.baseMs;
  #faultAt = Number.NEGATIVE_INFINITY;
  #mending = false;
  /** They outlive players. */
  #keys: Keys | null = null;
  #everStarted = false;
  /** Where to go on after the next first frame, UTC ms; null: at the live edge. */
  #resume: number | null;
  readonly #admission: Admission;
  readonly #faults: string[] = [];

  constructor(
    match: string,
    video: HTMLVideoElement,
    captions: HTMLElement,
    settings: Settings,
    clock: ServerClock,
    events: SessionEvents,
    resume: number | null,
  ) {
    this.#resume = resume;
    this.#admission = new Admission(match, clock, {
      stopped: () => void this.#stopped(),
      moved: () => void this.#rebuild(),
      note: (detail) => this.#note(detail),
    });
    this.video = video;
    this.#captions = captions;
    this.settings = settings;
    this.#clock = clock;
    this.#events = events;
    this.playhead = new Playhead(video, clock, profile(settings.profile, USUAL_GRID), {
      frame: () => {
        this.#frame();
        events.frame();
      },
      heldBack: (by) => {
        if (by > 0) events.heldBack(by);
      },
      stood: (times, rebuild) => {
        this.#note(`the picture stood, time ${times}`);
        if (rebuild && !this.#mending) void this.#rebuild();
      },
    });
    video.volume = settings.volume;
    video.muted = settings.muted;
    this.#listen();
    void this.start();
  }

  /** Opens the match, from the beginning of opening; also the Retry button. */
  async start(): Promise<void> {
    this.#recoveries = 0;
    this.#reopenMs = REOPEN_BACKOFF.baseMs;
    await this.#open();
  }

  async destroy(): Promise<void> {
    this.#life.abort();
    this.#run.abort();
    this.#admission.giveUp(false);
    this.playhead.destroy();
    await this.#close();
    await this.#keys?.destroy();
  }

  /** A new token for the score. */
  async scores(signal: AbortSignal): Promise<api.Scores | null> {
    // Who is not let in takes no slot for the score's sake.
    if (this.state === 'stopped' || this.state === 'refused') throw new TypeError(this.state);
    return (await this.#admission.play(signal)).scores;
  }

  /** Another player or profile: at the same place of the match if in the DVR, at the live edge otherwise. */
  async change(player: PlayerName, name: ProfileName): Promise<void> {
    this.settings.player = player;
    this.settings.profile = name;
    await this.#rebuild();
  }

  /** What the viewer has seen of the match, for what must not be shown earlier. */
  picture(): Picture {
    const never = !this.#everStarted && this.state === 'failed';
    if (never || this.state === 'no-picture' || this.state === 'not-started') {
      return { ms: Number.POSITIVE_INFINITY, rate: 0 };
    }
    const { paused, seeking, playbackRate } = this.video;
    return { ms: this.playhead.seenMs(), rate: paused || seeking ? 0 : playbackRate };
  }

  goLive(): void {
    this.playhead.goLive();
    if (this.video.paused) void this.play();
  }

  /** Plays, without sound if the browser insists. */
  async play(): Promise<void> {
    try {
      await this.video.play();
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return;
      if (this.video.muted) {
        this.#say('blocked');
        return;
      }
      this.silenced = true;
      this.video.muted = true;
      await this.play();
    }
  }

  toggle(): void {
    if (this.video.paused) void this.play();
    else this.video.pause();
  }

  unmute(): void {
    this.silenced = false;
    this.video.muted = false;
    if (this.video.volume === 0) this.video.volume = 0.5;
  }

  stats(): Stats {
    const { playhead, adapter, settings } = this;
    const ms = (seconds: number | null): number | null =>
      seconds === null ? null : Math.round(seconds * 1000);
    return {
      state: this.state,
      player: settings.player,
      profile: settings.profile,
      behindMs: ms(playhead.behindS()),
      delayMs: ms(playhead.delay.seconds),
      holdBackMs: Math.round(playhead.holdBack.seconds * 1000),
      widenedMs: Math.round(playhead.holdBack.extraS * 1000),
      aheadMs: Math.round(playhead.aheadS() * 1000),
      playbackRate: this.video.playbackRate,
      stalls: [...playhead.gaps.stalls],
      longestFrameGapMs: Math.round(playhead.gaps.longestMs(performance.now())),
      framesPresented: playhead.frames,
      jumps: [...playhead.jumps],
      level: adapter?.rung()?.height ?? null,
      levels: adapter?.rungs().map((r) => r.height) ?? [],
      audio: adapter?.language()?.language ?? null,
      audios: adapter?.languages().map((t) => t.language) ?? [],
      following: playhead.following,
      venueMs: playhead.venueMs(),
      licences: this.#keys?.requests ?? 0,
      passes: this.#admission.renewals,
      errors: [...this.#faults],
    };
  }

  async #open(): Promise<void> {
    this.#run.abort();
    this.#run = new AbortController();
    const signal = AbortSignal.any([this.#life.signal, this.#run.signal]);
    try {
      if (this.state !== 'recovering') this.#say('loading');
      await this.#close();
      // The player's code comes while the match is asked for.
      const [make, play] = await Promise.all([
        factory(this.settings.player),
        this.#admission.play(signal),
        this.#clock.sync(),
      ]);
      this.#events.title(play.title);
      this.#events.scores(play.scores);
      if (play.playlist === null) {
        this.#say('no-picture');
        return;
      }
      const begun = await this.#untilBegun(play, play.playlist, signal);
      signal.throwIfAborted();
      await this.#load(make, begun.play, begun.playlist, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#note(String(error));
      if (!(error instanceof RequestError)) await this.#reopen(null, signal);
      else if (error.status === 404) this.#say('not-found');
      else if (error.problem !== null && isRefusal(error.problem)) await this.#refuse(error.problem, signal);
      else await this.#reopen(error, signal);
    }
  }

  /** Says why it is not shown; what opens at a known time is opened then. */
  async #refuse(problem: Problem, signal: AbortSignal): Promise<void> {
    // Whose place another device has now learns that before its next heartbeat would tell.
    if (problem.kind === 'devices' && this.#admission.placed) {
      await this.#stopped();
      return;
    }
    this.#events.refused(problem);
    this.#say('refused');
    const at = opensMs(problem);
    if (at === null) return;
    try {
      const spread = Math.random() * OPEN_SPREAD_MS;
      await pause(Math.min(TIMER_MS_MAX, Math.max(0, at - this.#clock.nowMs()) + spread), signal, 1_000);
    } catch {
      return;
    }
    await this.#open();
  }

  /** It was stopped from another device: that one has the slot now, so nothing goes on here by itself. */
  async #stopped(): Promise<void> {
    this.#run.abort();
    this.#admission.lose();
    this.#resume = this.playhead.following ? null : this.playhead.venueMs();
    await this.#close();
    this.#say('stopped');
  }

  async #load(make: Factory, play: api.Play, playlist: string, signal: AbortSignal): Promise<void> {
    const chosen = profile(this.settings.profile, play);
    const adapter = make(this.video, this.#captions, {
      tracks: () => this.#events.tracks(),
      fault: (fault) => {
        if (!signal.aborted) void this.#fault(fault, signal);
      },
    });
    this.adapter = adapter;
    this.playhead.begin(adapter, chosen);
    const pass = this.#admission.begin(play, playlist, signal);
    const keys = await this.#unlock(play, pass, signal);
    signal.throwIfAborted();
    await adapter.load({
      playlist,
      pass,
      keys,
      heightMax: Math.min(play.heightMax, play.licence?.heightMax ?? Number.POSITIVE_INFINITY),
      profile: chosen,
      holdBackS: chosen.holdBackS,
      language: this.settings.language,
    });
    if (signal.aborted) return;
    this.#events.tracks();
    await this.play();
  }

  /** What holds the keys of an encrypted match. */
  async #unlock(play: api.Play, pass: Pass, signal: AbortSignal): Promise<Keys | null> {
    if (!play.licence) return null;
    const url = play.licence.clearKey;
    if (url === null) {
      const detail = 'its keys are for other devices';
      void this.#fault({ kind: 'unsupported', detail }, signal);
      throw new Error(detail);
    }
    this.#keys ??= new Keys(this.video, {
      failed: (detail, unsupported) => {
        void this.#fault({ kind: unsupported ? 'unsupported' : 'keys', detail }, this.#run.signal);
      },
    });
    await this.#keys.open({ url, pass: () => pass.now, nowMs: () => this.#clock.nowMs() });
    signal.throwIfAborted();
    return this.#keys;
  }

  async #close(): Promise<void> {
    const adapter = this.adapter;
    this.adapter = null;
    if (adapter) await Promise.race([adapter.destroy(), pause(CLOSE_MS)]);
  }

  /**
   * A match may be listed before its picture: asks, politely, until it is there. A pass that ended meanwhile, since nothing
   * renews it here, is asked for anew.
   */
  async #untilBegun(
    play: api.Play,
    playlist: string,
    signal: AbortSignal,
  ): Promise<{ play: api.Play; playlist: string }> {
    let waitMs = START_BACKOFF.baseMs;
    for (let [now, at] = [play, playlist]; ; ) {
      try {
        await api.begun(at, signal);
        return { play: now, playlist: at };
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        // Stopped meanwhile: what that said stays.
        signal.throwIfAborted();
        this.#say(navigator.onLine ? 'not-started' : 'offline');
        // That it is not there yet is an answer; what is none is for the policy.
        if (error.status === 404) {
          waitMs = nextWaitMs(waitMs, START_BACKOFF, Math.random);
          await pause(waitMs, signal);
        } else waitMs = await restAgain(error, waitMs, START_BACKOFF, signal);
        if (error.status !== 401 && error.status !== 403) continue;
        if (error.problem?.members.reason === 'revoked') await this.#stopped();
        signal.throwIfAborted();
        now = await this.#admission.play(signal);
        at = now.playlist ?? at;
      }
    }
  }

  /** Says that it cannot be opened, and tries again after a while, or when the viewer or the network says so. */
  async #reopen(error: RequestError | null, signal: AbortSignal): Promise<void> {
    const { problem = null } = error ?? {};
    if (problem !== null) this.#events.refused(problem);
    this.#say(!navigator.onLine ? 'offline' : problem === null ? 'failed' : 'later');
    try {
      this.#reopenMs = await restAgain(error, this.#reopenMs, REOPEN_BACKOFF, signal);
    } catch {
      return;
    }
    await this.#open();
  }

  async #rebuild(): Promise<void> {
    this.#resume = this.playhead.following ? null : this.playhead.venueMs();
    await this.#open();
  }

  /** A fault the player did not get over: first in place, then with a new player, then the truth. */
  async #fault(fault: Fault, signal: AbortSignal): Promise<void> {
    this.#note(fault.detail);
    const now = performance.now();
    if (now - this.#faultAt > CLEAN_MS) {
      this.#recoveries = 0;
      this.#recoveryWaitMs = RECOVERY_BACKOFF.baseMs;
    }
    this.#faultAt = now;
    if (fault.kind === 'unsupported') {
      this.#run.abort();
      this.#say('unsupported');
      return;
    }
    if (this.#mending) return;
    this.#mending = true;
    try {
      await this.#mend(fault, signal);
    } catch {
      // Replaced or closed meanwhile.
    } finally {
      this.#mending = false;
    }
  }

  async #mend(fault: Fault, signal: AbortSignal): Promise<void> {
    if (this.#recoveries >= RECOVERIES_MAX) {
      await this.#close();
      await this.#reopen(null, signal);
      return;
    }
    this.#recoveries += 1;
    this.#say(navigator.onLine ? 'recovering' : 'offline');
    this.#recoveryWaitMs = nextWaitMs(this.#recoveryWaitMs, RECOVERY_BACKOFF, Math.random);
    await pause(this.#recoveryWaitMs, signal);
    const inPlace = this.#recoveries % 2 === 1 && (this.adapter?.recover(fault.kind) ?? false);
    if (!inPlace) await this.#rebuild();
  }

  #frame(): void {
    this.#everStarted = true;
    if (this.#resume !== null && this.playhead.seek(this.#resume)) this.#resume = null;
    if (!this.video.paused) this.#say('playing');
  }

  #listen(): void {
    const on = (target: EventTarget, name: string, then: (event: Event) => void): void => {
      target.addEventListener(name, then, { signal: this.#life.signal });
    };
    const { video, playhead } = this;
    on(video, 'pause', () => {
      playhead.excuse();
      if (playhead.started) this.#say(playhead.finished ? 'ended' : 'paused');
    });
    on(video, 'play', () => playhead.resumed());
    for (const name of ['seeking', 'seeked']) on(video, name, () => this.#events.frame());
    on(video, 'waiting', () => {
      if (!video.paused && !video.ended && playhead.started && this.state === 'playing') {
        this.#say(navigator.onLine ? 'buffering' : 'offline');
      }
    });
    on(video, 'ended', () => this.#say('ended'));
    on(document, 'visibilitychange', () => {
      playhead.excuse();
      if (!document.hidden) void this.#clock.sync();
    });
    on(window, 'offline', () => {
      if (this.state === 'buffering' || this.state === 'loading') this.#say('offline');
    });
    on(window, 'pagehide', () => this.#admission.giveUp(true));
    on(window, 'pageshow', (event) => {
      // Back from the browser's memory, with a slot that was given up.
      if (event instanceof PageTransitionEvent && event.persisted) void this.#rebuild();
    });
    on(window, 'online', () => {
      if (this.state !== 'offline') return;
      if (this.adapter?.recover('network')) this.#say('buffering');
      else void this.#open();
    });
  }

  #say(state: State): void {
    // A refusal may have another reason than the last one.
    if (state === this.state && state !== 'refused' && state !== 'later') return;
    this.state = state;
    this.#events.state(state);
  }

  #note(detail: string): void {
    this.#faults.push(detail);
    if (this.#faults.length > FAULTS_KEPT) this.#faults.shift();
  }
}
