//! The score, from what a provider says to what a viewer may be told: the event model, the scorecard that is folded
//! from it, feeds, ingest, the shard of a match, and the snapshot.
//!
//! It knows nothing of viewers' sockets. The model and the fold are pure.
//!
//! * [`event`]: one revision of one happening on the field, for any sport.
//! * [`cricket`], [`football`]: what can happen in each; another sport is another module.
//! * [`catalog`]: which matches there are.
//! * [`feeds`]: what providers say, and how; the scorer's page; a provider that plays a recording.
//! * [`ingest`]: from what providers say to each event once, durable, in the spine.
//! * [`card`]: the scorecard, the headline and the key moments ([`moment`]), folded from events.
//! * [`recording`]: a whole match that can be played again; Cricsheet's files are imported.
//! * [`shard`]: from a match's log to the relay. [`snapshot`]: what has been so far, for whoever comes late.
//! * [`frame`]: an event as viewers get it, in JSON and Protobuf.

pub mod card;
pub mod catalog;
pub mod cricket;
mod cricsheet;
mod error;
pub mod event;
pub mod feeds;
pub mod football;
pub mod frame;
pub mod ingest;
pub mod moment;
pub mod recording;
pub mod shard;
pub mod snapshot;

pub use card::{Book, Card, Headline, Taken};
pub use error::Error;
pub use event::{Body, Event, EventId, Sport};
pub use frame::Framed;
pub use moment::{Moment, MomentKind};
pub use recording::Recording;
