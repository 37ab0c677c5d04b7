//! Every limit of play, with the reason for its number.

use std::time::Duration;

/// How long a pass is good before an edge renews it, in seconds, unless set. Players that do not take renewals get through
/// a short visit; a key that has leaked is worth no more than that.
pub(crate) const PASS_S: u32 = 10 * 60;

/// A player that takes no renewals has a pass for the whole match and four hours; no match is longer than so many
/// seconds of a day, its breaks included.
pub(crate) const MATCH_MS: i64 = 8 * 3_600_000;
pub(crate) const AFTER_MS: i64 = 4 * 3_600_000;
/// So its longest, in seconds, when it is asked for before the first ball.
pub(crate) const LONG_S_MAX: i64 = (MATCH_MS + AFTER_MS + EARLY_MS) / 1_000;

/// How long edges may renew it without asking here, in seconds, unless set: when no door answers, nobody notices for so
/// long. It is also the longest that a blackout waits for which nobody had foreseen any, so it is not a whole match; five
/// million viewers are 1,500 plays a second by it.
pub(crate) const RENEWED_S: u32 = 3_600;

/// Where a match hangs on the place, a blackout may begin at any time, and must hold also when no edge can be told of it:
/// then they are asked to come back in this part of that time. Places fail closed, so without any door it goes dark then.
pub(crate) const PLACED_SHARE: i64 = 4;

/// Who came in one minute does not come back in one minute: up to this part of that time is taken off by chance.
pub(crate) const SPREAD_SHARE: i64 = 4;

/// In the last of so many parts of its life a pass is renewed: players ask every second, and one that was put away for a
/// moment still finds it good.
pub(crate) const WINDOW_SHARE: i64 = 3;

/// How often is looked whether the keys of passes have changed, as at the edge.
pub(crate) const KEYS_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Sessions that are remembered as over, and that wait for one edge to be told of: as many as an edge remembers.
pub(crate) const ENDED_MAX: usize = 65_536;

/// An edge that has not answered in this time is asked again: it only has to remember.
pub(crate) const TELL_MAX: Duration = Duration::from_secs(2);

/// The first wait before that, and the longest: an edge that comes back is told within seconds.
pub(crate) const TELL_FIRST: Duration = Duration::from_millis(100);
pub(crate) const TELL_CAP: Duration = Duration::from_secs(5);

/// Of its answer so much is read: `{}`, or a problem document.
pub(crate) const TELL_ANSWER_BYTES_MAX: usize = 4_096;

/// Sessions of which is known where they came from: of some 100 bytes, a tenth of a gigabyte. Those beyond end no earlier
/// than their passes.
pub(crate) const PRESENT_MAX: usize = 1 << 20;

/// Parts with a lock each.
pub(crate) const PRESENT_SHARDS: usize = 64;

/// How long before a match begins its watch page plays, in milliseconds: the pictures from the ground before it.
pub(crate) const EARLY_MS: i64 = 15 * 60_000;

/// How old the lever of the advice may be, and how long clients and caches keep an answer with it, in seconds.
pub(crate) const ADVICE_S: u64 = 5;

/// How long clients and caches keep the list of matches, in seconds: what began shows while people still look for it, and
/// a crowd on the home page is one request in that time at each cache.
pub(crate) const MATCHES_S: u64 = 5;

/// Features that clients may be told to leave off, and the longest name of one.
pub(crate) const FEATURES_MAX: usize = 32;
pub(crate) const FEATURE_BYTES_MAX: usize = 64;

/// Characters of what a device calls itself that are shown to its owner.
pub(crate) const DEVICE_NAME_MAX: usize = 64;
