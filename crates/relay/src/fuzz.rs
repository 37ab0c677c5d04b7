//! Entries for fuzzing; not for use otherwise.

use bytes::BytesMut;

use crate::wire::Frame;

/// Whatever comes on a connection: what is understood is written again alike, byte for byte.
pub fn frames(bytes: &[u8]) {
    let mut input = BytesMut::from(bytes);
    let mut read = 0;
    while let Ok(Some(frame)) = Frame::decode(&mut input) {
        let mut again = BytesMut::new();
        frame.encode(&mut again);
        assert_eq!(bytes.get(read..read + again.len()), Some(&again[..]), "{frame:?}");
        read += again.len();
        assert_eq!(read + input.len(), bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fuzzer's corpus, and each of its bytes replaced, in a moment.
    #[test]
    fn the_corpus_and_what_is_near_it() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/relay_frame");
        let mut seen = 0;
        for file in std::fs::read_dir(corpus).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            frames(&bytes);
            for at in 0..bytes.len() {
                for byte in [0, 1, 0x7f, 0xff] {
                    let mut near = bytes.clone();
                    near[at] = byte;
                    frames(&near);
                    frames(&near[..at]);
                }
            }
            seen += 1;
        }
        assert!(seen > 3);
    }
}
