//! What this room can refuse.

use mp4_atom::FourCC;

/// Why bytes are not the media they should be, or samples cannot be written. Each is one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A box larger than any that an encoder of ours writes.
    #[error("the '{kind}' box claims {size} bytes; at most {max} are taken")]
    TooLarge {
        /// Its type.
        kind: FourCC,
        /// What its header says.
        size: u64,
        /// [`crate::reader::BOX_MAX`].
        max: usize,
    },
    /// Bytes were pushed faster than events were taken.
    #[error("more than {0} bytes are waiting; take the events after each push")]
    Backlog(usize),
    /// A box whose inside contradicts its type.
    #[error("the '{kind}' box is damaged: {why}")]
    Damaged {
        /// Its type.
        kind: FourCC,
        /// What was found.
        why: String,
    },
    /// A box that must be there is not.
    #[error("there is no '{0}' box where one must be")]
    Missing(FourCC),
    /// A box that has no business where it stands.
    #[error("a '{0}' box does not belong here")]
    Misplaced(FourCC),
    /// Not one track of H.264 or AAC.
    #[error("{0} is not supported; expected one track of H.264 ('avc1') or AAC ('mp4a')")]
    Unsupported(String),
    /// A timestamp that overflows, runs backwards or lies before the epoch.
    #[error("impossible timing: {0}")]
    Timing(&'static str),
    /// Sample data outside the `mdat` that follows its `moof`.
    #[error("a sample of {size} bytes at offset {offset} lies outside its mdat box")]
    Outside {
        /// From the first byte of the moof box.
        offset: i64,
        /// In bytes.
        size: u32,
    },
    /// More samples in one fragment than any part can have.
    #[error("a fragment of {0} samples; at most {max} are taken", max = crate::fragment::SAMPLES_MAX)]
    Crowded(u64),
    /// The object ends in the middle of a box.
    #[error("the object is cut off inside its '{0}' box")]
    CutOff(FourCC),
    /// Nothing to write, or an object without media.
    #[error("there is no sample in it")]
    Empty,
    /// A sample of H.264 that cannot be encrypted, since its slices cannot be told.
    #[error("cannot be encrypted: {0}")]
    Slice(&'static str),
    /// Something that a box has no room for.
    #[error("cannot be written: {0}")]
    Unwritable(String),
}
