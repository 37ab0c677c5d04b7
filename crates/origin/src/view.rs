//! One version of a track's playlist, shared by all who ask for it.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use hls::Media;
use hls::flavour::FLAVOURS;
use hls::request::End;
use listen::coding::Coding;
use timeline::{Position, Utc};

/// One version of a playlist. Its texts are made when first asked for, once.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) version: u64,
    media: Media,
    /// In the clear flavours do not differ.
    encrypted: bool,
    made: Utc,
    /// By flavour, by whether it is a delta update, and by coding.
    texts: [[[OnceLock<Bytes>; Coding::COUNT]; 2]; FLAVOURS.len()],
}

impl View {
    pub(crate) fn new(version: u64, media: Media, made: Utc) -> View {
        View { version, encrypted: media.encrypted(), media, made, texts: Default::default() }
    }

    /// Whether there is anything to list.
    pub(crate) fn begun(&self) -> bool {
        self.media.last().is_some()
    }

    pub(crate) fn media(&self) -> &Media {
        &self.media
    }

    /// What a request is judged against; an empty playlist ends where the clock is.
    pub(crate) fn end(&self, now: Utc) -> End {
        if self.begun() {
            return self.media.judged_end();
        }
        let on_air = self.media.grid.position(now.since(self.media.epoch));
        End { next: on_air.unwrap_or(Position { msn: 0, part: 0 }), ended: self.media.ended }
    }

    /// Its text in that form; the whole playlist or a delta update.
    pub(crate) fn text(&self, skip: bool, flavour: usize, coding: Coding) -> &Bytes {
        let flavour = if self.encrypted { flavour.min(FLAVOURS.len() - 1) } else { 0 };
        let texts = &self.texts[flavour][usize::from(skip)];
        let plain = || {
            texts[Coding::Plain as usize]
                .get_or_init(|| hls::render(&self.media, skip, &FLAVOURS[flavour]).into())
        };
        match coding {
            Coding::Plain => plain(),
            coding => texts[coding as usize].get_or_init(|| coding.encode(plain())),
        }
    }

    /// How long an answer that nobody was made to wait for may be kept: until the next part is due, and at
    /// most half a target duration (rfc8216bis appendix B.1).
    pub(crate) fn lifetime(&self, now: Utc) -> Duration {
        let half = Duration::from_millis(self.media.grid.target_duration() * 500);
        if self.media.ended {
            return half;
        }
        let due = self.made.plus(self.media.grid.part());
        let left = u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0);
        Duration::from_micros(left).clamp(Duration::from_millis(1), half)
    }
}
