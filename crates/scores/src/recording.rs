//! A whole match that can be played again: what was said, and how long after the start. The format is described in
//! `docs/recordings.md`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Body, Error, Event, EventId, Sport};

/// The largest file that is read: five days of a Test are below 2 MiB, as our format and as Cricsheet's.
pub const BYTES_MAX: usize = 16 << 20;
/// A Test has about 2,700 deliveries; the longest ever had 5,447 balls.
pub const STATEMENTS_MAX: usize = 20_000;
/// Six days: a Test with its reserve day.
pub const AFTER_MS_MAX: i64 = 6 * 24 * 3_600_000;
/// Who says what a recording says.
const PROVIDER: &str = "recording";
const FORMAT: &str = "pavilion-recording/1";

/// The shipped match, of invented teams: a T20 of 40 minutes.
pub const DEMO: &str = include_str!("../matches/demo.json");
/// A short football match, of invented teams, with a goal that is taken back.
pub const FOOTBALL: &str = include_str!("../matches/football.json");

/// A whole match that can be played again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Of which sport.
    pub sport: Sport,
    /// For people.
    pub title: String,
    /// In the order of the fixture: of football, home and away.
    pub teams: [String; 2],
    /// In the order in which they were said. Who speaks of the same event again corrects what was said before.
    pub statements: Vec<Timed>,
}

/// What was said, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timed {
    /// Milliseconds since the start of the recording.
    pub after_ms: i64,
    /// What.
    pub body: Body,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    format: String,
    sport: Sport,
    title: String,
    teams: [String; 2],
    statements: Vec<Timed>,
}

fn refused(why: impl Into<String>) -> Error {
    Error::Recording(why.into())
}

impl Recording {
    /// Reads our format.
    ///
    /// # Errors
    /// A sentence that says why it is no recording.
    pub fn read(json: &str) -> Result<Recording, Error> {
        if json.len() > BYTES_MAX {
            return Err(refused(format!("it has {} bytes, more than {BYTES_MAX}", json.len())));
        }
        let stored: Stored = serde_json::from_str(json).map_err(|error| refused(error.to_string()))?;
        if stored.format != FORMAT {
            let format = stored.format.escape_debug();
            return Err(refused(format!("its format is `{format}`, and only `{FORMAT}` is known")));
        }
        let Stored { format: _, sport, title, teams, statements } = stored;
        let recording = Recording { sport, title, teams, statements };
        recording.check()?;
        Ok(recording)
    }

    /// Reads Cricsheet's JSON, versions 1.x. A ball takes about 30 s, and a change of overs or innings longer: the file
    /// has no times, and these are made up.
    ///
    /// # Errors
    /// A sentence that says why it is no match.
    pub fn from_cricsheet(json: &str) -> Result<Recording, Error> {
        let recording = crate::cricsheet::import(json)?;
        recording.check()?;
        Ok(recording)
    }

    /// Writes our format, a statement a line.
    pub fn write(&self) -> String {
        let statements: Vec<String> = self.statements.iter().map(json).collect();
        format!(
            "{{\"format\": {}, \"sport\": {}, \"title\": {}, \"teams\": {}, \"statements\": [\n{}\n]}}\n",
            json(&FORMAT),
            json(&self.sport),
            json(&self.title),
            json(&self.teams),
            statements.join(",\n")
        )
    }

    /// Each statement with its venue time, for a match that starts at `start_ms` (UTC, milliseconds) and is played
    /// `speed` times as fast as it was.
    pub fn at(&self, start_ms: i64, speed: f64) -> impl Iterator<Item = (i64, &Body)> {
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        self.statements.iter().map(move |timed| {
            let after_ms = (timed.after_ms as f64 / speed).round() as i64;
            (start_ms.saturating_add(after_ms), &timed.body)
        })
    }

    /// The events that it says, revisions counted, as if ingest had them at once.
    pub fn events(&self, match_id: &str, start_ms: i64, speed: f64) -> Vec<Event> {
        let mut revisions: BTreeMap<EventId, u32> = BTreeMap::new();
        let statements = (1..).zip(self.at(start_ms, speed));
        let event = |(provider_seq, (venue_ms, body)): (u64, (i64, &Body))| {
            let event_id = body.event_id();
            let revision = revisions.entry(event_id).or_default();
            *revision += 1;
            Event {
                match_id: match_id.to_owned(),
                event_id,
                revision: *revision,
                provider_id: PROVIDER.to_owned(),
                provider_seq,
                venue_ms,
                ingest_ms: venue_ms,
                body: body.clone(),
            }
        };
        statements.map(event).collect()
    }

    fn check(&self) -> Result<(), Error> {
        let [home, away] = &self.teams;
        for (what, name) in [("title", &self.title), ("first team", home), ("second team", away)] {
            crate::event::text(what, name).map_err(|error| refused(error.to_string()))?;
        }
        if self.statements.is_empty() {
            return Err(refused("nothing happens in it"));
        }
        if self.statements.len() > STATEMENTS_MAX {
            let len = self.statements.len();
            return Err(refused(format!("it has {len} statements, more than {STATEMENTS_MAX}")));
        }
        let mut before_ms = 0;
        let mut said: BTreeMap<EventId, &Body> = BTreeMap::new();
        for (number, Timed { after_ms, body }) in (1..).zip(&self.statements) {
            let wrong = |why: String| refused(format!("statement {number}: {why}"));
            if *after_ms < before_ms || *after_ms > AFTER_MS_MAX {
                return Err(wrong(format!(
                    "after_ms is {after_ms}, not from {before_ms} (the one before it) to {AFTER_MS_MAX}"
                )));
            }
            before_ms = *after_ms;
            let of_sport = match body {
                Body::Cricket(_) => self.sport == Sport::Cricket,
                Body::Football(_) => self.sport == Sport::Football,
                Body::Withdrawn { .. } => true,
            };
            if !of_sport {
                return Err(wrong("it is of another sport than the recording".to_owned()));
            }
            body.check().map_err(|error| wrong(error.to_string()))?;
            let known = said.insert(body.event_id(), body);
            if known == Some(body) {
                return Err(wrong(
                    "it says again what was said of this event, and corrects nothing".to_owned(),
                ));
            }
            if known.is_none() && matches!(body, Body::Withdrawn { .. }) {
                return Err(wrong("it withdraws what was never said".to_owned()));
            }
        }
        Ok(())
    }
}

/// Our own types have string keys only: writing them cannot fail.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// For fuzzing: whatever is read is written again alike, and folds.
pub fn fuzz(bytes: &[u8]) {
    let Ok(json) = std::str::from_utf8(bytes) else { return };
    let Ok(recording) = Recording::read(json) else { return };
    assert_eq!(Recording::read(&recording.write()).ok().as_ref(), Some(&recording));
    fold(&recording);
}

/// For fuzzing: whatever is imported can be written, read and folded.
pub fn fuzz_cricsheet(bytes: &[u8]) {
    let Ok(json) = std::str::from_utf8(bytes) else { return };
    let Ok(recording) = Recording::from_cricsheet(json) else { return };
    assert_eq!(Recording::read(&recording.write()).ok().as_ref(), Some(&recording));
    fold(&recording);
}

fn fold(recording: &Recording) {
    let mut book = crate::card::Book::new(recording.sport);
    for event in recording.events("fuzz", 0, 1.0) {
        book.take(&event);
        let _ = (book.headline(Some(event.event_id)), book.moment(&event));
    }
    let _ = serde_json::to_string(&book.card(None));
}
