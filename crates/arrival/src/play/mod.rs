//! Play: every dear check once, and all that a player needs as the answer. From here on the edge decides alone.

mod admin;
mod advice;
mod answer;
mod asker;
mod cats;
mod edges;
mod http;
pub(crate) mod limits;
mod passes;
mod present;
mod problem;
#[cfg(test)]
mod tests;

pub(crate) use admin::router as admin;
pub use advice::{Advice, BackOff};
pub(crate) use asker::Asker;
pub use cats::Cats;
pub use edges::Edges;
pub(crate) use http::router;
pub use passes::{Admitted, Grant, Passes, Word};
pub(crate) use present::Present;
pub use problem::Problem;
pub(crate) use problem::listed;
