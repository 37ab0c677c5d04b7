//! What providers say, and how: two wire formats of our own (`docs/feeds.md`), a scorer's page, and a provider that plays
//! a recording.
//!
//! * [`push`]: one JSON object a line, with explicit revisions; over WebSocket or HTTP.
//! * [`replay`]: plays a recording against an ingest, with faults on demand.
//! * [`scorer`]: one-time codes, and the tokens that they open.
//! * [`wire`]: arrays of short-named items, without revisions; over HTTP.

pub mod push;
pub mod replay;
pub mod scorer;
mod statement;
pub mod wire;

pub use statement::{Answer, Range, Rejected, Said, Statement, Unreadable};
