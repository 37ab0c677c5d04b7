//! Licences: the keys of encrypted matches for whoever has a pass. ClearKey's are made here; requests of Widevine, PlayReady and
//! FairPlay go on unchanged to the licence servers of the configuration, with what the viewer may have in fields beside them.
//!
//! * [`keys`]: which key is asked for, and whether it is given: takes time as an argument.
//! * [`proxy`]: the round to a licence server.
//! * [`http`]: `POST /v1/licence/{system}`.

mod config;
mod http;
mod keys;
pub(crate) mod limits;
mod problem;
mod proxy;
mod session;
mod system;
#[cfg(test)]
mod tests;

pub use config::{Config, Picture};
pub(crate) use http::router;
pub(crate) use keys::Licences;
pub(crate) use session::{is_long, named};
pub(crate) use system::System;
