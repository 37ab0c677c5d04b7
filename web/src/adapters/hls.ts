import Hls, {
  type ErrorData,
  Events,
  type HlsConfig,
  type LoaderCallbacks,
  type LoaderConfiguration,
  type LoaderContext,
  type LoadPolicy,
} from 'hls.js';
import { nextWaitMs, REQUEST_BACKOFF } from '../net/backoff';
import { policy } from '../net/request';
import {
  type Adapter,
  type AdapterEvents,
  BANDWIDTH_GUESS,
  BUFFER_AHEAD_S,
  BUFFER_BEHIND_S,
  type Fault,
  type FaultKind,
  RESPONSE_LIMIT_MS,
  type Rung,
  type Source,
  TRIES,
  type Track,
} from '../play/adapter';
import type { Range } from '../play/holes';
import { withoutKeys } from '../play/keynames';
import { PASS_HEADER, type Pass } from '../play/pass';
import { withoutBrokenLists } from './gaps';

/** hls.js knows exponential back-off without jitter, so each player starts from a wait of its own, as is advised then. */
function loadPolicy(): LoadPolicy {
  const backoff = policy.backoff(REQUEST_BACKOFF);
  const retry = {
    maxNumRetry: TRIES - 1,
    retryDelayMs: nextWaitMs(backoff.baseMs, backoff, Math.random),
    maxRetryDelayMs: backoff.capMs,
  };
  const limits = { maxTimeToFirstByteMs: RESPONSE_LIMIT_MS, maxLoadTimeMs: 2 * RESPONSE_LIMIT_MS };
  return { default: { ...limits, timeoutRetry: retry, errorRetry: retry } };
}

const Fetcher = Hls.DefaultConfig.loader;

/** Loads playlists, and rewrites those with missing parts. They are named as the player asked for them. */
function playlistLoader({ pass, keys }: Source): NonNullable<HlsConfig['pLoader']> {
  class PlaylistLoader extends Fetcher {
    override load(
      context: LoaderContext,
      config: LoaderConfiguration,
      callbacks: LoaderCallbacks<LoaderContext>,
    ): void {
      super.load(context, config, {
        ...callbacks,
        onSuccess: (response, stats, ctx, details) => {
          const { data } = response;
          const known = { ...response, url: pass.known(response.url) };
          if (typeof data === 'string') {
            keys?.read(data);
            known.data = withoutBrokenLists(keys ? withoutKeys(data) : data);
          }
          callbacks.onSuccess(known, stats, ctx, details);
        },
      });
    }
  }
  return PlaylistLoader as unknown as NonNullable<HlsConfig['pLoader']>;
}

/** Opens a request with the pass of now, and looks at its answer. */
function withPass(pass: Pass): NonNullable<HlsConfig['xhrSetup']> {
  return (xhr, url) => {
    const asked = pass.asked(url);
    xhr.open('GET', asked, true);
    xhr.addEventListener('load', () => {
      // Asking for a field that is not there is an error in the browser's console.
      const renewed = xhr.getAllResponseHeaders().toLowerCase().includes(`${PASS_HEADER.toLowerCase()}:`)
        ? xhr.getResponseHeader(PASS_HEADER)
        : null;
      pass.answered(asked, xhr.status, renewed, () =>
        xhr.response instanceof ArrayBuffer ? new TextDecoder().decode(xhr.response) : String(xhr.response),
      );
    });
  };
}

function config(source: Source): Partial<HlsConfig> {
  const policy = loadPolicy();
  return {
    lowLatencyMode: source.profile.lowLatency,
    liveSyncDuration: source.holdBackS,
    // The page follows the live edge itself: see play/rate.ts and play/holdback.ts.
    maxLiveSyncPlaybackRate: 1,
    liveSyncOnStallIncrease: 0,
    liveDurationInfinity: true,
    maxBufferLength: BUFFER_AHEAD_S,
    maxMaxBufferLength: BUFFER_AHEAD_S,
    backBufferLength: BUFFER_BEHIND_S,
    abrEwmaDefaultEstimate: BANDWIDTH_GUESS,
    capLevelToPlayerSize: true,
    // fMP4 needs no transmuxing that would be worth a worker.
    enableWorker: false,
    ...(source.language ? { audioPreference: { lang: source.language } } : {}),
    pLoader: playlistLoader(source),
    xhrSetup: withPass(source.pass),
    manifestLoadPolicy: policy,
    playlistLoadPolicy: policy,
    fragLoadPolicy: policy,
  };
}

export class HlsAdapter implements Adapter {
  readonly name = 'hls';
  readonly #video: HTMLVideoElement;
  readonly #events: AdapterEvents;
  #hls: Hls | null = null;
  #beginsAt = Number.NEGATIVE_INFINITY;

  constructor(video: HTMLVideoElement, events: AdapterEvents) {
    this.#video = video;
    this.#events = events;
  }

  load(source: Source): Promise<void> {
    if (!Hls.isSupported()) {
      this.#events.fault({ kind: 'unsupported', detail: 'no Media Source Extensions' });
      return Promise.resolve();
    }
    const hls = new Hls(config(source));
    this.#hls = hls;
    for (const event of [
      Events.MANIFEST_PARSED,
      Events.LEVEL_SWITCHED,
      Events.LEVEL_SWITCHING,
      Events.AUDIO_TRACKS_UPDATED,
      Events.AUDIO_TRACK_SWITCHED,
      Events.SUBTITLE_TRACKS_UPDATED,
      Events.SUBTITLE_TRACK_SWITCH,
    ] as const) {
      hls.on(event, () => this.#events.tracks());
    }
    hls.on(Events.MANIFEST_PARSED, () => cap(hls, source.heightMax));
    hls.on(Events.ERROR, (_, data) => {
      if (data.fatal) this.#events.fault(fault(data));
      else if (data.details === 'fragGap') this.#beginBehind(hls, (data.part ?? data.frag)?.end);
    });
    hls.attachMedia(this.#video);
    hls.loadSource(source.playlist);
    return new Promise((resolve) => {
      hls.once(Events.MANIFEST_PARSED, () => resolve());
      hls.on(Events.ERROR, (_, data) => data.fatal && resolve());
    });
  }

  /**
   * Where playing would begin is a hole that ends there. hls.js asks for the hole's init segment all the same, gives that up
   * for the next segment's, throws that segment away with it, and waits for it for ever. So it begins behind the hole; in a
   * turn of its own, when what was given up is out of the way.
   */
  #beginBehind(hls: Hls, end: number | undefined): void {
    if (end === undefined || end <= this.#beginsAt || this.#video.buffered.length > 0) return;
    this.#beginsAt = end;
    hls.stopLoad();
    setTimeout(() => {
      if (this.#hls === hls) hls.startLoad(end);
    });
  }

  originMs(): number | null {
    const date = this.#hls?.playingDate;
    return date ? date.getTime() - this.#video.currentTime * 1000 : null;
  }

  window(): Range | null {
    const details = this.#hls?.latestLevelDetails;
    return details ? { start: details.fragmentStart, end: details.edge } : null;
  }

  /** Sought into a hole, hls.js loads what is behind it, and the element seeks on: it never comes to that. */
  outside(mediaTime: number): number {
    let to = mediaTime;
    for (const { gap, start, end } of this.#hls?.latestLevelDetails?.fragments ?? []) {
      if (gap && start <= to && to < end) to = end;
    }
    return to;
  }

  ended(): boolean {
    return this.#hls?.latestLevelDetails?.live === false;
  }

  rungs(): readonly Rung[] {
    return (this.#hls?.levels ?? []).map((level, id) => ({
      id: String(id),
      height: level.height,
      frameRate: level.frameRate,
      bandwidth: level.bitrate,
    }));
  }

  rung(): Rung | null {
    const hls = this.#hls;
    if (!hls) return null;
    return this.rungs()[hls.currentLevel >= 0 ? hls.currentLevel : hls.loadLevel] ?? null;
  }

  chosenRung(): string | null {
    const hls = this.#hls;
    return !hls || hls.autoLevelEnabled ? null : String(hls.loadLevel);
  }

  chooseRung(id: string | null): void {
    // From the next part on; what is buffered is played, so nothing stalls.
    if (this.#hls) this.#hls.loadLevel = id === null ? -1 : Number(id);
    this.#events.tracks();
  }

  languages(): readonly Track[] {
    return (this.#hls?.audioTracks ?? []).map((t, id) => ({
      id: String(id),
      language: t.lang ?? '',
      name: t.name,
    }));
  }

  language(): Track | null {
    return this.languages()[this.#hls?.audioTrack ?? -1] ?? null;
  }

  chooseLanguage(id: string): void {
    if (this.#hls) this.#hls.audioTrack = Number(id);
  }

  captions(): readonly Track[] {
    return (this.#hls?.subtitleTracks ?? []).map((t, id) => ({
      id: String(id),
      language: t.lang ?? '',
      name: t.name,
    }));
  }

  caption(): Track | null {
    return this.captions()[this.#hls?.subtitleTrack ?? -1] ?? null;
  }

  chooseCaption(id: string | null): void {
    if (!this.#hls) return;
    this.#hls.subtitleDisplay = id !== null;
    this.#hls.subtitleTrack = id === null ? -1 : Number(id);
    this.#events.tracks();
  }

  holdBack(seconds: number): void {
    if (this.#hls) this.#hls.targetLatency = seconds;
  }

  recover(kind: FaultKind): boolean {
    const hls = this.#hls;
    if (!hls || kind === 'unsupported' || kind === 'keys' || hls.levels.length === 0) return false;
    if (kind === 'media') hls.recoverMediaError();
    else hls.startLoad();
    return true;
  }

  destroy(): Promise<void> {
    this.#hls?.destroy();
    this.#hls = null;
    return Promise.resolve();
  }
}

/** Takes away what may not be played, but for the smallest. */
function cap(hls: Hls, heightMax: number): void {
  for (let n = hls.levels.length - 1; n > 0; n -= 1) {
    if ((hls.levels[n]?.height ?? 0) > heightMax) hls.removeLevel(n);
  }
}

function fault(data: ErrorData): Fault {
  const codes = data.response?.code ? ` ${data.response.code}` : '';
  const detail = `${data.type}: ${data.details}${codes}`;
  if (data.type === 'networkError') return { kind: 'network', detail };
  if (data.details === 'manifestIncompatibleCodecsError') return { kind: 'unsupported', detail };
  return { kind: 'media', detail };
}
