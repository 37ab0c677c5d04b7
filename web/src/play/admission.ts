/** What the door gives a viewing, and what keeps it: the place among the devices, and the pass. No player, and no words. */

import * as api from '../net/api';
import type { ServerClock } from '../net/clock';
import { pause, RequestError } from '../net/request';
import { Pass } from './pass';
import { SlotKeeper } from './slot';

/**
 * So long before its end a pass is asked for anew, or in the last quarter of a short one: a door that is full for a minute
 * is asked in time. When in that time is chance, so that those who came together do not come together again.
 */
const AGAIN_MS = 60_000;

/** After a refusal not before this, however many requests are refused. */
const AGAIN_EVERY_MS = 2_000;

/** Between two times that a door is asked which does not answer: each has its own retries. */
const AGAIN_WAIT_MS_MIN = 1_000;

/** The longest wait of a timer (a signed 32-bit number); what lies further ahead is looked at again then. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

export interface AdmissionEvents {
  /** Another device has the place now, or the viewing was ended: nothing goes on by itself. */
  stopped(): void;
  /** What is playing is elsewhere now. */
  moved(): void;
  note(detail: string): void;
}

export class Admission {
  readonly #match: string;
  readonly #clock: ServerClock;
  readonly #events: AdmissionEvents;
  readonly #slot: SlotKeeper;
  #pass: Pass | null = null;
  #againAt = Number.NEGATIVE_INFINITY;

  constructor(match: string, clock: ServerClock, events: AdmissionEvents) {
    this.#match = match;
    this.#clock = clock;
    this.#events = events;
    this.#slot = new SlotKeeper(() => events.stopped());
  }

  /** Whether it has, or had a moment ago, a place of its own. */
  get placed(): boolean {
    return this.#slot.stream !== null;
  }

  /** How often the pass of now was renewed. */
  get renewals(): number {
    return this.#pass?.renewals ?? 0;
  }

  /** Asks the door, as the stream that it is. */
  async play(signal: AbortSignal): Promise<api.Play> {
    const play = await api.play(this.#match, this.#slot.stream, signal);
    this.#slot.take(play.slot);
    return play;
  }

  /** The pass for that playlist, renewed until `signal`. */
  begin(play: api.Play, playlist: string, signal: AbortSignal): Pass {
    const pass = new Pass(playlist, (reason) => {
      if (!signal.aborted) void this.#refused(reason, pass, playlist, signal);
    });
    this.#pass = pass;
    void this.#renewing(play, pass, playlist, signal);
    return pass;
  }

  /** The place is another's. */
  lose(): void {
    this.#slot.take(null);
  }

  /** Another device may have the place. `leaving`: the page goes away at this moment. */
  giveUp(leaving: boolean): void {
    this.#slot.giveUp(leaving);
  }

  /** Asks to play again before the edge would no longer renew the pass, also of a door that does not answer at first. */
  async #renewing(play: api.Play, pass: Pass, playlist: string, signal: AbortSignal): Promise<void> {
    let { untilMs } = play;
    try {
      while (untilMs !== Number.POSITIVE_INFINITY) {
        const left = untilMs - this.#clock.nowMs();
        if (left <= 0) return;
        const before = Math.min(AGAIN_MS, left / 4) * (0.5 + Math.random() / 2);
        await pause(Math.min(Math.max(left - before, AGAIN_WAIT_MS_MIN), TIMER_MS_MAX), signal);
        if (untilMs - this.#clock.nowMs() > AGAIN_MS) continue;
        try {
          untilMs = await this.#again(pass, playlist, signal);
        } catch (error) {
          if (!(error instanceof RequestError) || !error.passing) throw error;
        }
      }
    } catch {
      // Replaced or closed meanwhile, or the door has refused: then the edge does so soon, and that is told.
    }
  }

  /** A new pass for what is playing. By when it must be asked for again. */
  async #again(pass: Pass, playlist: string, signal: AbortSignal): Promise<number> {
    const play = await this.play(signal);
    if (play.playlist === null || !pass.takeFrom(play.playlist, playlist)) this.#events.moved();
    return play.untilMs;
  }

  /** The edge does not take the pass any more: it slept too long, its keys are gone, or the viewing was ended. */
  async #refused(reason: string, pass: Pass, playlist: string, signal: AbortSignal): Promise<void> {
    this.#events.note(`the pass was refused: ${reason}`);
    if (reason === 'revoked') {
      // Not asked for again unasked: it may be another device of theirs that wanted it so.
      this.#events.stopped();
      return;
    }
    const now = performance.now();
    if (now - this.#againAt < AGAIN_EVERY_MS) return;
    this.#againAt = now;
    try {
      await this.#again(pass, playlist, signal);
    } catch {
      // The player's fault is next, and then the door's words.
    }
  }
}
