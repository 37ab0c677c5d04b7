//! What is looked at before an object is taken. One bad timestamp at this door would be a playlist that
//! players cannot leave again.

use sha2::{Digest, Sha256};
use timeline::grid::AAC_FRAME;
use timeline::name::InitId;
use timeline::object::Meta;
use timeline::programme::{Kind, Programme};
use timeline::{Grid, Position, Ticks};

use super::expect::Cut;
use super::limits::TRACKS_MAX;
use super::object::flawed;
use super::refusal::Refusal;

/// Whether a programme can be.
pub fn programme(programme: &Programme) -> Result<(), Refusal> {
    let no = |why: String| Err(Refusal::Programme(why));
    if Grid::for_frame_rate(programme.grid.frame_rate).ok() != Some(programme.grid) {
        return no(format!(
            "{} frames a second are not cut into segments of {} and parts of {}",
            programme.grid.frame_rate, programme.grid.frames_per_segment, programme.grid.frames_per_part
        ));
    }
    if programme.tracks.is_empty() || programme.tracks.len() > TRACKS_MAX {
        return no(format!("it has {} tracks; from 1 to {TRACKS_MAX} are taken", programme.tracks.len()));
    }
    for (i, track) in programme.tracks.iter().enumerate() {
        if programme.tracks[..i].iter().any(|t| t.name == track.name) {
            return no(format!("two tracks are called '{}'", track.name));
        }
        if let Kind::Video { width: 0, .. }
        | Kind::Video { height: 0, .. }
        | Kind::Audio { channels: 0, .. } = track.kind
        {
            return no(format!("track '{}' has no picture or sound", track.name));
        }
    }
    Ok(())
}

/// How a second announcement differs from the first.
pub fn difference(known: &Programme, said: &Programme) -> Option<&'static str> {
    if known.epoch != said.epoch {
        Some("epoch")
    } else if known.grid != said.grid {
        Some("grid")
    } else if known.tracks != said.tracks {
        Some("list of tracks")
    } else {
        None
    }
}

/// Whether a part's timing is its name's.
pub fn part(cut: &Cut, at: Position, meta: &Meta) -> Result<(), Refusal> {
    if at.part >= cut.grid.parts() {
        return Err(Refusal::NoSuchPart { part: at.part, parts: cut.grid.parts() });
    }
    // No player forgives a part over the part target (rfc8216bis 4.4.4.9).
    timing(cut, at, meta, cut.grid.part_target(), cut.part(at).duration)
}

/// Whether a segment's timing is its name's.
pub fn segment(cut: &Cut, msn: u64, meta: &Meta) -> Result<(), Refusal> {
    let span = cut.segment(msn);
    timing(cut, Position { msn, part: 0 }, meta, span.duration + AAC_FRAME, span.duration)
}

fn timing(cut: &Cut, at: Position, meta: &Meta, max: Ticks, length: Ticks) -> Result<(), Refusal> {
    let expected = cut.part(at).start;
    let off = meta.start - expected;
    let fits = if flawed(meta) {
        // Its first frames can be what is missing.
        (0..length.0).contains(&off.0)
    } else if cut.audio {
        off.0.abs() <= AAC_FRAME.0
    } else {
        off.0 == 0
    };
    if !fits {
        return Err(Refusal::Start { start: meta.start, at, expected });
    }
    if meta.duration.0 <= 0 || meta.duration > max {
        return Err(Refusal::Duration { duration: meta.duration, max });
    }
    Ok(())
}

/// Whether these bytes hold together as a part or segment, and begin with a keyframe if that is said of them.
pub fn media(meta: &Meta, bytes: &[u8]) -> Result<(), Refusal> {
    let found = cmaf::inspect(bytes).map_err(|e| Refusal::Media(e.to_string()))?;
    if meta.independent && !found.starts_with_sync {
        return Err(Refusal::Media("it is called independent and does not begin with a keyframe".to_owned()));
    }
    Ok(())
}

/// Whether these bytes are the init segment of that name.
pub fn init(id: InitId, bytes: &[u8]) -> Result<(), Refusal> {
    if first_box(bytes) != Some(b"ftyp") {
        return Err(Refusal::Bytes("an init segment, which begins with an ftyp box"));
    }
    let hash = Sha256::digest(bytes);
    let own = InitId(u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]));
    if own == id { Ok(()) } else { Err(Refusal::InitName(own)) }
}

/// The type of the first box, if its size is possible (ISO/IEC 14496-12, 4.2).
fn first_box(bytes: &[u8]) -> Option<&[u8; 4]> {
    let size = u32::from_be_bytes(*bytes.first_chunk()?) as usize;
    let name = bytes.get(4..8)?.first_chunk()?;
    (8..=bytes.len()).contains(&size).then_some(name)
}
