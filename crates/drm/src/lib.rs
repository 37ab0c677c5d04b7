//! Digital rights management, as far as it is no I/O: which key protects what, what is announced of it, and who is
//! given it.
//!
//! * [`key`]: content keys, and what they are for: a [`key::Scope`], a [`key::Class`] of tracks, a period.
//! * [`schedule`]: which segments belong to which period, and when the next period's key is announced.
//! * [`provider`]: where keys come from: [`provider::Local`] derives them from a master secret, [`provider::Held`] keeps
//!   what a key server said.
//! * [`pssh`]: what Widevine, PlayReady and ClearKey are told of a key in boxes and playlists.
//! * [`clearkey`]: licence request and licence of ClearKey, in W3C's JSON.
//! * [`licence`]: what a viewer may have, and the keys that follow from it.
//! * [`cpix`]: the documents of SPEKE v2, by which a packager asks a key server.
//! * [`fuzz`]: the parsers, for fuzz targets.
//!
//! A key never appears in a log, an error or what `{:?}` prints.

pub mod clearkey;
pub mod cpix;
pub mod fuzz;
pub mod key;
pub mod licence;
pub mod provider;
pub mod pssh;
pub mod schedule;

pub use key::{Class, Key, Scope, Secret};
pub use provider::{Held, Local, Provider};
pub use schedule::Schedule;
pub use timeline::protection::{Kid, Scheme};

/// What this room can refuse. None says more of a key than its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A master secret that could be guessed.
    #[error(
        "the master secret has {0} bytes; at least {min} random ones are needed, such as openssl rand -hex 32 writes",
        min = provider::MASTER_MIN
    )]
    Master(usize),
    /// A key that is not known yet.
    #[error("there is no {class} key of period {period} yet")]
    NoKey {
        /// For which tracks.
        class: Class,
        /// For which period.
        period: u64,
    },
    /// A licence request that is not W3C's.
    #[error("this is not a ClearKey licence request: {0}")]
    Request(String),
    /// A key server's answer that cannot be used.
    #[error("this is not a CPIX document that can be used: {0}")]
    Cpix(String),
    /// Neither segments nor seconds.
    #[error("'{0}' is no length; write whole segments, such as 150, or seconds, such as 300s")]
    Length(String),
}
