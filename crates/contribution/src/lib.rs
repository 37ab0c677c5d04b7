//! The contribution path's receiving end, shared by the pipeline and by a ground that relays a feed: any feed
//! comes in as the bytes of an MPEG transport stream ([`receive`]), by children that are kept alive
//! ([`supervise`]).

pub mod receive;
pub mod supervise;

/// Why a feed cannot be received.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL is not one that can be received.
    #[error("cannot receive '{url}': {reason}")]
    Input {
        /// As given.
        url: String,
        /// What is wrong, and what to write instead.
        reason: String,
    },
    /// The UDP socket could not be opened.
    #[error("cannot listen on udp://{at}: {source}")]
    Udp {
        /// Where.
        at: std::net::SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
}
