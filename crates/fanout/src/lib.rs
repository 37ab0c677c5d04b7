//! The socket edge: scores to a very large audience over WebSocket, SSE and long-poll on `/v1/stream`.
//!
//! ```text
//! Source ─Update─> feed (a task a match: order, dedupe, window, encode once) ─Note─> worker (a thread a core)
//!                                                                                     └─ write ─> sockets
//! ```
//!
//! A worker owns its sockets and shares nothing: a socket is some hundred bytes in a slab, and what it is still to get
//! is a position in its match's ring, whose frames stand ready for the wire. Publishing walks the match's list and
//! writes; only a socket that would block waits for the kernel to say that it can go on. There is no task, timer,
//! channel or buffer for each socket, and no hyper on the way: whatever is not `/v1/stream` is handed to hyper with
//! the bytes that were read.
//!
//! Invariants:
//!
//! * The room knows nothing of sports: a message is bytes with a key.
//! * Nothing is collapsed. A window only lets several events leave in one write; a correction ends it.
//! * A socket's cursor moves before the event is given out, and replayed events move it as live ones do.
//! * A closed socket gets nothing more but the rest of the frame it was in, and its close frame.
//! * Durations are measured on the monotonic clock. The wall clock is read when a token comes, and to measure latency.

mod admission;
mod config;
mod cursor;
mod deps;
mod feed;
mod frame;
pub mod fuzz;
mod head;
mod limits;
mod meters;
mod ops;
mod proto;
mod register;
mod ring;
mod says;
mod server;
mod times;
mod worker;

pub use config::{Config, Timing};
pub use deps::{Admit, Answer, Body, Deps, Fallback, Refusal, Source, fallback};
pub use limits::{MATCHES_PER_SOCKET_MAX, UNSENT_BYTES_MAX};
pub use server::{Server, Watching, listen, listen_locally};

/// What this room can refuse at its start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A limit of nothing.
    #[error("{0} is 0, so nobody could connect; give 1 or more")]
    Zero(&'static str),
    /// A window that nobody would call live.
    #[error("a window of {0} ms would hold scores back; give at most {max} ms", max = limits::COALESCE_MS_MAX)]
    Window(u64),
    /// The system gives no sockets or threads.
    #[error("cannot serve sockets: {0}")]
    Io(#[from] std::io::Error),
}
