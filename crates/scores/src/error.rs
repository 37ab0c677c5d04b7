//! What this room can fail with, and what it can refuse.

/// What this room can fail with. Each message is one sentence for whoever sent the thing, or keeps the machine.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A happening that cannot be: out of its place, over a limit, or without a name.
    #[error("{0}")]
    Invalid(String),
    /// Neither a recording of ours nor a Cricsheet file that we understand.
    #[error("not a recording: {0}")]
    Recording(String),
    /// Not a frame of `scores.proto`.
    #[error("not a frame: {0}")]
    Frame(String),
    /// The store could not be reached, or refused.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Something of ours cannot be written as JSON, or cannot be read back.
    #[error("not readable as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Others kept writing the same key.
    #[error("{0} is written by others all the time; try again")]
    Contended(String),
    /// Settings that cannot be.
    #[error("{0}")]
    Config(String),
    /// A file, or the source of random numbers, could not be read.
    #[error("{0} cannot be read: {1}")]
    Read(String, std::io::Error),
    /// The relay refused what a shard gave it.
    #[error("the relay refused: {0}")]
    Relay(#[from] relay::Error),
    /// A listener failed.
    #[error("a listener failed: {0}")]
    Serve(std::io::Error),
}

/// A refused happening.
pub(crate) fn invalid(why: impl Into<String>) -> Error {
    Error::Invalid(why.into())
}
