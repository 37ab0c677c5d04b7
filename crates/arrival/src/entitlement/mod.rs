//! Whether somebody has paid for what they want to watch. [`decide`] is the whole answer, pure, from the catalog and what
//! they bought; the rest sees to it that what they bought is nearly always known here already.
//!
//! * [`cache`] keeps purchases by account, bounded;
//! * [`follow`] makes of it a copy of all of them, if they fit, and follows the changes;
//! * [`checks`] gathers the questions that are left: ten a second, each for everybody who came meanwhile;
//! * [`checker`] is the shell around them.

mod admin;
pub(crate) mod cache;
pub(crate) mod checker;
pub(crate) mod checks;
mod decide;
mod follow;
pub(crate) mod limits;
#[cfg(test)]
mod storm;

pub(crate) use admin::router;
pub use cache::{Cache, Known};
pub use checker::{Checked, Checker, weigh};
pub use checks::{Batch, Checks};
pub use decide::{Granted, Refusal, decide};
pub(crate) use follow::follow;

/// A purchase, as a decision needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The purchase's own id.
    pub id: Box<str>,
    /// What was bought.
    pub product: Box<str>,
    /// UTC, milliseconds: good from then on.
    pub from_ms: i64,
    /// UTC, milliseconds: not good from then on.
    pub until_ms: i64,
}

impl From<store::Purchase> for Held {
    fn from(p: store::Purchase) -> Held {
        Held { id: p.id.into(), product: p.product.into(), from_ms: p.from_ms, until_ms: p.until_ms }
    }
}
