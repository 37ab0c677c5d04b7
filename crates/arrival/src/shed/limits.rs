//! Every limit of shedding, with the reason for its number.

use std::time::Duration;

use listen::http::Limits;

/// Connections of viewers and of what stands before the door, of some 20 KB each: 650 MB when everybody comes at once. Whoever
/// comes then is kept by the kernel, until another leaves.
pub(crate) const CONNECTIONS: Limits = Limits {
    connections_max: 32_768,
    // A browser asks a dozen things at once; a proxy before us many times that.
    streams_max: 256,
    // As the usual proxies keep idle connections.
    header_time_max: Duration::from_secs(75),
    // Of a token, a device, a profile and cookies, with room for what proxies add.
    header_bytes_max: 32 << 10,
    // Answers are short.
    drain_max: Duration::from_secs(5),
};

/// Requests under way at once, at most: of some 10 KB each, 80 MB. The limit that holds is found between the two.
pub(crate) const UNDER_WAY_MAX: f64 = 8_192.0;
/// What it begins with: 5,000 arrivals a second who each wait for a check of 400 ms, which is nobody's work here.
pub(crate) const UNDER_WAY_BEGIN: f64 = 2_048.0;
/// And at least: what two cores do at once, several times over.
pub(crate) const UNDER_WAY_MIN: f64 = 16.0;

/// An answer that took so many times as long as the best of late says that too many are under way: it waited twice as
/// long as it was worked on.
pub(crate) const SLOW_TIMES: f64 = 3.0;
/// And no less than this, in milliseconds: below it a queue is not one that anybody feels.
pub(crate) const SLOW_MS_MIN: f64 = 25.0;
/// By what the limit falls when that is so, once per so many answers as are under way: by a tenth, or by as much as they
/// were too slow, but not by more than half at once.
pub(crate) const FALL: f64 = 0.9;
pub(crate) const FALL_MOST: f64 = 0.5;

/// How often the runtime is asked whether it is late.
pub(crate) const LAG_EVERY: Duration = Duration::from_millis(10);
/// A task that was ready so long before it ran stood in a queue, in milliseconds: with this much in front, and the rest of
/// an answer after it, the slowest of those who are let in are answered within 100 ms.
pub(crate) const LAG_MS: f64 = 20.0;
/// Requests a second below which it is not they that make it late: one core answers ten times as many.
pub(crate) const CROWD_PER_S: f64 = 500.0;
/// By how much of all play requests fewer are let in for each look at which it was late: half in a fifth of a second.
pub(crate) const PRESS: f64 = 0.05;
/// And more for each at which it was not: all again within two seconds.
pub(crate) const EASE: f64 = 0.01;

/// And at most: the tenth of the plays that are then let in is what can be done at ten times the load. When the refusals alone
/// make it late, letting in fewer would not help those who are let in, and cost all others their play.
pub(crate) const MOST: f64 = 0.94;

/// Requests of one viewer in a second, and at once: opening a page is ten, and whoever taps play again and again gets
/// the same answer.
pub(crate) const VIEWER_PER_S: f64 = 2.0;
pub(crate) const VIEWER_BURST: f64 = 20.0;
/// Requests of one address in a second unless set, and how many seconds' worth at once: mobile networks put thousands of
/// viewers behind one address, and all of them tap at the first ball.
pub(crate) const ADDRESS_PER_S: u32 = 2_000;
pub(crate) const ADDRESS_BURST_S: f64 = 5.0;
/// Addresses, and viewers, that are counted: of 64 bytes each. Whoever comes when the table is full is not counted.
pub(crate) const CLIENTS_MAX: usize = 1 << 18;

/// Requests of everybody in a second, and at once: above what one core answers.
pub(crate) const ALL_PER_S: f64 = 50_000.0;
pub(crate) const ALL_BURST: f64 = 10_000.0;

/// From one to so many seconds those wait who are refused: with everybody coming back within ten times the second that
/// was too much, each of them finds a tenth.
pub(crate) const RETRY_S_MIN: u32 = 1;
pub(crate) const RETRY_S_MAX: u32 = 10;
