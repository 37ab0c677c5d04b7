//! CMAF init segments and chunks.

mod chunk;
mod init;

pub use chunk::{Lead, chunk, protected_chunk};
pub use init::{init, init_id, protected_init};

/// A track of ours has its file for itself.
const TRACK_ID: u32 = 1;
