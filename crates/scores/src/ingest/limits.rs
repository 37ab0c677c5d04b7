//! Every bound of ingest, by name.

use std::time::Duration;

// What is said.

/// How long a statement without a revision waits for the gap before it to close: providers reorder within 10 s. After
/// it the statement counts as the next revision, so that no correction is lost.
pub const GAP_MAX_MS: i64 = 10_000;
/// Statements of one provider that wait so at once: more than a match has corrections. One more is decided at once.
pub const WAITING_MAX: usize = 256;
/// Gaps that are remembered for one provider. More: the two highest become one, whose middle will be said again.
pub const GAPS_MAX: usize = 1_024;
/// Gaps that are asked for at once, and numbers of them: some seconds' worth of a feed that is catching up.
pub const ASK_RANGES_MAX: usize = 32;
/// See [`ASK_RANGES_MAX`].
pub const ASK_NUMBERS_MAX: u64 = 1_000;
/// How long a gap is left to close by itself, on a connection that pushes; most reordering is shorter.
pub const ASK_AFTER_MS: i64 = 500;
/// The longest between two questions for the same gap; they double up to it.
pub const ASK_EVERY_MAX_MS: i64 = 10_000;
/// Questions for one gap, after which it is taken as gone: with the waits above about three minutes of a provider that is
/// connected and does not answer.
pub const ASKS_MAX: u32 = 24;
/// The farthest that a number may lie ahead of the newest: a day of a busy feed. Farther is a fault, which would leave
/// a gap that nothing closes.
pub const SEQ_AHEAD_MAX: u64 = 100_000;
/// The highest revision. Nothing is corrected so often; a wild number would shut out every correction to come.
pub const REVISION_MAX: u32 = 999;
/// Happenings of one match: a Test of five days has some 3,000 deliveries.
pub const EVENTS_MAX: usize = 20_000;
/// How long a match that is not live is kept in memory after it was last spoken of. A whole season would be a gigabyte.
pub const KEPT_MS: i64 = 30 * 60_000;
/// Statements by one provider without revisions about one happening.
pub const SAID_MAX: usize = 64;
/// How far ahead of our clock a venue time may be: between two clocks that are kept by NTP, with room.
pub const AHEAD_MAX_MS: i64 = 60_000;
/// How long before its start a match may begin to be told of: the toss, line-ups.
pub const EARLY_MAX_MS: i64 = 24 * 3_600_000;

// A feed that is late.

/// A feed is late when the newest happening is older than so many times what is usual ...
pub const LATE_CADENCES: i64 = 3;
/// ... and that for so long.
pub const LATE_FOR_MS: i64 = 60_000;

// The shell.

/// Statements taken together: what waits while the disk is busy with the batch before.
pub const BATCH_MAX: usize = 512;
/// Batches that wait for the desk; whoever comes next waits to hand in.
pub const QUEUE_MAX: usize = 256;
/// Statements of one connection that are not answered yet; then it is no longer read.
pub const IN_FLIGHT_MAX: usize = 512;
/// Answers that wait to be sent on one connection. Acknowledgements are cumulative and questions are asked again, so
/// that one that does not fit is not missed.
pub const ANSWERS_MAX: usize = 64;
/// Bytes of one HTTP body: a thousand statements.
pub const BODY_MAX: usize = 1024 * 1024;
/// Connections: two providers a match over WebSocket, scorers' phones, and room for reconnects.
pub const CONNECTIONS_MAX: usize = 1_024;
/// How long a client may take to send its head.
pub const HEADER_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a request's head, and read at once of its body: a head has a token of some hundred.
pub const HEADER_BYTES_MAX: u32 = 64 * 1024;
/// Streams of one HTTP/2 connection: a provider says what it has in one or two.
pub const STREAMS_MAX: u32 = 100;
/// How long a body may take to arrive.
pub const BODY_TIME_MAX: Duration = Duration::from_secs(10);
/// How often the desk looks at what waits and what is missing.
pub const TICK: Duration = Duration::from_millis(100);
/// How often a connection is pinged: within the idle time of common proxies.
pub const PING_EVERY: Duration = Duration::from_secs(15);
/// How long a peer may be silent, pongs included, before the connection is given up.
pub const SILENCE_MAX: Duration = Duration::from_secs(45);
/// How long a connection may take to take a message of a few bytes.
pub const SEND_MAX: Duration = Duration::from_secs(10);
/// The longest between two tries of an append that failed.
pub const APPEND_AGAIN_MAX: Duration = Duration::from_secs(2);
/// Dead letters written in a minute; more are only counted. A feed of which every ball is refused makes two; a provider
/// that has gone mad fills a third of a gigabyte a day at most.
pub const DEAD_LETTERS_PER_MINUTE: u32 = 60;
/// Bytes of what could not be read that a dead letter keeps.
pub const DEAD_LETTER_MAX: usize = 4 * 1024;
/// Dead letters given by one request.
pub const DEAD_LETTERS_PAGE: usize = 100;
/// Scorers that the console is told of; the newest, if there are more. A busy day has dozens.
pub const SCORERS_MAX: usize = 200;
/// How long connections may take to end when ingest does.
pub const DRAIN_MAX: Duration = Duration::from_secs(3);
/// How long a request waits for the disk. A provider then gets 503, and says it again.
pub const ANSWER_MAX: Duration = Duration::from_secs(20);
