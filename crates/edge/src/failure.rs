//! Why there is no object, or no more of it.

/// What ends a fetch, a fill or a body before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No upstream could be reached, or each is held off because it failed.
    #[error("no upstream can be reached")]
    Unreachable,
    /// Each upstream that could be asked has as many requests as it may have.
    #[error("the upstreams have too many requests; come back in a moment")]
    Busy,
    /// An upstream did not begin its answer in time.
    #[error("the upstream did not answer in time")]
    Late,
    /// An upstream ended its body before its end, or was silent too long inside.
    #[error("the upstream's answer was cut off")]
    Cut,
    /// An upstream's answer cannot be passed on.
    #[error("the upstream's answer {0}")]
    Unfit(&'static str),
    /// There is no memory for it.
    #[error("there is no memory for more objects")]
    Memory,
    /// An upstream answered with a fault of its own, and there is something better to give.
    #[error("the upstream is in trouble")]
    Troubled,
    /// The answer is for one client alone: not a fault, everyone asks by themselves.
    #[error("the answer may not be shared")]
    Alone,
}
