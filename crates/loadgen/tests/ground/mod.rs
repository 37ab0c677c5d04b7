//! An origin as a function of time, made of the `hls` room: what it would answer at any instant of a match
//! that goes as told.

use bytes::Bytes;
use hls::{Directives, Hint, Media, Open, Part, Report, Verdict};
use loadgen::player::Answer;
use timeline::name::{InitId, Kind, Letter, Object, Token};
use timeline::{Grid, Position, Ticks, Utc};

/// In microseconds.
pub(crate) const MS: i64 = 1_000;

/// How a match goes.
pub(crate) struct Ground {
    pub(crate) grid: Grid,
    pub(crate) epoch: Utc,
    /// Oldest segment kept.
    pub(crate) first: u64,
    /// When a part is listed, after its last frame.
    pub(crate) delay_us: fn(Position) -> i64,
    /// Parts that never come; they are listed as gaps when they would have been, 200 ms late.
    pub(crate) lost: fn(Position) -> bool,
    /// The last segment.
    pub(crate) last: u64,
    /// Added to decode times, in microseconds.
    pub(crate) drift_us: fn(u64) -> i64,
    /// Changes a playlist's text.
    pub(crate) spoil: fn(String, i64) -> String,
}

pub(crate) fn token(s: &str) -> Token {
    s.parse().unwrap()
}

impl Default for Ground {
    fn default() -> Self {
        Ground {
            grid: Grid::for_frame_rate("25".parse().unwrap()).unwrap(),
            epoch: "2026-11-29T14:00:00Z".parse().unwrap(),
            first: 100,
            delay_us: |_| 40 * MS,
            lost: |_| false,
            last: u64::MAX,
            drift_us: |_| 0,
            spoil: |text, _| text,
        }
    }
}

impl Ground {
    fn listed_at(&self, at: Position) -> i64 {
        let late = if (self.lost)(at) { 200 * MS } else { 0 };
        self.epoch.plus(self.grid.part_start(self.grid.next(at))).0 + (self.delay_us)(at) + late
    }

    /// The playlist at an instant.
    fn media(&self, track: &str, now: i64) -> Media {
        let mut media = Media::new(self.grid, self.epoch, token(track));
        media.reports = vec![Report { track: token("other"), last: Position { msn: self.first, part: 0 } }];
        'all: for msn in self.first..=self.last {
            let mut parts = Vec::new();
            let (start, init) = (self.grid.segment_start(msn), InitId(1));
            for part in 0..self.grid.parts() {
                let at = Position { msn, part };
                if self.listed_at(at) > now {
                    let open = Open { msn, start, init, key: None, discontinuity: false, parts };
                    media.open = Some(open).filter(|o| !o.parts.is_empty());
                    break 'all;
                }
                let (gap, duration) = ((self.lost)(at), self.grid.part());
                parts.push(Part { index: part, letter: Letter::A, duration, independent: part == 0, gap });
            }
            let source = if parts.iter().any(|p| p.gap) { None } else { Some(Letter::A) };
            let open = Open { msn, start, init, key: None, discontinuity: false, parts };
            media.segments.push_back(open.close(self.grid.segment(), source));
            media.ended = msn == self.last;
        }
        media.hint = Some(Hint { at: media.next(), letter: Letter::A });
        media
    }

    /// The answer to a request, if it can be given at that instant.
    pub(crate) fn answer(&self, url: &str, now: i64) -> Option<Answer> {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let path = path.strip_prefix("http://ground/main/").unwrap();
        if path == "hls/master.m3u8" {
            let text = "#EXTM3U\n\
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"audio\",NAME=\"English\",DEFAULT=YES,AUTOSELECT=YES,URI=\"en.m3u8\"\n\
                #EXT-X-STREAM-INF:BANDWIDTH=9,CODECS=\"avc1.64001F,mp4a.40.2\",RESOLUTION=1280x720,AUDIO=\"audio\"\nv720.m3u8\n";
            return Some(Answer::Body(Bytes::from_static(text.as_bytes())));
        }
        if let Some(track) = path.strip_prefix("hls/").and_then(|p| p.strip_suffix(".m3u8")) {
            let media = self.media(track, now);
            let directives = Directives::parse(query).unwrap();
            return match directives.judge(&media.grid, media.judged_end()) {
                Verdict::Now => {
                    let text =
                        (self.spoil)(hls::render(&media, directives.skip, &hls::flavour::FLAVOURS[0]), now);
                    Some(Answer::Body(Bytes::from(text)))
                }
                Verdict::Wait(_) => None,
                Verdict::BadRequest(_) => Some(Answer::Status(400)),
            };
        }
        let object: Object = path.parse().unwrap();
        let at = match object.kind {
            Kind::Init(_) => return Some(Answer::Body(Bytes::from(init()))),
            Kind::Segment { msn, .. } => Position { msn, part: 0 },
            Kind::Part { msn, part, .. } => Position { msn, part },
        };
        if self.listed_at(at) > now {
            return None;
        }
        let start = self.grid.part_start(at) + Ticks::from_micros((self.drift_us)(at.msn));
        Some(Answer::Body(Bytes::from(media_object(start.0 as u64))))
    }
}

fn boxed(name: &str, inside: &[u8]) -> Vec<u8> {
    [&(inside.len() as u32 + 8).to_be_bytes(), name.as_bytes(), inside].concat()
}

/// With the clock of the grid as its timescale.
fn init() -> Vec<u8> {
    let mdhd = boxed("mdhd", &[&[0; 12][..], &90_000u32.to_be_bytes()].concat());
    boxed("moov", &boxed("trak", &boxed("mdia", &mdhd)))
}

fn media_object(decode_time: u64) -> Vec<u8> {
    let tfdt = boxed("tfdt", &[&[1, 0, 0, 0][..], &decode_time.to_be_bytes()].concat());
    [boxed("moof", &boxed("traf", &tfdt)), boxed("mdat", b"x")].concat()
}
