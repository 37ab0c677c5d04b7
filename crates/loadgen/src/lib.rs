//! A simulated audience over HTTP, for tests and benches.
//!
//! * [`player`]: one viewer as a pure state machine: playlists and bytes in, requests and stalls out, time as
//!   an argument. [`buffer`] and [`playhead`] are its picture, [`object`] its look into media.
//! * [`watch`]: viewers over real connections, with [`http`] as their thin shell.
//! * [`swarm`]: many clients that ask many edges for the same new part at once.
//! * [`door`]: viewers who all tap play within a minute, and how they try again.
//! * [`config`]: the same from the command line.

pub mod buffer;
pub mod config;
pub mod door;
pub mod http;
pub mod object;
pub mod player;
pub mod playhead;
pub mod report;
pub mod swarm;
pub mod url;
pub mod watch;

pub use config::{Config, Mode, Summary, run};
pub use player::{Options, Player};
pub use report::Report;
pub use swarm::swarm;
pub use watch::watch;

/// What this room can refuse.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not a URL that can be asked.
    #[error(
        "'{0}' is not an http:// URL; give the whole address of a playlist, like http://127.0.0.1:8080/x/master.m3u8"
    )]
    Url(String),
    /// A request failed.
    #[error("{url}: {what}")]
    Request {
        /// What was asked for.
        url: String,
        /// What happened.
        what: String,
    },
    /// A playlist that cannot be read, or has nothing to ask for.
    #[error("{url}: {source}")]
    Playlist {
        /// Where it is.
        url: String,
        /// What is wrong.
        source: hls::Error,
    },
    /// A swarm without anything to ask, or to ask for.
    #[error("{0}")]
    Swarm(&'static str),
}
