//! Fragmented MP4, in and out: reads what an encoder writes on its pipe, writes CMAF (ISO/IEC 23000-19)
//! init segments and chunks, and checks an object at the door.
//!
//! Pure: no I/O and no clock. Single boxes are decoded and encoded by `mp4-atom`; what they mean together is
//! decided here.
//!
//! * [`track`]: what a track is made of: timescale and codec configuration.
//! * [`reader`]: bytes from an encoder in, a [`Track`] and [`Sample`]s out.
//! * [`writer`]: a [`Track`] in, an init segment out; samples in, a chunk out.
//! * [`encrypt`]: a sample and a key in, an encrypted sample and what is to be said of it out.
//! * [`inspect`]: what a part or segment says about itself, or why it is refused.
//! * [`fuzz`]: entries for fuzzing; not for use otherwise.

mod boxes;
pub mod encrypt;
mod error;
mod fragment;
pub mod fuzz;
pub mod inspect;
mod moov;
pub mod reader;
pub mod sample;
pub mod track;
pub mod writer;

pub use error::Error;
pub use inspect::{Inspected, inspect};
pub use reader::{Event, Reader};
pub use sample::Sample;
pub use track::{Aac, Avc, Codec, Track};
