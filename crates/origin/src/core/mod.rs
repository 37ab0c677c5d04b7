//! The pure core: what a programme's tracks hold and list, and why. No I/O; time is an argument.
//!
//! * [`programme`]: a programme and its tracks; everything from outside comes in here.
//! * [`door`], [`refusal`]: what is not taken, and the sentence for it.
//! * [`object`], [`kept`]: objects of segments in the making, and of finished ones.
//! * [`select`], [`pace`]: whose a segment is, and what is overdue.
//! * [`stage`], [`advance`], [`finish`]: where a playlist stands, and how it goes on.

pub mod advance;
pub mod door;
pub mod expect;
pub mod finish;
pub mod kept;
pub mod limits;
pub mod object;
pub mod pace;
pub mod programme;
pub mod refusal;
pub mod select;
pub mod stage;
pub mod track;

pub use programme::{Programme, Window};
pub use refusal::Refusal;
pub use stage::Event;
pub use track::{Accepted, Found};
