//! How many files and sockets this process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes as many as it is allowed to: shells and service managers start processes with 1,024, and a server needs
/// one for each connection.
pub(crate) fn take_all() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "no more than {:?} descriptors can be had", limit.current);
    }
}
