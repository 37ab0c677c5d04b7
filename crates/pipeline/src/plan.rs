//! What both pipelines of a programme must agree on before they make the first frame: how it is cut and
//! which tracks there are. The first to see the feed writes it, the other reads it.

use std::collections::HashSet;
use std::str::FromStr;

use drm::Class;
use serde::{Deserialize, Serialize};
use timeline::name::Token;
use timeline::programme::{Kind, Track};
use timeline::{FrameRate, Grid};

use crate::Error;
use crate::probe::Probe;

/// The rate that a feed is converted to when it has none that the grid knows.
const FALLBACK_RATE: FrameRate = FrameRate { num: 25, den: 1 };
/// VBV buffer, as a share of a second at the rung's rate: half a second lets a keyframe be several times an
/// ordinary frame and still bounds what a segment can need.
const VBV_SECONDS: f64 = 0.5;
/// Bits a second that boxes add to a track: about 330 bytes a part.
const CONTAINER_BPS: u64 = 10_000;
/// AAC's bit reservoir: 6,144 bits a channel (ISO/IEC 14496-3, 4.5.3.1) may be spent on top of the rate.
const AAC_RESERVOIR_BITS: f64 = 6_144.0 * 2.0;
/// Languages that one programme carries; the ladder is encoded once, each language costs about 0.02 of a core.
pub const LANGUAGES_MAX: usize = 16;

/// The agreed plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// How the programme is cut.
    pub grid: Grid,
    /// The ladder, best first.
    pub video: Vec<Rung>,
    /// The languages, in the feed's order.
    pub audio: Vec<Language>,
}

/// One video rendition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Track name, such as `v720`.
    pub name: Token,
    /// In pixels, even.
    pub width: u32,
    /// In pixels, even.
    pub height: u32,
    /// Encoder's target and its VBV rate.
    pub kbps: u32,
}

/// One audio rendition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// Track name: the language's tag, with a number where two share it.
    pub name: Token,
    /// Which of the feed's audio streams, from 0.
    pub stream: u32,
    /// BCP 47.
    pub language: String,
    /// For people, in that language.
    pub label: String,
    /// Encoder's target.
    pub kbps: u32,
}

/// The wished-for ladder: `height@kbps,…`. Height is of the shorter side, so it fits portrait feeds as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder(pub Vec<(u32, u32)>);

impl FromStr for Ladder {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Ladder(s.to_owned());
        let mut rungs = Vec::new();
        for rung in s.split(',') {
            let (height, kbps) = rung.trim().split_once('@').ok_or_else(bad)?;
            let (height, kbps) = (height.parse().map_err(|_| bad())?, kbps.parse().map_err(|_| bad())?);
            if !(64..=4320).contains(&height) || !(50..=100_000).contains(&kbps) {
                return Err(bad());
            }
            rungs.push((height, kbps));
        }
        rungs.sort_unstable_by(|a, b| b.cmp(a));
        rungs.dedup_by_key(|r| r.0);
        Ok(Ladder(rungs))
    }
}

impl Rung {
    /// VBV buffer in kilobits.
    pub fn vbv_kbits(&self) -> u32 {
        (f64::from(self.kbps) * VBV_SECONDS) as u32
    }
}

impl Plan {
    /// The plan for a feed: rungs no larger than the feed, on the grid of its frame rate.
    pub fn for_feed(feed: &Probe, ladder: &Ladder, audio_kbps: u32) -> Result<Plan, Error> {
        let grid = Grid::for_frame_rate(feed.frame_rate).or_else(|_| Grid::for_frame_rate(FALLBACK_RATE))?;
        let short = feed.width.min(feed.height);
        let mut rungs: Vec<_> = ladder.0.iter().copied().filter(|(height, _)| *height <= short).collect();
        if rungs.is_empty() {
            // The feed is smaller than the smallest rung: one rendition of its own size.
            rungs.extend(ladder.0.last().map(|(_, kbps)| (short, *kbps)));
        }
        let video =
            rungs.into_iter().map(|(height, kbps)| rung(feed, height, kbps)).collect::<Result<_, _>>()?;
        let mut names = HashSet::new();
        let mut audio = Vec::new();
        for (stream, tag) in feed.languages.iter().enumerate().take(LANGUAGES_MAX) {
            let ts::Language { tag: language, label } = ts::Language::of(tag.as_deref());
            let mut name = language.to_ascii_lowercase();
            if !names.insert(name.clone()) {
                name = format!("{name}-{}", stream + 1);
                names.insert(name.clone());
            }
            audio.push(Language {
                name: name.parse()?,
                stream: stream as u32,
                language,
                label,
                kbps: audio_kbps,
            });
        }
        Ok(Plan { grid, video, audio })
    }

    /// Number of tracks.
    pub fn tracks(&self) -> usize {
        self.video.len() + self.audio.len()
    }

    /// Whose key a track has.
    pub fn class(&self, track: usize) -> Class {
        self.video.get(track).map_or(Class::Audio, |rung| Class::of_picture(rung.width, rung.height))
    }

    /// What the origin is told of each track, given the codecs that the encoder chose (video first).
    pub fn announce(&self, codecs: &[String]) -> Vec<Track> {
        let seconds = self.grid.segment().seconds();
        let video = self.video.iter().map(|r| {
            let bps = f64::from(r.kbps) * 1_000.0;
            Track {
                name: r.name.clone(),
                codecs: String::new(),
                // In any window of T seconds a VBV lets through at most rate × T + buffer.
                peak_bps: (bps + bps * VBV_SECONDS / seconds).ceil() as u64 + CONTAINER_BPS,
                average_bps: bps as u64 + CONTAINER_BPS / 2,
                kind: Kind::Video { width: r.width, height: r.height },
            }
        });
        let audio = self.audio.iter().map(|l| {
            let bps = f64::from(l.kbps) * 1_000.0;
            Track {
                name: l.name.clone(),
                codecs: String::new(),
                peak_bps: (bps + AAC_RESERVOIR_BITS / seconds).ceil() as u64 + CONTAINER_BPS,
                average_bps: bps as u64 + CONTAINER_BPS / 2,
                kind: Kind::Audio { language: l.language.clone(), label: l.label.clone(), channels: 2 },
            }
        });
        video.chain(audio).zip(codecs).map(|(t, c)| Track { codecs: c.clone(), ..t }).collect()
    }
}

fn rung(feed: &Probe, short: u32, kbps: u32) -> Result<Rung, Error> {
    let (w, h) = (f64::from(feed.width) * feed.pixel_aspect, f64::from(feed.height));
    let scale = f64::from(short) / w.min(h);
    let even = |x: f64| ((x * scale / 2.0).round() as u32).max(1) * 2;
    Ok(Rung { name: format!("v{short}").parse()?, width: even(w), height: even(h), kbps })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(width: u32, height: u32, rate: &str) -> Probe {
        Probe {
            width,
            height,
            pixel_aspect: 1.0,
            frame_rate: rate.parse().unwrap(),
            languages: vec![Some("eng".into()), Some("hin".into()), Some("eng".into()), None],
        }
    }

    #[test]
    fn ladder_fits_the_feed() {
        let ladder: Ladder = "360@800,720@2500,540@1400".parse().unwrap();
        let sizes = |w, h| {
            let plan = Plan::for_feed(&feed(w, h, "25"), &ladder, 96).unwrap();
            plan.video.iter().map(|r| (r.width, r.height)).collect::<Vec<_>>()
        };
        assert_eq!(sizes(1280, 720), [(1280, 720), (960, 540), (640, 360)]);
        assert_eq!(sizes(720, 1080), [(720, 1080), (540, 810), (360, 540)]);
        assert_eq!(sizes(320, 240), [(320, 240)]);
    }

    #[test]
    fn tracks_have_names_of_their_own() {
        let ladder = "360@800".parse().unwrap();
        let plan = Plan::for_feed(&feed(640, 360, "17"), &ladder, 96).unwrap();
        let names: Vec<_> = plan.audio.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["en", "hi", "en-3", "und"]);
        assert_eq!(plan.grid.frame_rate, FALLBACK_RATE);
    }

    #[test]
    fn ladder_says_what_it_wants() {
        for bad in ["", "720", "720@", "720@0", "x@800", "9000@800"] {
            let error = bad.parse::<Ladder>().unwrap_err().to_string();
            assert!(error.contains("720@2500,360@800"), "{error}");
        }
    }
}
