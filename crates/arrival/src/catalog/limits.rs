//! Every limit of the catalog, with the reason for its number.

use std::time::Duration;

/// How old a local copy may be: a match that goes live, or a blackout, is known everywhere so soon.
pub(crate) const REFRESH_EVERY: Duration = Duration::from_secs(1);

/// Documents of one kind: a season of matches, each with rights and blackouts of its own. The store lists twice as many.
pub(crate) const DOCUMENTS_MAX: usize = 5_000;

/// Names in one list of a document: every country is 249, every subdivision of one under 300.
pub(crate) const LIST_MAX: usize = 512;

/// Corners of a polygon: the outline of a city or a state is told with some hundreds.
pub(crate) const CORNERS_MAX: usize = 1_024;

/// Characters of a title or a name.
pub(crate) const NAME_MAX: usize = 200;

/// Streams that a plan may allow at once: more is no household.
pub(crate) const DEVICES_MAX: u8 = 32;

/// The largest file that is imported, in bytes: 5,000 documents of every kind with some 500 bytes each.
pub(crate) const FILE_BYTES_MAX: usize = 16 << 20;

/// How often the store is read until it is twice the same: a file that is being imported changes it for a second.
pub(crate) const READ_TRIES_MAX: u32 = 20;

/// Writes of one document that may lose against others' before it is given up: people edit it, not programs.
pub(crate) const PUT_TRIES_MAX: u32 = 10;
