//! The score plane in the binary: its roles, and how an all-in-one starts them.

mod keys;
pub(crate) mod plane;
pub(crate) mod roles;
pub(crate) mod socket_edge;
mod watching;
