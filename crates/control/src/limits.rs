//! Every bound of the console, by name.

use std::time::Duration;

/// Requests to roles at once. A few operators, each with a page that asks one thing at a time; one that does not answer
/// must not collect them.
pub(crate) const ASKED_MAX: usize = 32;
/// How long a role may take to accept a connection.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(2);
/// How long a role may take to answer, body included: less than the page waits (8 s), so that it is told why.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long a role may take to say that it is ready. One that takes longer is not.
pub(crate) const READY_MAX: Duration = Duration::from_secs(1);
/// Bytes of what is sent to a role: a form of a page.
pub(crate) const SENT_MAX: usize = 16 * 1024;
/// Bytes of a document that is sent to arrival, which takes no more itself.
pub(crate) const DOCUMENT_MAX: usize = 256 * 1024;
/// Bytes of the catalog as a file, which arrival itself takes no larger. Two operators at once are 32 MiB here.
pub(crate) const FILE_MAX: usize = 16 * 1024 * 1024;
/// How long what is sent may take to arrive.
pub(crate) const SENT_TIME_MAX: Duration = Duration::from_secs(5);
/// Bytes of an answer: a hundred dead letters of 4 KiB, every character escaped, are 2.5 MiB.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of what a role says of its readiness.
pub(crate) const READY_BYTES_MAX: usize = 4 * 1024;
/// Characters of it that are shown.
pub(crate) const READY_SHOWN_MAX: usize = 200;
/// Bytes of a query: an offset and a count.
pub(crate) const QUERY_MAX: usize = 256;
/// Roles that are watched: those of one match, several times over.
pub(crate) const ROLES_MAX: usize = 64;
