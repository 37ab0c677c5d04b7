/** Every bound and wait of the client, with its reason. */

import type { Backoff } from '../net/backoff';

/** Between connections. The first wait spreads a crowd that was cut at once; nobody waits more than half a minute. */
export const RECONNECT: Backoff = { baseMs: 1_000, capMs: 30_000 };

/** A connection that held this long was a good one: the next wait starts from the base again. */
export const GOOD_MS = 60_000;

/** A connection that is not open by then will not be. */
export const CONNECT_MS = 10_000;

/**
 * Comments and pings come every 15 to 25 s: three that are missing are no accident. A browser hides pings of sockets,
 * so there the server is asked something before the connection is given up.
 */
export const SILENT_MS = 75_000;

/** For the answer to that. */
export const PROBE_MS = 10_000;

/** This often in a row a transport fails before it opens: something on the way does not let it through. */
export const FAILS_BEFORE_NEXT = 2;

/** On a fall-back, sockets are tried again at the first reconnect after this. */
export const SOCKET_AGAIN_MS = 10 * 60_000;

/** A token that was taken back this soon after opening is no token to hurry back with. */
export const TOKEN_HELD_MS = 5_000;

/** A Test match has about 3,000 happenings; twice that, and corrections. Then the oldest are forgotten. */
export const SEEN_MAX = 10_000;

/** Events that wait for the snapshot below them. It takes a second; a replay may bring a match. */
export const HELD_MAX = 5_000;

/** A snapshot that was not had in this many tries is gone without: each event carries its own headline. */
export const SNAPSHOT_TRIES = 5;

/** A server that holds no long-poll: asked no more often than this. */
export const POLL_GAP_MS = 1_000;

/** Asked for with `wait=`, seconds: below the minute after which proxies cut. */
export const POLL_WAIT_S = 20;
