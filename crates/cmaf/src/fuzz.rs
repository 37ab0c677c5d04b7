//! Entries for fuzzing: they must return, whatever the bytes.

use crate::{Event, Reader, inspect, writer};

/// Feeds the reader in pieces (the first byte says of what size) and writes again what it reads.
pub fn fuzz_reader(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let mut reader = Reader::new();
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        reader.push(piece);
        while let Ok(Some(event)) = reader.next_event() {
            match event {
                Event::Init(track) => {
                    track.codecs();
                    if let Ok(init) = writer::init(&track) {
                        assert_eq!(crate::reader::init(&init).as_ref(), Ok(&track), "written and read");
                    }
                }
                Event::Sample(sample) => {
                    let written = writer::chunk(writer::Lead::Chunk, 1, 0, &[sample]);
                    assert!(written.is_ok(), "a sample that was read can be written");
                }
            }
        }
    }
}

/// Inspects the bytes as a part or segment, and as an init segment.
pub fn fuzz_inspect(bytes: &[u8]) {
    let _ = inspect(bytes);
    let _ = crate::reader::init(bytes);
}
