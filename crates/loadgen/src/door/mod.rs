//! Viewers at the door, who all tap play within a minute. Pure: time is an argument and chance a seed, so that the same
//! clients play against a model of a server in a test, and over real connections in a bench.
//!
//! [`client`] is one viewer, [`storm`] all of them against a [`Server`](storm::Server).

pub mod client;
pub mod storm;

pub use client::{Answer, Client, Policy};
pub use storm::{Report, Server, Storm};
