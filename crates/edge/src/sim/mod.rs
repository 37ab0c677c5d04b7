//! Edges in simulated time: chained in one process, in front of scripts instead of networks.
//!
//! [`storm`] is for anyone who wants to see it. The rest is this room's own proof: scenarios of arrivals,
//! departures, faults, purges and evictions at random ([`scenario`]), an origin that plays them and remembers all it
//! said ([`origin`]), clients that remember all they saw ([`client`]), and a judge who knows the rules and none of
//! the code ([`judge`], [`model`]). That the judge would notice is shown with policies broken on purpose
//! ([`mod@broken`]).
//!
//! The runtime must be one whose time is paused, or all this takes as long as it says.

mod broken;
mod storm;
mod tier;

#[cfg(test)]
mod client;
#[cfg(test)]
mod controls;
#[cfg(test)]
mod judge;
#[cfg(test)]
mod model;
#[cfg(test)]
mod notes;
#[cfg(test)]
mod origin;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod scenario;
#[cfg(test)]
mod world;

pub(crate) use broken::{Broken, broken, ends_with_first};
pub use storm::{Storm, storm};
pub use tier::Tier;
