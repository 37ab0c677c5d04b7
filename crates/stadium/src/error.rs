//! What can stop the ground from starting.

/// Why the ground cannot run. Each says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that we run as a child is not there.
    #[error("{program} is not installed: install it with `apt-get install {package}`")]
    Missing {
        /// What was called.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// A program that we run as a child failed at start.
    #[error("{program} failed: {why}")]
    Failed {
        /// What was called.
        program: &'static str,
        /// Its last word.
        why: String,
    },
    /// `--udp` cannot be sent to.
    #[error("cannot send to --udp {address}: {source}; give a reachable host:port")]
    Udp {
        /// As configured.
        address: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// `--input` cannot be carried.
    #[error("cannot take --input {input}: {why}")]
    Input {
        /// As configured.
        input: String,
        /// What is wrong with it, and what to change.
        why: String,
    },
    /// `--play` cannot be played.
    #[error("cannot --play {file}: {why}")]
    Play {
        /// As configured.
        file: String,
        /// What is wrong with it, and what to give instead.
        why: String,
    },
    /// The system refused something that always works: a pipe, a thread.
    #[error("the system refused a resource: {0}")]
    System(#[from] std::io::Error),
}
