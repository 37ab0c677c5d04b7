//! Every limit of play, with the reason for its number.

/// How long a pass is good before it is renewed, in seconds: who is cut off by a blackout or a refund is gone by then,
/// also where no revocation arrives.
pub(crate) const PASS_S: i64 = 10 * 60;

/// How long a pass may be renewed without asking here, in seconds: the longest day of a match and its overtime.
pub(crate) const SESSION_S: i64 = 12 * 3_600;

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
