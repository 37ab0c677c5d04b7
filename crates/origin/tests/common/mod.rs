//! A programme of one picture and one sound, whose objects' bytes say which object they are.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::unwrap_used)]

use bytes::Bytes;
use sha2::{Digest, Sha256};
use timeline::name::{InitId, Letter, Token};
use timeline::object::{Defect, Meta};
use timeline::programme::{Kind, Programme, Track};
use timeline::{Grid, Position, Ticks, Utc};

pub const EPOCH: Utc = Utc(1_800_000_000_000_000);

pub fn grid() -> Grid {
    Grid::for_frame_rate("25".parse().unwrap()).unwrap()
}

pub fn token(s: &str) -> Token {
    s.parse().unwrap()
}

pub fn announced() -> Programme {
    let track = |name, codecs: &str, kind| Track {
        name: token(name),
        codecs: codecs.to_owned(),
        peak_bps: 900_000,
        average_bps: 700_000,
        kind,
    };
    let english = Kind::Audio { language: "en".into(), label: "English".into(), channels: 2 };
    Programme {
        epoch: EPOCH,
        grid: grid(),
        tracks: vec![
            track("v", "avc1.64001F", Kind::Video { width: 640, height: 360 }),
            track("en", "mp4a.40.2", english),
        ],
    }
}

/// An init segment; `version` makes it another one.
pub fn init(version: u8) -> (InitId, Bytes) {
    let bytes = Bytes::from(vec![0, 0, 0, 9, b'f', b't', b'y', b'p', version]);
    let hash = Sha256::digest(&bytes);
    (InitId(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])), bytes)
}

/// A chunk of one keyframe that holds its name, followed by `filler` bytes.
pub fn media(name: &str, time: u64, filler: usize) -> Bytes {
    let mut data = name.as_bytes().to_vec();
    data.resize(data.len() + filler, 0);
    let sample = cmaf::Sample { dts: 0, cts: 0, duration: 1, keyframe: true, data: data.into() };
    cmaf::writer::chunk(cmaf::writer::Lead::Chunk, 1, time, &[sample]).unwrap()
}

pub fn part_bytes(track: &str, at: Position, letter: Letter) -> Bytes {
    media(&format!("{track}/{}{letter}.{}", at.msn, at.part), u64::from(at.part), 0)
}

pub fn segment_bytes(track: &str, msn: u64, letter: Letter) -> Bytes {
    let parts = (0..grid().parts()).map(|part| part_bytes(track, Position { msn, part }, letter));
    parts.flat_map(|b| b.to_vec()).collect()
}

/// A good part; at 25 frames a second audio's and video's timing are the same.
pub fn part_meta(at: Position) -> Meta {
    let grid = grid();
    Meta {
        start: grid.part_start(at),
        duration: grid.part(),
        independent: at.part == 0,
        init: init(0).0,
        last: at.part + 1 == grid.parts(),
        encoded_at_us: over(at).0,
        defects: vec![],
        protection: None,
    }
}

pub fn segment_meta(msn: u64) -> Meta {
    let first = part_meta(Position { msn, part: 0 });
    Meta { duration: grid().segment(), last: true, ..first }
}

pub fn with(meta: Meta, defects: &[Defect]) -> Meta {
    Meta { defects: defects.to_vec(), ..meta }
}

/// When a part is over at the venue.
pub fn over(at: Position) -> Utc {
    EPOCH.plus(grid().part_start(Position { part: at.part + 1, ..at }))
}

pub fn at(msn: u64, part: u32) -> Position {
    Position { msn, part }
}

pub fn later(at: Utc, ms: i64) -> Utc {
    Utc(at.0 + ms * 1_000)
}

pub fn hour() -> Ticks {
    Ticks(3_600 * 90_000)
}
