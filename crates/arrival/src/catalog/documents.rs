//! What is kept of each thing. Small; every instant is UTC in milliseconds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use timeline::Utc;

/// A match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// As it stands in URLs.
    pub id: String,
    /// For people.
    pub title: String,
    /// For people of other languages: BCP 47 tag to title.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub titles: BTreeMap<String, String>,
    /// `cricket`, `football`; empty when it is not scored.
    #[serde(default)]
    pub sport: String,
    /// What products are sold by.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub league: String,
    /// Home or first-named, then the other.
    #[serde(default = "sides")]
    pub teams: [String; 2],
    /// Where it is in its life.
    pub status: Status,
    /// When it begins or began.
    pub start_ms: i64,
    /// Seconds between happenings that are usual while this match is played, if other than its sport's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cadence_s: Option<f32>,
    /// The region that its score lives in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_region: Option<String>,
    /// How long its events can be had again, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_ttl_s: Option<u32>,
    /// The instant that MSN 0 begins, if other than this door's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Utc>,
    /// Its media are encrypted: players are given a licence URL.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub encrypted: bool,
    /// Tags of the languages that are spoken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
}

fn sides() -> [String; 2] {
    ["Home", "Away"].map(str::to_owned)
}

/// Where a match is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not yet.
    Scheduled,
    /// On air.
    Live,
    /// Over.
    Final,
    /// Another day.
    Postponed,
}

/// One finished picture of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programme {
    /// Of the document: matches may have programmes of the same name.
    pub id: String,
    /// Whose picture.
    pub r#match: String,
    /// As it stands in URLs.
    pub programme: String,
    /// For people.
    pub title: String,
    /// Another angle, which not every plan has. One that is not is what everybody gets.
    #[serde(default)]
    pub angle: bool,
}

/// A language of commentary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// BCP 47 tag.
    pub id: String,
    /// In that language, for people.
    pub name: String,
}

/// Where and when matches may be shown. What no right covers is not shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Right {
    /// Of the document.
    pub id: String,
    /// Which.
    pub matches: Vec<String>,
    /// ISO 3166-1 codes in capitals; none: everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub countries: Option<Vec<String>>,
    /// From then on; none: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// Not from then on; none: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
}

/// Where matches must not be shown, whatever the rights say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blackout {
    /// Of the document.
    pub id: String,
    /// For people: "Greater London".
    pub name: String,
    /// Which.
    pub matches: Vec<String>,
    /// Where.
    pub areas: Vec<Area>,
    /// From then on; none: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// Not from then on; none: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
}

/// A country, or, if any list has something, those parts of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// ISO 3166-1 code in capitals.
    pub country: String,
    /// The second half of ISO 3166-2 codes: `TN` of `IN-TN`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subdivisions: Vec<String>,
    /// Numbers of geonames.org, as MaxMind's files have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cities: Vec<u32>,
    /// Beginnings of postcodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub postcodes: Vec<String>,
    /// Corners of an outline as latitude and longitude in degrees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polygon: Vec<[f64; 2]>,
}

/// What a subscription comes with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Of the document.
    pub id: String,
    /// For people.
    pub name: String,
    /// Of somebody with several plans the highest counts.
    pub tier: u8,
    /// Streams at once; none: as many as they like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<u8>,
    /// Lines of the largest picture; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_max: Option<u16>,
    /// Breaks have advertisements.
    #[serde(default)]
    pub ads: bool,
    /// Other angles are open.
    #[serde(default)]
    pub angles: bool,
    /// Tags of the languages that are open; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<String>>,
}

/// What is sold: a subscription, a day pass, one match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Of the document.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it comes with.
    pub plan: String,
    /// Everybody has it, without buying it or logging in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// The matches that it opens; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
    /// The leagues that it opens; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leagues: Option<Vec<String>>,
}

impl Product {
    /// It opens this match.
    pub fn opens(&self, one: &Match) -> bool {
        let has = |list: &Option<Vec<String>>, name: &str| {
            list.as_ref().is_none_or(|l| l.iter().any(|n| n == name))
        };
        has(&self.matches, &one.id) && has(&self.leagues, &one.league)
    }
}
