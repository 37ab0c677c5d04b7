//! Every limit of the panic, with the reason for its number. Milliseconds, unless the name says otherwise.

use std::time::Duration;

/// How long a provisional pass is good: long enough that a database comes back or is replaced, short enough that whoever
/// had no right sees an over and not the match.
pub(crate) const PROVISIONAL_MS: i64 = 5 * 60_000;

/// Bad checks in a row that make a panic: one may be chance, and at ten checks a second three are a third of a second.
pub(crate) const BAD_ROW: u32 = 3;

/// Checks that are looked back at, and how many bad ones among them make a panic too: a store that fails every other
/// time never fails three times in a row.
pub(crate) const WINDOW: u32 = 16;
pub(crate) const WINDOW_BAD: u32 = 8;

/// Good ones in a row that end it, not before it is so old: a store that comes back is not thrown down again at once.
pub(crate) const GOOD_ROW: u32 = 5;
pub(crate) const HOLD_MS: i64 = 5_000;

/// How often the store is tried in a panic, and passes are settled: what it is asked is never more than this, however
/// many arrive.
pub(crate) const SETTLE_EVERY: Duration = Duration::from_millis(250);

/// Provisional passes that are not settled: of 5,000 arrivals a second, more than a minute and a half; some 130 MB. When
/// there are more, viewers are asked to come again.
pub(crate) const PENDING_MAX: usize = 1 << 19;

/// Passes that are settled at once: as many accounts as one check asks for.
pub(crate) const SETTLE_MAX: usize = store::ACCOUNTS_MAX;

/// Entries that wait for the disk: a fifth of a second of 5,000 arrivals. One wait for the disk serves them all.
pub(crate) const JOURNAL_QUEUE_MAX: usize = 1_024;

/// The longest that a viewer waits for the journal. A disk that takes longer is broken; that of a machine full of tests is
/// not.
pub(crate) const JOURNAL_DEADLINE: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 1 });

/// A journal in which everything is settled is begun anew when it has so many bytes.
pub(crate) const JOURNAL_BYTES: u64 = 16 << 20;
