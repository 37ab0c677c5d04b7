/** What goes into the client's core, and what comes out of it. */

import type { ScoreEvent, Snapshot } from './wire';

export type Transport = 'ws' | 'sse' | 'poll';

/** How a subscription stands, for people. `reconnecting`: what is shown may be old. */
export type State = 'connecting' | 'replaying' | 'live' | 'reconnecting' | 'refused';

/** What a subscriber is told. */
export type Update =
  | { readonly type: 'event'; readonly event: ScoreEvent }
  /** Forget what is held of this match; a snapshot follows. */
  | { readonly type: 'reset'; readonly match: string; readonly reason: string }
  | { readonly type: 'snapshot'; readonly match: string; readonly snapshot: Snapshot }
  | { readonly type: 'state'; readonly match: string; readonly state: State; readonly detail: string };

export interface Wanted {
  readonly match: string;
  readonly since: string | null;
}

export type Input =
  /** `since` null: from the stored cursor, or from now on. */
  | { readonly on: 'subscribe'; readonly match: string; readonly since: string | null }
  | { readonly on: 'unsubscribe'; readonly match: string }
  | { readonly on: 'opened' }
  | { readonly on: 'frame'; readonly text: string }
  /** The answer to one long-poll. */
  | { readonly on: 'polled'; readonly events: readonly unknown[]; readonly lastEventId: string }
  | { readonly on: 'heartbeat' }
  /** `status`: of HTTP, when there was an answer. */
  | {
      readonly on: 'closed';
      readonly code: number;
      readonly status: number | null;
      readonly retryAfterMs: number | null;
    }
  | { readonly on: 'timer' }
  /** Null: there is none now; asked for again later. */
  | { readonly on: 'token'; readonly token: string | null }
  | { readonly on: 'snapshot'; readonly match: string; readonly snapshot: Snapshot | null }
  | { readonly on: 'online' };

export type Effect =
  | {
      readonly do: 'connect';
      readonly transport: Transport;
      readonly token: string | null;
      readonly wanted: readonly Wanted[];
    }
  | { readonly do: 'send'; readonly text: string }
  | { readonly do: 'disconnect' }
  /** Ask for a token; `fresh`: the last one is no good any more. */
  | { readonly do: 'token'; readonly fresh: boolean }
  | { readonly do: 'snapshot'; readonly match: string; readonly url: string | null }
  | { readonly do: 'keep'; readonly match: string; readonly cursor: string | null }
  | { readonly do: 'tell'; readonly update: Update };
