//! An entry for fuzzing: it must return, whatever the bytes.

use crate::{Demux, Event, Faults};

/// Observes the bytes whole and in pieces (the first byte says of what size): both must see the same.
pub fn fuzz_demux(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let whole = observe(bytes, bytes.len().max(1));
    assert_eq!(whole, observe(bytes, usize::from(*size).max(1)));
}

fn observe(bytes: &[u8], size: usize) -> (Vec<Event>, Faults) {
    let mut demux = Demux::new();
    let mut events = Vec::new();
    for piece in bytes.chunks(size) {
        demux.push(piece, |event| events.push(event));
    }
    (events, demux.faults())
}
