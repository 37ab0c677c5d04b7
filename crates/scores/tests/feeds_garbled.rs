//! Both formats under thousands of garbled copies of their fuzz corpus: nothing panics, and what is still read is written
//! back alike. (The fuzz targets go on from here.)

#![allow(clippy::unwrap_used)]

use std::path::Path;

const ROUNDS: usize = 4_000;

fn garbled(corpus: &str, read: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let mut rng = fastrand::Rng::with_seed(4);
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read(file.unwrap().path()).unwrap();
        files += 1;
        read(&text);
        for _ in 0..ROUNDS {
            let mut text = text.clone();
            for _ in 0..rng.usize(1..4) {
                let (from, to) = (rng.usize(0..text.len()), rng.usize(0..text.len()));
                match rng.u32(0..4) {
                    0 => text[from] = rng.u8(..),
                    1 => text[from] = b"0123456789\"{}[],:-e"[rng.usize(0..19)],
                    2 => text.truncate(from.max(1)),
                    _ => {
                        let piece: Vec<u8> =
                            text[from.min(to)..from.max(to)].iter().take(40).copied().collect();
                        text.splice(from..from, piece);
                    }
                }
            }
            read(&text);
        }
    }
    assert!(files > 1, "there is a corpus");
}

#[test]
fn push() {
    garbled("scores_push", scores::feeds::push::fuzz);
}

#[test]
fn wire() {
    garbled("scores_wire", scores::feeds::wire::fuzz);
}
