import shaka from 'shaka-player/dist/shaka-player.hls-es2021.js';
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
import { withoutFirstHints, withoutGaps } from './gaps';
import { steadyOffsets } from './offset';

/**
 * Shaka clamps every seek to "edge minus presentation delay", also the jump over a hole at the edge. So its own
 * delay is this small in low-latency profiles, and the hold-back is where playback starts and what play/rate.ts
 * keeps.
 */
const LOW_LATENCY_DELAY_S = 0.1;

/** Kept of what is buffered in the old language, so that the change makes no silence. Seconds. */
const LANGUAGE_MARGIN_S = 0.5;

/**
 * Parts are tried again by the adapter (see `#failed`), not by Shaka, which would ask for the same name: here the
 * next playlist may name another. Its own wait before it tells us is this, in ms.
 */
const MEDIA_TRIES = 1;
const MEDIA_WAIT_MS = 40;

/** The wait before a part that was not there is looked up anew, seconds: the playlist comes with the part. */
const ABSENT_WAIT_S = 0.05;

const retryParameters = {
  maxAttempts: TRIES,
  baseDelay: REQUEST_BACKOFF.baseMs,
  backoffFactor: 2,
  // Half to one and a half times the wait: Shaka's word for jitter.
  fuzzFactor: 0.5,
  timeout: 2 * RESPONSE_LIMIT_MS,
  stallTimeout: RESPONSE_LIMIT_MS,
  connectionTimeout: RESPONSE_LIMIT_MS,
};

/** A part that is not there (404). A hint was wrong, and the next playlist names the right one, or a gap. */
function isAbsent(error: shaka.util.Error): boolean {
  return error.code === shaka.util.Error.Code.BAD_HTTP_STATUS && error.data[1] === 404;
}

function config(source: Source, failed: (error: shaka.util.Error) => void): object {
  const { lowLatency } = source.profile;
  return {
    streaming: {
      lowLatencyMode: lowLatency,
      bufferingGoal: BUFFER_AHEAD_S,
      bufferBehind: BUFFER_BEHIND_S,
      // Playing starts as soon as anything can be shown; the hold-back is the reserve.
      rebufferingGoal: 0.01,
      retryParameters: { ...retryParameters, maxAttempts: MEDIA_TRIES, baseDelay: MEDIA_WAIT_MS },
      // Not another rung for a missing part: it has the same hole.
      maxDisabledTime: 0,
      failureCallback: failed,
      // The page follows the live edge itself: see play/rate.ts and play/holdback.ts.
      liveSync: { enabled: false },
    },
    manifest: {
      retryParameters: { ...retryParameters, baseDelay: policy.backoff(REQUEST_BACKOFF).baseMs },
      defaultPresentationDelay: lowLatency ? LOW_LATENCY_DELAY_S : source.holdBackS,
      // Captions are said in the playlist. Shaka looks for others in further segments, and fails at one of which there are only parts.
      hls: { disableClosedCaptionsDetection: true },
    },
    ...(Number.isFinite(source.heightMax) ? { restrictions: { maxHeight: source.heightMax } } : {}),
    abr: { defaultBandwidthEstimate: BANDWIDTH_GUESS, restrictToElementSize: true },
    ...(source.language ? { preferredAudio: [{ language: source.language }] } : {}),
  };
}

export class ShakaAdapter implements Adapter {
  readonly name = 'shaka';
  readonly #video: HTMLVideoElement;
  readonly #container: HTMLElement;
  readonly #events: AdapterEvents;
  #player: shaka.Player | null = null;
  #auto = true;
  #pass: Pass | null = null;
  #restoreOffsets: (() => void) | null = null;
  #loaded = false;
  #waitMs = REQUEST_BACKOFF.baseMs;

  constructor(video: HTMLVideoElement, captions: HTMLElement, events: AdapterEvents) {
    this.#video = video;
    this.#container = captions;
    this.#events = events;
  }

  async load(source: Source): Promise<void> {
    shaka.polyfill.installAll();
    if (!shaka.Player.isBrowserSupported()) {
      this.#events.fault({ kind: 'unsupported', detail: 'Shaka Player does not support this browser' });
      return;
    }
    this.#restoreOffsets = steadyOffsets();
    const player = new shaka.Player();
    this.#player = player;
    player.configure(config(source, (error) => this.#failed(error)));
    player.configurationForLowLatency({});
    player.setVideoContainer(this.#container);
    this.#pass = source.pass;
    filter(player, source);
    player.addEventListener('error', (event: Event) => {
      const error = (event as Event & { detail?: unknown }).detail;
      this.#refusal(error);
      // After loading, what the network fails at is tried again in #failed, or by Shaka.
      const passing =
        error instanceof shaka.util.Error && error.category === shaka.util.Error.Category.NETWORK;
      if (!this.#loaded || !passing) this.#report(error);
    });
    player.addEventListener('segmentappended', () => {
      this.#waitMs = REQUEST_BACKOFF.baseMs;
    });
    for (const name of [
      'trackschanged',
      'variantchanged',
      'adaptation',
      'audiotrackchanged',
      'textchanged',
    ]) {
      player.addEventListener(name, () => this.#events.tracks());
    }
    try {
      await player.attach(this.#video);
      const start = source.profile.lowLatency ? LOW_LATENCY_DELAY_S - source.holdBackS : null;
      await player.load(source.playlist, start, 'application/x-mpegurl');
      this.#loaded = true;
    } catch (error) {
      this.#report(error);
    }
  }

  originMs(): number | null {
    return this.#player?.getPresentationStartTimeAsDate()?.getTime() ?? null;
  }

  window(): Range | null {
    const range = this.#player?.seekRange();
    if (!range || !(range.end > range.start)) return null;
    return { start: range.start, end: range.end };
  }

  /** It jumps out of them by itself. */
  outside(mediaTime: number): number {
    return mediaTime;
  }

  ended(): boolean {
    return this.#loaded && this.#player?.isDynamic() === false;
  }

  rungs(): readonly Rung[] {
    return this.#tracks().map(rung);
  }

  rung(): Rung | null {
    const active = this.#tracks().find((t) => t.active);
    return active ? rung(active) : null;
  }

  chosenRung(): string | null {
    return this.#auto ? null : (this.rung()?.id ?? null);
  }

  chooseRung(id: string | null): void {
    const track = this.#tracks().find((t) => rung(t).id === id);
    this.#auto = track === undefined;
    this.#player?.configure('abr.enabled', this.#auto);
    if (track) this.#player?.selectVideoTrack(track);
    this.#events.tracks();
  }

  languages(): readonly Track[] {
    return this.#audio().map(audio);
  }

  language(): Track | null {
    const active = this.#audio().find((t) => t.active);
    return active ? audio(active) : null;
  }

  chooseLanguage(id: string): void {
    const track = this.#audio().find((t) => audio(t).id === id);
    if (track) this.#player?.selectAudioTrack(track, LANGUAGE_MARGIN_S);
  }

  captions(): readonly Track[] {
    return (this.#player?.getTextTracks() ?? []).map(text);
  }

  caption(): Track | null {
    const active = this.#player?.getTextTracks().find((t) => t.active);
    return active ? text(active) : null;
  }

  chooseCaption(id: string | null): void {
    const track = this.#player?.getTextTracks().find((t) => String(t.id) === id);
    this.#player?.selectTextTrack(track ?? null);
    this.#events.tracks();
  }

  holdBack(seconds: number): void {
    // Low-latency profiles are steered by the rate alone; ordinary ones start further back next time.
    this.#player?.configure('manifest.defaultPresentationDelay', seconds);
  }

  recover(kind: FaultKind): boolean {
    return kind === 'network' && (this.#player?.retryStreaming() ?? false);
  }

  async destroy(): Promise<void> {
    const player = this.#player;
    this.#player = null;
    await player?.destroy();
    this.#restoreOffsets?.();
    this.#restoreOffsets = null;
  }

  #tracks(): shaka.extern.VideoTrack[] {
    return [...(this.#player?.getVideoTracks() ?? [])].sort((a, b) => a.bandwidth - b.bandwidth);
  }

  #audio(): shaka.extern.AudioTrack[] {
    return this.#player?.getAudioTracks() ?? [];
  }

  /** A part could not be had. */
  #failed(error: shaka.util.Error): void {
    if (error.category !== shaka.util.Error.Category.NETWORK) return;
    this.#refusal(error);
    const absent = isAbsent(error);
    if (!absent) this.#waitMs = nextWaitMs(this.#waitMs, policy.backoff(REQUEST_BACKOFF), Math.random);
    this.#player?.retryStreaming(absent ? ABSENT_WAIT_S : this.#waitMs / 1000);
  }

  /** A refused request gets past no response filter. Of a bad status Shaka keeps URL, status and text. */
  #refusal(error: unknown): void {
    if (!(error instanceof shaka.util.Error) || error.code !== shaka.util.Error.Code.BAD_HTTP_STATUS) return;
    const [url, status, body] = error.data as readonly unknown[];
    this.#pass?.answered(String(url), Number(status), null, () => String(body));
  }

  #report(error: unknown): void {
    const fault = this.#player ? asFault(error) : null;
    if (fault) this.#events.fault(fault);
  }
}

/** Null for what the player gets over by itself, and for a load that was interrupted on purpose. */
function asFault(error: unknown): Fault | null {
  if (!(error instanceof shaka.util.Error)) return { kind: 'media', detail: String(error) };
  const { Severity, Category, Code } = shaka.util.Error;
  if (error.severity !== Severity.CRITICAL || error.code === Code.LOAD_INTERRUPTED) return null;
  const detail = `shaka ${error.category}.${error.code} ${JSON.stringify(error.data).slice(0, 200)}`;
  if (error.code === Code.CONTENT_UNSUPPORTED_BY_BROWSER) return { kind: 'unsupported', detail };
  return { kind: error.category === Category.NETWORK ? 'network' : 'media', detail };
}

/** Requests have the pass of now; what the player learns of an answer has the one it knows. */
function filter(player: shaka.Player, { pass, keys }: Source): void {
  const engine = player.getNetworkingEngine();
  engine?.registerRequestFilter((_, request) => {
    request.uris = request.uris.map((uri) => pass.asked(uri));
  });
  engine?.registerResponseFilter((type, response) => {
    pass.answered(response.uri, 200, response.headers[PASS_HEADER.toLowerCase()] ?? null, () => '');
    response.uri = pass.known(response.uri);
    response.originalUri = pass.known(response.originalUri);
    if (type !== shaka.net.NetworkingEngine.RequestType.MANIFEST) return;
    const text = shaka.util.StringUtils.fromUTF8(response.data);
    keys?.read(text);
    const known = withoutGaps(keys ? withoutFirstHints(withoutKeys(text)) : text);
    response.data = shaka.util.StringUtils.toUTF8(known);
  });
}

function rung(track: shaka.extern.VideoTrack): Rung {
  return {
    id: `${track.height ?? 0}/${track.bandwidth}`,
    height: track.height ?? 0,
    frameRate: track.frameRate ?? 0,
    bandwidth: track.bandwidth,
  };
}

function audio(track: shaka.extern.AudioTrack): Track {
  const language = track.originalLanguage ?? track.language;
  return { id: `${language}/${track.label ?? ''}`, language, name: track.label ?? language };
}

function text(track: shaka.extern.TextTrack): Track {
  const language = track.originalLanguage ?? track.language;
  return { id: String(track.id), language, name: track.label ?? language };
}
