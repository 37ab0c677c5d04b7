//! Observes an MPEG transport stream (ISO/IEC 13818-1): which streams its programme has, when each frame is
//! meant to be seen, the cue messages beside them, and what the transport lost. The bytes themselves go their
//! own way unchanged, so nothing is buffered here but a partial packet and partial sections.
//!
//! Pure: no I/O and no clock. Packet, PES and table syntax is `mpeg2ts-reader`'s.
//!
//! * [`demux`]: bytes in, [`Event`]s out.
//! * [`programme`]: the streams, as the PMT lists them.
//! * [`language`]: what a stream's language is called, for machines and for people.
//! * [`fuzz`]: an entry for fuzzing; not for use otherwise.

pub mod demux;
pub mod fuzz;
pub mod language;
mod pes;
pub mod programme;
mod section;

pub use demux::{Demux, Event, Faults};
pub use language::Language;
pub use pes::Pes;
pub use programme::{Audio, Kind, Programme, Stream, Video};
