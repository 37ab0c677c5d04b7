//! Policies that are wrong on purpose, so that the tests can be seen to fail. No program has them: outside this
//! room's own tests the answer to each question is no, at compile time.

use tokio::task::JoinHandle;

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Those who waited for an answer that may not be shared wait for the next one again.
    Queues,
    /// A body that is cut counts as one that has ended.
    CutIsEnd,
    /// A failure at the live edge is kept for as long as it says.
    KeepsFailures,
    /// A fill ends when the client that began it leaves.
    DiesWithFirst,
    /// What was cached at one instant expires at one.
    NoJitter,
    /// An answer that sets a cookie is given to all who wait.
    SharesCookies,
    /// What has had its time is given all the same.
    StaleForEver,
    /// The pass is part of the key.
    PassInKey,
    /// Everyone who asks makes a fetch.
    Stampedes,
    /// An answer for one client is given to any of those who waited.
    HandsToAnyone,
    /// An answer is given to all who waited, whatever it varies on.
    IgnoresVary,
    /// A purge leaves what is on its way.
    JoinsPurged,
    /// A request is not awake until something else happens.
    Polls,
}

#[cfg(test)]
thread_local! {
    static NOW: std::cell::Cell<Option<Broken>> = const { std::cell::Cell::new(None) };
}

/// Whether that is done wrong now.
#[cfg(not(test))]
pub(crate) const fn broken(_: Broken) -> bool {
    false
}

/// Whether that is done wrong now, on this thread.
#[cfg(test)]
pub(crate) fn broken(what: Broken) -> bool {
    NOW.get() == Some(what)
}

/// Does that wrong on this thread, for as long as what it gives is held.
#[cfg(test)]
pub(crate) fn breaking(what: Option<Broken>) -> impl Drop {
    struct Mended(Option<Broken>);
    impl Drop for Mended {
        fn drop(&mut self) {
            NOW.set(self.0);
        }
    }
    Mended(NOW.replace(what))
}

/// For [`Broken::DiesWithFirst`]: ends the task when it is dropped before it is told not to.
pub(crate) fn ends_with_first(task: JoinHandle<()>) -> Option<EndsWith> {
    broken(Broken::DiesWithFirst).then(|| EndsWith(task))
}

/// See [`ends_with_first`].
pub(crate) struct EndsWith(JoinHandle<()>);

impl Drop for EndsWith {
    fn drop(&mut self) {
        self.0.abort();
    }
}
