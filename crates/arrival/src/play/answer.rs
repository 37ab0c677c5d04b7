//! What a player is given.

use std::collections::BTreeMap;

use serde::Serialize;
use timeline::{FrameRate, Grid, Utc};

use super::Advice;
use crate::catalog::{Plan, Show};

/// What a player needs.
#[derive(Serialize)]
pub(crate) struct Answer<'a> {
    pub(crate) r#match: &'a str,
    pub(crate) title: &'a str,
    pub(crate) programme: &'a str,
    pub(crate) run: String,
    pub(crate) epoch: Utc,
    /// None for a match without a picture.
    pub(crate) playlist: Option<String>,
    pub(crate) grid: Option<Lengths>,
    /// None when it is not scored.
    pub(crate) scores: Option<Scores>,
    /// The session that passes, licences and logs have.
    pub(crate) session: &'a str,
    /// How to keep the slot; none: it needs none.
    pub(crate) stream: Option<Stream>,
    /// None: it is not encrypted.
    pub(crate) licence: Option<Licence>,
    /// None: nobody listens.
    pub(crate) telemetry: Option<String>,
    pub(crate) steering: Option<String>,
    pub(crate) plan: Allowed<'a>,
    /// The other angles that the plan has.
    pub(crate) angles: Vec<Angle<'a>>,
    /// Let in without a check, for some minutes.
    pub(crate) provisional: bool,
    /// UTC, milliseconds: by then the player must ask to play again, whether its pass was renewed or not.
    pub(crate) until_ms: i64,
    pub(crate) advice: Advice,
}

/// Where the score is.
#[derive(Serialize)]
pub(crate) struct Scores {
    /// `ws://host:port/v1/stream`.
    pub(crate) stream: String,
    /// `http://host:port`.
    pub(crate) base: String,
    /// A user token, good for a quarter of an hour.
    pub(crate) token: String,
}

/// Where an encrypted match's keys are.
#[derive(Serialize)]
pub(crate) struct Licence {
    /// By DRM system, those that have any: `clearkey`, `widevine`, `playready`, `fairplay`.
    pub(crate) systems: BTreeMap<&'static str, String>,
    /// Lines of the best picture for which ClearKey players get keys; none: all.
    pub(crate) software_height_max: Option<u16>,
}

/// A slot.
#[derive(Serialize)]
pub(crate) struct Stream {
    pub(crate) id: String,
    /// POST here so often; DELETE the stream when it stops.
    pub(crate) heartbeat: String,
    pub(crate) every_s: u32,
}

/// What the plan allows.
#[derive(Serialize)]
pub(crate) struct Allowed<'a> {
    id: &'a str,
    name: &'a str,
    height_max: Option<u16>,
    ads: bool,
    devices: Option<u8>,
    /// Tags, of those that are spoken.
    languages: Vec<&'a str>,
}

impl<'a> Allowed<'a> {
    pub(crate) fn of(plan: &'a Plan, show: &'a Show) -> Allowed<'a> {
        let open = |tag: &&String| plan.languages.as_ref().is_none_or(|l| l.contains(*tag));
        Allowed {
            id: &plan.id,
            name: &plan.name,
            height_max: plan.height_max,
            ads: plan.ads,
            devices: plan.devices,
            languages: show.r#match.languages.iter().filter(open).map(String::as_str).collect(),
        }
    }
}

/// Another picture of the match.
#[derive(Serialize)]
pub(crate) struct Angle<'a> {
    pub(crate) programme: &'a str,
    pub(crate) title: &'a str,
    pub(crate) playlist: String,
}

/// Lengths that a player plans its hold-back with. They are the grid's at 25 frames a second; at other rates
/// they differ by less than a tenth, and the playlist says what holds.
#[derive(Serialize)]
pub(crate) struct Lengths {
    segment_ms: f64,
    part_ms: f64,
}

impl Lengths {
    pub(crate) fn usual() -> Option<Lengths> {
        let grid = Grid::for_frame_rate(FrameRate { num: 25, den: 1 }).ok()?;
        Some(Lengths {
            segment_ms: grid.segment().seconds() * 1_000.0,
            part_ms: grid.part().seconds() * 1_000.0,
        })
    }
}
