//! Every limit of the room, with its reason.

use std::time::Duration;

/// Bytes of events that a socket may have unsent: some 60 events of 500 bytes, a minute of a match. Who is further
/// behind is better off with a new connection and the ring.
pub const UNSENT_BYTES_MAX: usize = 32 << 10;

/// Matches on one socket: a scoreboard of a league's day.
pub const MATCHES_PER_SOCKET_MAX: usize = 64;

/// What the kernel may hold unsent for a socket. Left alone it grows to 4 MB, and the cap above would mean nothing.
/// Linux doubles it for its own bookkeeping.
pub(crate) const SOCKET_SEND_BYTES: usize = 32 << 10;

/// Bytes that are written at once: half of what the kernel takes, so that a replay goes out in few calls.
pub(crate) const WRITE_BYTES: usize = 16 << 10;

/// What a socket is read into, at most, in one go. Client frames are tiny; it belongs to the worker.
pub(crate) const READ_BYTES: usize = 16 << 10;

/// How often a socket is read in one turn: no client has that much to say, and one that has must not hold up others.
pub(crate) const READS_PER_TURN: usize = 8;

/// The largest head of a request: a token of 6 KB in the query, and what browsers send.
pub(crate) const HEAD_BYTES_MAX: usize = 16 << 10;

/// Header fields of a request; browsers send some 20.
pub(crate) const FIELDS_MAX: usize = 64;

/// How long a client may take to send its head: a bad mobile network needs a few seconds.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(10);

/// How long a connection may be silent between two long-polls.
pub(crate) const KEEP_ALIVE_MAX: Duration = Duration::from_secs(30);

/// The largest message of a client: a `token` operation with a token of 6 KB, and what stands around it.
pub(crate) const MESSAGE_BYTES_MAX: usize = 8 << 10;

/// Frames of a client within a second: subscribing to a day's matches at once. More is no viewer.
pub(crate) const CLIENT_FRAMES_PER_S_MAX: u8 = 200;

/// Control frames that wait for a socket that does not read, in bytes. They are exempt from
/// [`UNSENT_BYTES_MAX`] and never dropped; a client that makes more of them than this by asking is closed.
pub(crate) const CONTROL_BYTES_MAX: usize = 16 << 10;

/// The server pings this often: proxies cut what is silent for 30 s or more.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(25);

/// A socket from which nothing was heard for this long is dead: two pings and a round trip.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(60);

/// SSE comments come this often: they tell dead proxies from quiet matches, and keep others from buffering.
pub(crate) const COMMENT_EVERY: Duration = Duration::from_secs(15);

/// How long a socket may take nothing of what it is sent before it is cut, if it never reaches its cap.
pub(crate) const STALL_MAX: Duration = Duration::from_secs(20);

/// How long after its close frame a socket is waited for.
pub(crate) const CLOSE_WAIT: Duration = Duration::from_secs(4);

/// A client is told this long before its token expires.
pub(crate) const TOKEN_NOTICE: Duration = Duration::from_secs(60);

/// How long a long-poll may wait: less than the usual 30 s of proxies.
pub(crate) const POLL_WAIT_MAX: Duration = Duration::from_secs(25);

/// How long a long-poll waits that does not say.
pub(crate) const POLL_WAIT: Duration = Duration::from_secs(20);

/// Events in one answer to a long-poll, in bytes; the next one goes on.
pub(crate) const POLL_BYTES_MAX: usize = 64 << 10;

/// How long a subscription waits for its match to be known before the client is told that the feed is paused.
pub(crate) const START_MAX: Duration = Duration::from_secs(2);

/// Messages of a match that can be replayed: a one-day match of cricket has some 700 with its corrections, a day of
/// a Test as many. Also what a relay gives at a start, which must fit.
pub(crate) const RING_MESSAGES_MAX: usize = 8_192;

/// The same in bytes of all encodings: with 40 matches 320 MB at the very worst, 40 MB as they are.
pub(crate) const RING_BYTES_MAX: usize = 8 << 20;

/// Messages that a client may have before this worker does: minutes of the busiest match, where workers and edges are
/// milliseconds apart. A client further ahead knows a log that is not ours.
pub(crate) const AHEAD_MAX: u64 = 256;

/// Keys of a match that are remembered to drop what is published twice: more than a Test match has events.
pub(crate) const KEYS_MAX: usize = 65_536;

/// Offsets of a log that may be without a message: records that its shard could not publish. More at once is another
/// log.
pub(crate) const HOLES_MAX: u64 = 1_024;

/// Events that one window holds back before it is ended early: far more than a match has in 200 ms, so only a replay.
pub(crate) const WINDOW_EVENTS_MAX: usize = 64;

/// The longest window: with more, "live" would be a lie.
pub(crate) const COALESCE_MS_MAX: u64 = 2_000;

/// The longest name of a match, in bytes, as the catalog has it.
pub(crate) const MATCH_BYTES_MAX: usize = 64;

/// Matches that are open at once: each costs a task and a ring. More than a Saturday of world football.
pub(crate) const TOPICS_MAX: usize = 4_096;

/// How long a match that nobody watches is kept: who lost the connection comes back within minutes.
pub(crate) const TOPIC_LINGER: Duration = Duration::from_secs(600);

/// How long a feed waits before it asks a source again that hung up, at least and at most (drawn at random).
pub(crate) const SOURCE_RETRY_MS: std::ops::Range<u64> = 100..1_000;

/// What waits for a worker: a worker takes it all each turn, a turn is tens of milliseconds at worst, and 40 matches
/// have 60 events a second. Feeds wait when it is full, and the relay with them.
pub(crate) const WORKER_QUEUE_MAX: usize = 4_096;

/// Connections that are accepted in one turn, so that a rush of them does not hold up what is published.
pub(crate) const ACCEPTS_PER_TURN: usize = 128;

/// Connections waiting in the kernel to be accepted: a reconnect storm, as far as `somaxconn` lets it.
pub(crate) const BACKLOG: i32 = 16_384;

/// Readiness that is taken from the kernel in one turn.
pub(crate) const EVENTS_PER_TURN: usize = 512;

/// Sockets beyond the limit of the configuration that are accepted only to be told so.
pub(crate) const REFUSALS_MAX: usize = 512;

/// Files of the process that are not sockets of viewers: logs, databases, connections between roles, and those that are
/// accepted only to be refused.
pub(crate) const FILES_SPARE: usize = REFUSALS_MAX + 256;

/// Connections of other paths at once: browsers keep one or two beside their socket, and the cache tier in front
/// far fewer.
pub(crate) const FALLBACK_CONNECTIONS_MAX: usize = 8_192;

/// `Retry-After` of a refusal is between 1 and this many seconds, so that those who were refused together do not
/// come back together: a rush of 20,000 is spread over what the bucket fills in that time.
pub(crate) const RETRY_AFTER_S_MAX: u32 = 8;

/// `retry_after_seconds` of `feed_paused`: about what a shard's failover takes.
pub(crate) const PAUSED_RETRY_S: u32 = 5;

/// How long a preflight answer may be kept, in seconds: a day, as far as any browser goes.
pub(crate) const PREFLIGHT_MAX_AGE_S: u32 = 86_400;

/// How long the end may take after `shutdown`.
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(5);

/// A worker looks at all its sockets once in this many steps of [`STEP`], so each is seen about once a second.
pub(crate) const STEPS: u32 = 10;

/// How often a worker looks at a share of its sockets.
pub(crate) const STEP: Duration = Duration::from_millis(100);

/// The default of `upgrades_per_s`: a handshake with an RSA token costs some 60 µs, so this is a fifth of a core and
/// 18,000 come back within 6 s.
pub(crate) const UPGRADES_PER_S: u32 = 3_000;

/// The default of `upgrade_burst`: those who come at once after a quiet time.
pub(crate) const UPGRADE_BURST: u32 = 6_000;

/// The default of `sockets_max`: what a process may hold of files is mostly 20,000 to a million; the kernel's pair
/// of buffers, not we, decides what memory it takes.
pub(crate) const SOCKETS_MAX: usize = 250_000;

/// The default of `coalesce_ms`.
pub(crate) const COALESCE_MS: u64 = 200;

/// Handshakes of TLS at once: half a millisecond of a core each, so that the last of them waits a quarter of a second.
pub(crate) const HANDSHAKES_MAX: usize = 512;

/// Bytes of a client with TLS on their way to its worker: clients say little.
pub(crate) const TLS_UP_BYTES: usize = 1 << 10;

/// Bytes on their way from a worker to a client with TLS: a burst of events leaves in one record.
pub(crate) const TLS_DOWN_BYTES: usize = 4 << 10;

/// Rest after a failed accept, which mostly means that file descriptors have run out.
pub(crate) const ACCEPT_REST: Duration = Duration::from_millis(50);
