//! Every wait and bound of the shard, by name.

use std::time::Duration;

/// How long an offset's commit waits for takers that are live and do not confirm. The relay drops them after 5 s; who
/// comes back continues from a cursor of its own, so nothing depends on waiting longer.
pub(super) const ACK_WAIT_MAX: Duration = Duration::from_secs(6);

/// How often an offset is committed at most. Each commit waits for the disk, and events of one match come less than
/// twice a second.
pub(super) const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// How often a log in which nothing happens is asked whether it still is the same.
pub(super) const RECHECK_EVERY: Duration = Duration::from_secs(1);

/// First and longest wait before a log that could not be read is tried again: a shard must be back well within 5 s.
pub(super) const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Rest before an actor that panicked is made anew.
pub(super) const RESTART_REST: Duration = Duration::from_millis(500);

/// Records folded without leaving the task: each takes some tens of microseconds. More of them go to a thread where
/// they keep no other match waiting.
pub(super) const FOLD_INLINE_MAX: usize = 16;

/// The newest messages of a match, in the relay itself: twice what a taker may have unconfirmed, so that who is merely
/// slow never needs the replay.
pub(super) const WINDOW_MESSAGES: usize = 2_048;
/// The same in bytes.
pub(super) const WINDOW_BYTES: usize = 4 * 1024 * 1024;

/// How long the replay may take, to take what is published (viewers must not wait for those who are away) or to say what
/// was. One that takes longer has lost the first and begins anew with what comes next; the second is read from the log.
pub(super) const REPLAY_WAIT_MAX: Duration = Duration::from_millis(50);

/// What the replay of a match may be configured to hold, in MB: a T20 has 0.3, and 1,024 hold the longest Test a
/// hundred times over.
pub(super) const REPLAY_MB: std::ops::RangeInclusive<usize> = 1..=1_024;
