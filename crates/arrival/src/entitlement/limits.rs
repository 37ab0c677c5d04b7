//! Every limit of the check, with the reason for its number. Milliseconds, unless the name says otherwise.

/// Accounts whose purchases are kept. Each takes some 250 bytes, so a full cache is a quarter of a gigabyte.
pub(crate) const ACCOUNTS_MAX: usize = 1 << 20;

/// Parts of the cache with a lock each: with two cores' worth of threads, far more than ask at one instant.
pub(crate) const SHARDS: usize = 64;

/// How long what was found is good without asking again. What was bought has its end beside it; only a refund is seen
/// later than it was made.
pub(crate) const POSITIVE_MS: i64 = 15 * 60_000;

/// How old it may be while the store does not answer: a match and its overtime.
pub(crate) const STALE_MS: i64 = 5 * 3_600_000;

/// How long somebody who had not bought is refused without asking again: they may be at the till.
pub(crate) const NEGATIVE_MS: i64 = 5_000;

/// How long somebody who was found not to have bought is refused in a panic.
pub(crate) const NEGATIVE_PANIC_MS: i64 = 10 * 60_000;

/// A copy of all purchases counts as one while it was followed so recently.
pub(crate) const FOLLOWED_MS: i64 = 5_000;

/// How far back each look at the changes reaches: writers' clocks differ, and what is written becomes visible later.
pub(crate) const OVERLAP_MS: i64 = 10_000;

/// By how much writers' clocks may be behind ours: more is no clock that is set, and what was written at once a minute ago is not
/// read again each second.
pub(crate) const CLOCKS_MS: i64 = 60_000;

/// How often changes are looked at.
pub(crate) const FOLLOW_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// From the beginning of one check to that of the next, at least: in a rush each of them asks for all who came
/// meanwhile, so that the store sees ten questions a second, however many come. The first is not held back.
pub(crate) const BATCH_EVERY_MS: i64 = 100;

/// Checks under way at once: one more than one, so that a slow answer does not hold up the next question.
pub(crate) const IN_FLIGHT_MAX: usize = 2;

/// Viewers who wait for a check, over all accounts: two seconds of 5,000 arrivals a second. Whoever comes then is let in
/// provisionally at once.
pub(crate) const WAITING_MAX: usize = 10_000;

/// The longest that a viewer waits for a check: a third of the second and a half in which the picture must come.
pub(crate) const CHECK_MAX_MS: i64 = 500;

/// A check that took longer is a bad one. Good ones take a few milliseconds.
pub(crate) const SLOW_MS: i64 = 300;
