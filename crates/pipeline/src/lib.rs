//! One of two identical pipelines: receives the contribution feed, encodes the bitrate ladder, packages CMAF
//! on the match's grid, and publishes parts to the origins as they are made.
//!
//! The way of a picture: [`contribution::receive`] (bytes of TS) → [`feed`] (the last seconds of them, and where
//! the keyframes are) → [`encode`] (ffmpeg as a child) → [`package`] (pure: samples to parts, encrypted by [`protect`]) → [`publish`]. The
//! loop that joins them is in `run.rs`; [`plan`] is what both pipelines must agree on.
//!
//! A pipeline never knows viewers, and never knows of the other pipeline except through the store.

pub mod config;
pub mod encode;
pub mod feed;
pub mod package;
pub mod plan;
pub mod probe;
pub mod protect;
pub mod publish;
mod run;
mod speke;
mod tracks;

pub use config::Config;
pub use run::run;

/// Why a pipeline cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The feed can't be used; the sentence says what to change.
    #[error("{0}")]
    Feed(String),
    /// A program that the pipeline needs is missing or does not start.
    #[error("cannot start {program}: {source}; install it (Debian: apt-get install {package})")]
    Program {
        /// What was to be started.
        program: &'static str,
        /// The package that has it.
        package: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The input cannot be received.
    #[error(transparent)]
    Receive(#[from] contribution::Error),
    /// An origin URL that is not `http://host:port`.
    #[error("'{0}' is not an origin; write it like http://127.0.0.1:8085")]
    Origin(String),
    /// A ladder that cannot be read.
    #[error("'{0}' is not a bitrate ladder; write rungs as height@kbps, like 720@2500,360@800")]
    Ladder(String),
    /// Another run of the same programme has a different plan.
    #[error("{0}")]
    Plan(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Keys cannot be had, or settings of encryption contradict each other.
    #[error("{0}")]
    Drm(String),
    /// The timeline refused.
    #[error(transparent)]
    Timeline(#[from] timeline::Error),
    /// A system call failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}
