//! Some seconds of a match on air, to be published again at other times.

use std::time::Duration;

use anyhow::Context;
use bytes::Bytes;
use hls::read;
use loadgen::http::Client;
use loadgen::object::timescale;
use loadgen::url::resolve;
use timeline::name::{InitId, Kind, Object, Token};
use timeline::programme::Programme;

use crate::air::Air;
use crate::http::{get, until};

/// For each track to list a whole segment with all its parts.
const LISTED_MAX: Duration = Duration::from_secs(20);

/// A programme, and recent segments of each of its tracks.
pub(crate) struct Recording {
    /// As it was announced.
    pub(crate) programme: Programme,
    /// In the programme's order.
    pub(crate) tracks: Vec<Recorded>,
}

/// One track.
pub(crate) struct Recorded {
    /// Its name.
    pub(crate) name: Token,
    /// Of its media.
    pub(crate) timescale: i64,
    /// Its init segment's name.
    pub(crate) init_id: InitId,
    /// And bytes.
    pub(crate) init: Bytes,
    /// Whole segments in parts.
    pub(crate) segments: Vec<Vec<Part>>,
}

/// One part.
#[derive(Clone)]
pub(crate) struct Part {
    /// As it was published.
    pub(crate) bytes: Bytes,
    /// It begins with a key frame, or is sound.
    pub(crate) independent: bool,
}

/// Takes what the origin lists now.
pub(crate) async fn record(air: &Air, client: &Client) -> anyhow::Result<Recording> {
    let mut tracks = Vec::new();
    for track in &air.programme.tracks {
        let recorded = recorded(&air.origin, &track.name, air.programme.grid.parts() as usize, client);
        tracks.push(recorded.await.with_context(|| format!("recording {}", track.name))?);
    }
    Ok(Recording { programme: air.programme.clone(), tracks })
}

async fn recorded(origin: &str, name: &Token, parts: usize, client: &Client) -> anyhow::Result<Recorded> {
    let url = format!("{origin}/hls/{name}.m3u8");
    let whole = |s: &read::Segment| !s.gap && s.parts.len() == parts && s.parts.iter().all(|p| !p.gap);
    let (listed, map) = until("a whole segment is listed in parts", LISTED_MAX, async || {
        let list = read::playlist(&String::from_utf8_lossy(&get(client, &url).await?))?;
        let map = list.segments.last().and_then(|s| s.head.map.clone());
        let listed: Vec<_> = list.segments.into_iter().filter(whole).collect();
        Ok(map.filter(|_| !listed.is_empty()).map(|map| (listed, map)))
    })
    .await?;
    let init_url = resolve(&url, &map);
    let object: Object =
        init_url.strip_prefix(&format!("{origin}/")).context("an init segment elsewhere")?.parse()?;
    let Kind::Init(init_id) = object.kind else { anyhow::bail!("{init_url} is no init segment") };
    let init = get(client, &init_url).await?;
    let timescale = i64::from(timescale(&init).map_err(anyhow::Error::msg)?);
    let mut segments = Vec::new();
    for segment in listed.iter().filter(|s| s.head.map.as_ref() == Some(&map)) {
        let mut taken = Vec::new();
        for part in &segment.parts {
            taken.push(Part {
                bytes: get(client, &resolve(&url, &part.uri)).await?,
                independent: part.independent,
            });
        }
        segments.push(taken);
    }
    anyhow::ensure!(!segments.is_empty(), "no segment decodes with {map}");
    Ok(Recorded { name: name.clone(), timescale, init_id, init, segments })
}

impl Part {
    /// The same media at another time: its `tfdt` (ISO/IEC 14496-12, 8.8.12, version 1) is `decode_time`.
    pub(crate) fn stamped(&self, decode_time: u64) -> anyhow::Result<Bytes> {
        let mut bytes = self.bytes.to_vec();
        // In the moof, which is before all media.
        let name = bytes.windows(4).position(|w| w == b"tfdt").context("a part without tfdt")?;
        anyhow::ensure!(bytes.get(name + 4) == Some(&1), "a tfdt of 32 bits");
        let time = bytes.get_mut(name + 8..name + 16).context("a part that breaks off in its tfdt")?;
        time.copy_from_slice(&decode_time.to_be_bytes());
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_stamped_anew() {
        let part = |time: u64| {
            let tfdt = [&20u32.to_be_bytes()[..], b"tfdt", &[1, 0, 0, 0], &time.to_be_bytes()].concat();
            let traf = [&28u32.to_be_bytes()[..], b"traf", &tfdt].concat();
            [&36u32.to_be_bytes()[..], b"moof", &traf, &9u32.to_be_bytes(), b"mdat", b"x"].concat()
        };
        let recorded = Part { bytes: part(7).into(), independent: true };
        let stamped = recorded.stamped(1 << 40).unwrap();
        assert_eq!(stamped, part(1 << 40));
        assert_eq!(loadgen::object::decode_time(&stamped), Ok(1 << 40));
        assert!(Part { bytes: Bytes::from_static(b"moof"), independent: true }.stamped(0).is_err());
    }
}
