//! Every limit of the room, with the reason for its number.

use std::time::Duration;

/// The longest that an upstream may take to begin its answer. An origin holds a request for a part or a
/// playlist that does not exist yet for 6 s and then says so itself; the margin is for two tiers between. After
/// it a waiter gets 504.
pub const HOLD_MAX: Duration = Duration::from_millis(6_000 + 2_000);

/// The smallest memory bound, in MB (10^6 bytes): one segment of [`OBJECT_BYTES_MAX`], and the live edge beside it.
pub const MEMORY_MB_MIN: u64 = 96;

/// The default memory bound, in MB: some minutes of four rungs and three languages, parts and segments
/// (about 1 MB/s each way), on a machine that has other things to do.
pub(crate) const MEMORY_MB: u64 = 512;

/// The default space on disk, in MB: an hour of four rungs and three languages, parts and segments.
pub(crate) const DISK_MB: u64 = 8_192;

/// The largest object, in bytes: a 2 s segment at 100 Mb/s is 25 MB; more than twice that is not live video.
pub(crate) const OBJECT_BYTES_MAX: u64 = 64 << 20;

/// What an entry costs beside its body: its key, headers and map slot, rounded up, so that a million empty
/// objects are bounded like a thousand large ones.
pub(crate) const OBJECT_OVERHEAD_BYTES: u64 = 2 << 10;

/// Entries in memory. An hour of parts and segments of ten tracks is 80,000; three matches of that fit.
pub(crate) const ENTRIES_MAX: usize = 1 << 18;

/// Requests that wait for or read one filling object. Above the requests of a busy machine's share on one part;
/// below what would keep the wake-up of all of them over a millisecond or so per core.
pub(crate) const WAITERS_MAX: usize = 16_384;

/// Requests under way at once, over all connections (HTTP/2 carries many on one).
pub(crate) const REQUESTS_MAX: usize = 32_768;

/// Open connections: at about 10 KB each idle, 160 MB. The process needs as many file descriptors.
pub(crate) const CONNECTIONS_MAX: usize = 16_384;

/// Connections over [`CONNECTIONS_MAX`] that are told so politely at the same time; further ones are closed unread.
pub(crate) const REFUSALS_MAX: usize = 256;

/// How long a connection that is refused may take to send its request before it is closed without an answer.
pub(crate) const REFUSAL_TIME_MAX: Duration = Duration::from_secs(1);

/// Upstream fetches for answers that may not be shared, each for one client alone: enough for an application
/// behind the same name, too few to sink an origin.
pub(crate) const ALONE_MAX: usize = 256;

/// The longest request target, in bytes, pass included: a Common Access Token is some 500 bytes, our paths
/// below 300, and playlist queries below 60.
pub(crate) const TARGET_BYTES_MAX: usize = 2_048;

/// How often is looked whether the keys of passes have changed: a key is there long before its first day, but one that
/// has leaked is to be out of use soon.
pub(crate) const PASS_KEYS_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Bytes of a request's head, request line included: far above any player, and what one connection can make us
/// keep before it is known.
pub(crate) const HEADER_BYTES_MAX: usize = 16 << 10;

/// Header fields of a request; browsers send some 20.
pub(crate) const HEADERS_MAX: usize = 64;

/// How long a client may take to send its head, and how long a connection may idle: a player asks at least
/// every target duration (2 s) while it plays.
pub(crate) const HEADER_TIME_MAX: Duration = Duration::from_secs(30);

/// How long a TLS handshake may take: three round trips on a bad mobile network.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// How long a client may leave sent bytes unacknowledged or its window shut before its connection is closed: no
/// live player is of use after that, and each pins the object that it reads.
pub(crate) const SEND_STALL_MAX: Duration = Duration::from_secs(30);

/// Streams of one HTTP/2 connection: two tracks with a part, a playlist and a hint each need 6 to 8; a shield's
/// client, an edge, has its own pool.
pub(crate) const STREAMS_MAX: u32 = 128;

/// Bytes that one HTTP/2 stream buffers for sending: a fifth of a second at 10 Mb/s.
pub(crate) const STREAM_SEND_BYTES_MAX: usize = 256 << 10;

/// How often a silent HTTP/2 client is asked whether it is there, and how long it has to answer.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(20);

/// How long to make a connection to an upstream: they are near, and another may be waiting to be tried.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(1);

/// After so long without a request a connection in the clear waits where it takes next to no memory. A player that
/// plays asks more often; coming back costs some microseconds.
pub(crate) const PARK_AFTER: Duration = Duration::from_secs(1);

/// How long an upstream may be silent inside a body: three target durations of live bytes.
pub(crate) const BODY_STALL_MAX: Duration = Duration::from_secs(6);

/// The body of a playlist or a small part is looked for before its head is shown, so that all who wait are woken once; one
/// read of an upstream connection brings both.
pub(crate) const SMALL_BYTES_MAX: u64 = 16 * 1_024;

/// So many turns of the other tasks: the connection's needs one to hand over what it has read.
pub(crate) const SMALL_TURNS: usize = 3;

/// How long an idle upstream connection is kept: shorter than [`HEADER_TIME_MAX`] of a shield of ours, so that the
/// side that asks also closes, and no request meets a closing connection.
pub(crate) const UPSTREAM_IDLE_MAX: Duration = Duration::from_secs(20);

/// Idle connections that are kept for one upstream: held requests need one each, some 3 for each of ten tracks.
pub(crate) const UPSTREAM_IDLE_COUNT: usize = 128;

/// Lifetimes are cut to this: media of a match never changes, but an hour-old mistake should not live for ever.
pub(crate) const LIFETIME_MAX: Duration = Duration::from_secs(24 * 3_600);

/// `Retry-After` of a refusal is between 1 and this many seconds, so that those who were refused together do
/// not come back together.
pub(crate) const RETRY_AFTER_S_MAX: u32 = 4;

/// How long a preflight answer may be kept, in seconds: a day, as far as any browser goes.
pub(crate) const PREFLIGHT_MAX_AGE_S: u32 = 86_400;

/// How long requests under way may take to end at shutdown: a held request at its limit, and its body.
pub(crate) const DRAIN_MAX: Duration = Duration::from_secs(10);

/// How long to rest after `accept` failed (out of descriptors): so that a lack of them does not cost a core.
pub(crate) const ACCEPT_REST: Duration = Duration::from_millis(50);

/// How long a failure may be kept that the live edge has nothing to do with. rfc8216bis, appendix B.1 allows a target
/// duration; less, so that what appears late is seen.
pub(crate) const FAILURE_KEPT_MAX: Duration = Duration::from_secs(1);

/// How long an answer may be given while it is fetched anew, whatever its upstream says: a day-old page is no news.
pub(crate) const STALE_WHILE_REVALIDATE_MAX: Duration = Duration::from_secs(60);

/// How long an answer that says nothing of it may be given when its upstream fails: an encoder's restart.
pub(crate) const STALE_IF_ERROR: Duration = Duration::from_secs(60);

/// How long an answer may be given when its upstream fails, whatever that says.
pub(crate) const STALE_IF_ERROR_MAX: Duration = Duration::from_secs(600);

/// How long a playlist may be given after its time, and never longer than it was fresh: two target durations, after
/// which a player has nothing to gain from it.
pub(crate) const PLAYLIST_STALE_MAX: Duration = Duration::from_secs(4);

/// How long a stale answer is given after its upstream failed until that is asked again.
pub(crate) const STALE_RETRY: Duration = Duration::from_secs(1);

/// Lifetimes are cut by up to one in so many parts, at random and at every tier, so that what was cached at one
/// instant does not expire at one.
pub(crate) const JITTER_PART: u32 = 16;

/// How long a key is remembered whose answers may not be shared: those who ask for it do not wait for each other.
pub(crate) const ALONE_FOR: Duration = Duration::from_secs(10);

/// Answers to one key that differ by fields of the request; more are not worth their memory.
pub(crate) const VARIANTS_MAX: usize = 16;

/// How often a request looks for its object when what it waited for turned out to be another's; then it asks alone.
pub(crate) const LOOKUPS_MAX: usize = 4;

/// How long a request for an object just beyond the live edge is held when the upstream says that it is not there:
/// a segment's length, by when it has been published or never will be.
pub(crate) const NOT_YET_MAX: Duration = Duration::from_secs(2);

/// How often the upstream is asked meanwhile, for all who wait together.
pub(crate) const NOT_YET_EVERY: Duration = Duration::from_millis(100);

/// How far beyond the newest segment a request may be and still be held: the next and the one after.
pub(crate) const NOT_YET_SEGMENTS: u64 = 2;

/// How far behind the newest segment one still counts as live: a player of ordinary HLS is three behind, one that
/// stalled a few more.
pub(crate) const LIVE_SEGMENTS: u64 = 10;

/// Tracks whose newest segment is remembered: twenty matches of ten tracks, parts and segments apart, twice over.
pub(crate) const TRACKS_MAX: usize = 1_024;

/// How long an object that nobody asks for counts as one of the live edge.
pub(crate) const LIVE_FOR: Duration = Duration::from_secs(30);

/// Parts of the store that are locked apart: enough that the cores of a large machine seldom meet.
pub(crate) const SHARDS: usize = 16;

/// Purges that are remembered one by one; operators purge by match or key, not by object.
pub(crate) const PURGES_MAX: usize = 256;

// Upstreams: which is asked, and when another.

/// Requests under way to one upstream, their bodies included. Three for each of ten tracks of a dozen matches, and
/// [`ALONE_MAX`] beside them; an upstream that keeps more than that waiting will not be helped by the next. Those
/// above it fail at once, because a queue here would only hide from the viewer's player that it should go elsewhere.
pub(crate) const UPSTREAM_REQUESTS_MAX: usize = 1_024;

/// Upstreams that are asked for one answer: the first, another, and one more should both have just died together;
/// beyond that the answer costs more than it is worth to a live viewer.
pub(crate) const ATTEMPTS_MAX: usize = 3;

/// How long name look-up, [`CONNECT_MAX`] and a TLS handshake may take together.
pub(crate) const DIAL_MAX: Duration = Duration::from_secs(2);

/// Bytes that one HTTP/1.1 upstream connection reads ahead of its reader, head included: two hundred milliseconds
/// at 10 Mb/s.
pub(crate) const UPSTREAM_BUFFER_BYTES_MAX: usize = 256 << 10;

/// Requests under way on one HTTP/2 upstream connection, before another is made. Servers allow at least so many
/// (RFC 9113, 6.5.2), and what is over their number waits unseen until some held request is done.
pub(crate) const UPSTREAM_STREAMS_MAX: usize = 100;

/// How often a silent HTTP/2 upstream that owes us something is asked whether it is there, and how long it has to
/// answer: all its requests are on that one connection, and share its fate.
pub(crate) const UPSTREAM_PING_EVERY: Duration = Duration::from_secs(2);

/// How long media may be awaited from one upstream before a second is asked beside it. An origin rightly holds a
/// request for the next part for as long as a part lasts (320 ms); half of that again is for encoders and ways that
/// vary. Players of parts sit three parts (960 ms) behind, so the second has 480 ms left before a picture stops.
pub(crate) const HEDGE_AFTER: Duration = Duration::from_millis(320 + 160);

/// One second asking is earned by so many first ones (5 %): when everything is slow, load hardly grows.
pub(crate) const HEDGE_EVERY: u32 = 20;

/// Second askings that may be saved up: enough that an upstream that falls silent is found out
/// ([`EJECT_AFTER`] lost races) by an edge that has only just begun.
pub(crate) const HEDGE_BURST: u32 = 10;

/// Failures in a row that put an upstream out. One or two happen to a healthy one that restarts gracefully; each of
/// these costs a viewer nothing, since another upstream was asked instead.
pub(crate) const EJECT_AFTER: u32 = 5;

/// How long an upstream is out the first time: a process that is started again is back by then.
pub(crate) const EJECT_MIN: Duration = Duration::from_secs(1);

/// How long it is out at most, before chance adds up to half: each further time in a row doubles it up to here.
/// Coming back costs one request that nobody waits for, so there is no reason to stay away for minutes.
pub(crate) const EJECT_MAX: Duration = Duration::from_secs(30);

/// An upstream that was well for so long begins at [`EJECT_MIN`] again.
pub(crate) const EJECT_FORGET: Duration = Duration::from_secs(60);

/// A trial that has told nothing for so long is taken for lost, and the next may begin: it ends by itself after
/// [`HOLD_MAX`].
pub(crate) const TRIAL_MAX: Duration = HOLD_MAX.saturating_add(Duration::from_secs(1));

/// An upstream that gave no answer for so long until [`HOLD_MAX`] ran out has failed. One that was asked later than
/// the first may still be holding the request, as an origin does for 6 s.
pub(crate) const SILENT_MIN: Duration = Duration::from_secs(7);

/// A 503 with `Retry-After` that comes sooner is one upstream's lack of room, and another may have some. Later it is
/// the end of a wait for something that does not exist, and the next upstream would only wait as long.
pub(crate) const SHED_ELSEWHERE_MAX: Duration = Duration::from_secs(3);

/// How often an upstream's health is asked for, give or take a tenth: one that refuses is out within four seconds and
/// one that is silent within seven, even when nobody asks for anything else.
pub(crate) const HEALTH_EVERY: Duration = Duration::from_secs(1);

/// How long it may take to say that it is well: nothing is held there.
pub(crate) const HEALTH_MAX: Duration = Duration::from_secs(1);

/// Bad answers in a row that put an upstream out: two may be lost to a pause of either side.
pub(crate) const HEALTH_OUT_AFTER: u32 = 3;

/// Good answers in a row that bring it back: one may come from a server that is only just starting.
pub(crate) const HEALTH_BACK_AFTER: u32 = 2;
// The front: connections, TLS, HTTP/3.

/// The slowest client, in bytes a second: half of an audio track at 128 kb/s. Bytes on their way to one take
/// [`SEND_STALL_MAX`] and this at most, however regularly it reads a little.
pub(crate) const SEND_RATE_MIN: u64 = 8 << 10;

/// How long a client may take to close a connection after its last answer: a round trip or two on a bad network.
pub(crate) const LINGER_MAX: Duration = Duration::from_secs(2);

/// How long a connection of HTTP/2 or 3 may be kept without a request: a viewer who has paused, once to the door
/// and back. A player asks every two seconds.
pub(crate) const MULTIPLEXED_IDLE_MAX: Duration = Duration::from_secs(120);

/// How often a connection of HTTP/2 is looked at for that: a third of [`SEND_STALL_MAX`].
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(10);

/// Bytes that TLS takes at once to encrypt before it writes them: enough for few system calls, few enough to stay
/// in the cache of a core.
pub(crate) const TLS_SEND_BYTES_MAX: usize = 256 << 10;

/// Streams from a client of HTTP/3 beside requests: control and two of QPACK (RFC 9114, 6.2), and some of no
/// meaning.
pub(crate) const UNI_STREAMS_MAX: u32 = 8;

/// Bytes that a stream of HTTP/3 may send before we have read them, half of what a connection may: requests are
/// heads, of [`HEADER_BYTES_MAX`] at most.
pub(crate) const QUIC_RECEIVE_BYTES_MAX: u32 = 64 << 10;

/// Bytes that a connection of HTTP/3 keeps until they are acknowledged: 100 Mb/s over a round trip of 150 ms.
pub(crate) const QUIC_SEND_BYTES_MAX: u64 = 2 << 20;

/// Connections of HTTP/3 that wait to be accepted, a blink of a rush, and the bytes that they may send meanwhile.
pub(crate) const QUIC_WAITING_MAX: usize = 1_024;

/// See [`QUIC_WAITING_MAX`]: two packets each and a little more.
pub(crate) const QUIC_WAITING_BYTES_MAX: u64 = 4 << 20;

/// How often a UDP port is tried that is in use, by the process that we take over from or by a stranger.
pub(crate) const UDP_TRY_EVERY: Duration = Duration::from_secs(1);

/// How long a client may remember that HTTP/3 is spoken, in seconds: a match.
pub(crate) const ALTERNATIVE_MAX_AGE_S: u32 = 3 * 3_600;

/// What an object that leaves memory must still be good for to be written to disk: less, and it would be read by nobody.
pub(crate) const DISK_WORTH: Duration = Duration::from_secs(10);

// The disk tier ([`crate::disk`]).

/// How long a request waits for the disk before the upstream is asked instead: many times what a disk that is
/// well needs for a segment, half of what a player has in hand.
pub(crate) const DISK_WAIT_MAX: Duration = Duration::from_secs(1);

/// Bytes that wait to be written, [`OBJECT_OVERHEAD_BYTES`] for each message included; a single object may be larger.
/// A tenth of a second for a slow disk, and what a disk that stands still may take from the memory of the live edge.
pub(crate) const DISK_QUEUE_BYTES_MAX: u64 = 16 << 20;

/// What may wait beyond that for forgetting objects (2,048 of them), so that a purge is not lost in a rush of writes.
pub(crate) const DISK_FORGET_BYTES_MAX: u64 = 4 << 20;

/// Into how many segments the space is divided: the oldest leaves as a whole, so this is also the share of the
/// space that stands empty for a moment (1.6 %).
pub(crate) const DISK_SEGMENTS: u64 = 64;

/// Segments at most, when small or very large objects close them early; each is one open file.
pub(crate) const DISK_SEGMENTS_MAX: usize = 2 * DISK_SEGMENTS as usize;

/// Objects in one segment: all segments together have a million, which are some 80 MB of index in memory.
pub(crate) const DISK_SEGMENT_ENTRIES_MAX: usize = 8_192;

/// The largest head of a record, key and header fields included: four times what our origin or a player's request
/// can have. An object with a larger one is not kept on disk.
pub(crate) const DISK_HEAD_BYTES_MAX: usize = 64 << 10;

/// The largest journal that is read at the start: [`DISK_SEGMENT_ENTRIES_MAX`] entries with keys of twice
/// [`TARGET_BYTES_MAX`].
pub(crate) const DISK_JOURNAL_BYTES_MAX: u64 = 33 << 20;

/// Reads of up to so many bytes count as one of [`DISK_READS_MAX`]; larger ones as several.
pub(crate) const DISK_READ_BYTES: u32 = 4 << 20;

/// Reads at once: enough for any disk's queue to be busy; their buffers are one largest object together, and a
/// disk that hangs holds no more threads than this.
pub(crate) const DISK_READS_MAX: u32 = 1 + (OBJECT_BYTES_MAX as u32).div_ceil(DISK_READ_BYTES);

/// How long nothing is written after a write failed (the disk is full or broken): so that a lack of space costs no
/// core, and is logged a few times a minute.
pub(crate) const DISK_REST: Duration = Duration::from_secs(10);

/// How often a folder is tried that another process has: it is one that is being replaced, and has [`DRAIN_MAX`] to end.
pub(crate) const DISK_TRY_EVERY: Duration = Duration::from_secs(1);

/// Bytes that a client's socket may hold unsent; the kernel doubles it, for what it adds itself. Enough for 40 Mb/s over
/// 100 ms. Left alone a socket grows to megabytes, which no longer fit a core's cache: then 1 MB costs nearly twice as
/// much, and a slow reader holds as much of the machine's memory.
pub(crate) const SOCKET_SEND_BYTES: usize = 256 << 10;
