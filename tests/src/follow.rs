//! Follows every track of a match by its playlists, and says what is wrong: what rfc8216bis forbids in one and
//! between two, an MSN or PDT that steps back or skips, one that is not the grid's.

use std::collections::BTreeMap;
use std::time::Duration;

use hls::read::Playlist;
use hls::{check, read};
use timeline::{Grid, Utc};

use crate::web::{Web, resolve};

/// About twice a segment, so that no state of a playlist's finished segments is missed.
const EVERY: Duration = Duration::from_millis(900);

/// What was seen of all tracks.
#[derive(Debug, Default)]
pub struct Seen {
    /// What is wrong, in words.
    pub faults: Vec<String>,
    /// Playlists read.
    pub playlists: usize,
    /// By track: MSN of the first and last segment seen, and how many whole segments are gaps.
    pub tracks: BTreeMap<String, Span>,
}

/// What was seen of one track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// MSN of the first segment.
    pub first: u64,
    /// MSN of the last segment.
    pub last: u64,
    /// Segments marked `EXT-X-GAP`.
    pub gaps: usize,
    /// Discontinuities before segments in the last playlist, and those that left it.
    pub discontinuities: u64,
}

/// URLs of the media playlists that a multivariant playlist names, by track.
pub async fn tracks(web: &Web, master: &str) -> Vec<String> {
    let list = read::multivariant(&web.text(master).await).unwrap();
    assert_eq!(check::multivariant(&list), []);
    let audio = list.audio.iter().filter_map(|a| a.uri.clone());
    let uris = list.variants.iter().map(|v| v.uri.clone()).chain(audio);
    uris.map(|uri| resolve(master, &uri)).collect()
}

/// Reads every track's playlist until `stop`.
pub async fn follow(web: &Web, master: &str, epoch: Utc, grid: Grid, stop: impl Future<Output = ()>) -> Seen {
    let mut seen = Seen::default();
    let urls = tracks(web, master).await;
    let mut last: BTreeMap<&str, Playlist> = BTreeMap::new();
    tokio::pin!(stop);
    loop {
        for url in &urls {
            match web.try_get(url).await {
                Ok(answer) if answer.status == 200 => match read::playlist(&answer.text()) {
                    Ok(list) => {
                        seen.take(url, last.get(url.as_str()), &list, epoch, grid);
                        last.insert(url, list);
                    }
                    Err(error) => seen.faults.push(format!("{url}: {error}")),
                },
                Ok(answer) => seen.faults.push(format!("{url}: {} {}", answer.status, answer.text())),
                Err(error) => seen.faults.push(error),
            }
        }
        tokio::select! {
            () = &mut stop => return seen,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

impl Seen {
    /// Takes the next playlist of a track.
    pub fn take(&mut self, url: &str, before: Option<&Playlist>, list: &Playlist, epoch: Utc, grid: Grid) {
        self.playlists += 1;
        let mut found: Vec<String> = check::one(list).iter().map(ToString::to_string).collect();
        found.extend(before.iter().flat_map(|before| check::two(before, list)).map(|v| v.to_string()));
        for segment in &list.segments {
            let starts = epoch.plus(grid.segment_start(segment.msn)).to_string();
            let says = segment.head.pdt.map(|pdt| pdt.to_string());
            if says.as_deref() != Some(&starts) {
                found.push(format!("segment {} begins at {starts}, and its PDT is {says:?}", segment.msn));
            }
        }
        if let Some(before) = before
            && list.media_sequence > before.next_segment()
        {
            found.push(format!(
                "segments {} to {} were never listed",
                before.next_segment(),
                list.media_sequence
            ));
        }
        self.faults.extend(found.into_iter().map(|what| format!("{url}: {what}")));
        let Some(first) = list.segments.first() else { return };
        let name = url.rsplit('/').next().unwrap_or(url).trim_end_matches(".m3u8").to_owned();
        let now = Span {
            first: first.msn,
            last: list.next_segment() - 1,
            gaps: list.segments.iter().filter(|s| s.gap).count(),
            discontinuities: list.discontinuity_sequence
                + list.segments.iter().filter(|s| s.head.discontinuity).count() as u64,
        };
        let span = self.tracks.entry(name).or_insert(now);
        *span = Span { first: span.first, ..now };
    }
}
