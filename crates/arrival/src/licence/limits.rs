//! Every limit of licences, with the reason for its number.

use std::time::Duration;

/// Bytes of a challenge. Widevine's and PlayReady's have some 2 to 20 KB, with a device's certificates.
pub(crate) const CHALLENGE_MAX: usize = 64 << 10;
/// Bytes of a licence server's answer: PlayReady's with several keys has some 10 KB.
pub(crate) const LICENCE_MAX: usize = 128 << 10;
/// How long the bytes of a request may take: a phone on a bad network needs a second or two.
pub(crate) const BODY_WAIT: Duration = Duration::from_secs(5);
/// One round to a licence server. They answer in tens of milliseconds; a player asks again after ten seconds.
pub(crate) const EXCHANGE_MAX: Duration = Duration::from_secs(5);
/// Requests under way to licence servers: at 100 ms each 2,500 a second, each with a challenge and an answer in memory. Who finds
/// no place is told at once when to come again.
pub(crate) const UNDER_WAY_MAX: usize = 256;

/// How long a licence of a checked viewer lasts, in seconds, unless their right ends earlier: as long as a session. It is no
/// longer than that which cuts off: no key is of use after its period, and the next one needs a fresh pass.
pub(crate) const LICENCE_S: i64 = 12 * 3_600;
/// Segments by which this machine's clock may be behind the pipelines': one is 2 s, and clocks are kept by NTP.
pub(crate) const CLOCK_OFF_SEGMENTS: u64 = 1;
/// How far back viewers may go unless set, in seconds: an origin's window unless that is set.
pub(crate) const WINDOW_S: u64 = 3_600;

/// Programmes whose grids are remembered, of 100 bytes each: those on air.
pub(crate) const GRIDS_MAX: usize = 1_024;
/// How long the register of a programme's plan is waited for. Without it the usual grid holds.
pub(crate) const PLAN_WAIT: Duration = Duration::from_millis(250);
