//! What servers of several rooms have in common beside their answers.
//!
//! * [`http`]: accepting connections, bounding them, letting them end; for those that need no loop of their own.
//! * [`turns`]: whose request is read next, when more wait than can be answered.
//! * [`tls`]: TLS 1.3 with a certificate that may change while the listener is open.
//! * [`coding`]: compressed forms, for those who make a text once and give it out often.
//! * [`Watched`]: a file that is read again when it changes.
//! * [`Rewound`]: a connection of which something was read already.
//!
//! It knows no paths, no passes and no media.

pub mod coding;
pub mod http;
mod rewound;
pub mod tls;
pub mod turns;
mod watched;

pub use rewound::Rewound;
pub use watched::Watched;
