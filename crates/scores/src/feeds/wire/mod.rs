//! Format "wire": a JSON array of items with short names, by place instead of id, without revisions. See
//! `docs/feeds.md`.

mod cricket;
mod football;
mod item;

use bytes::Bytes;
use serde_json::Value;

use self::item::Item;
use super::statement::{Range, Said, Statement, Unreadable};
use crate::cricket::Place;
use crate::{Body, Sport};

/// How it is named in HTTP.
pub const MEDIA_TYPE: &str = "application/vnd.pavilion.wire+json";

/// Items of one array: a provider that was away sends more arrays.
pub const ITEMS_MAX: usize = 1_000;

/// Each item's text, for the dead letters, and what it says.
pub type Items = Vec<(Bytes, Result<Said, Unreadable>)>;

/// Reads an array, item by item: one that is wrong spoils no other.
pub fn read(body: &[u8]) -> Result<Items, Unreadable> {
    let items: Vec<Value> =
        serde_json::from_slice(body).map_err(|error| Unreadable::new(None, error.to_string()))?;
    if items.len() > ITEMS_MAX {
        return Err(Unreadable::new(None, format!("more than {ITEMS_MAX} items")));
    }
    Ok(items.into_iter().map(|item| (Bytes::from(item.to_string()), one(item))).collect())
}

fn one(value: Value) -> Result<Said, Unreadable> {
    let seq = value.get("n").and_then(Value::as_u64).filter(|n| *n > 0);
    if let Some(gone) = value.get("gone") {
        return serde_json::from_value::<Vec<Range>>(gone.clone())
            .map(Said::Gone)
            .map_err(|error| Unreadable::new(seq, error.to_string()));
    }
    let item: Item =
        serde_json::from_value(value).map_err(|error| Unreadable::new(seq, error.to_string()))?;
    let Some(seq) = seq else { return Err(Unreadable::new(None, "numbers are from 1")) };
    let body = body(&item).map_err(|why| Unreadable::new(Some(seq), why))?;
    Ok(Said::Statement(Statement { seq, match_id: item.fx, venue_ms: item.t, revision: None, body }))
}

fn body(item: &Item) -> Result<Body, String> {
    let word = item.ev.as_str();
    if word == "void" {
        let of = item.of.as_deref().ok_or("\"of\" must say what is void")?;
        let event_id = match cricket::place(item, of) {
            Some(place) => place?.id(),
            None => football::id(item, of).ok_or_else(|| format!("no such thing as {of:?} to be void"))??,
        };
        return Ok(Body::Withdrawn { event_id, reason: item.need("why", &item.why)? });
    }
    if let Some(happening) = cricket::read(item) {
        return happening.map(Body::Cricket);
    }
    match football::read(item) {
        Some(happening) => happening.map(Body::Football),
        None => Err(format!("no such thing as {word:?}")),
    }
}

/// Writes an array. `sport`: of the match, which a withdrawn statement does not say.
pub fn write<'a>(sport: Sport, statements: impl IntoIterator<Item = &'a Statement>) -> String {
    let items: Vec<Item> = statements.into_iter().map(|statement| item(sport, statement)).collect();
    // Strings and numbers only: there is nothing that JSON cannot hold.
    serde_json::to_string(&items).unwrap_or_default()
}

/// Says that the statements of these numbers are no longer to be had.
pub fn write_gone(gone: &[Range]) -> String {
    serde_json::json!([{ "gone": gone }]).to_string()
}

fn item(sport: Sport, statement: &Statement) -> Item {
    let mut item = match (&statement.body, sport) {
        (Body::Cricket(happening), _) => cricket::write(happening),
        (Body::Football(happening), _) => football::write(happening),
        (Body::Withdrawn { event_id, reason }, Sport::Cricket) => {
            Item { ev: "void".into(), why: Some(reason.clone()), ..cricket::which(Place::of(*event_id)) }
        }
        (Body::Withdrawn { event_id, reason }, Sport::Football) => {
            Item { ev: "void".into(), why: Some(reason.clone()), ..football::which(*event_id) }
        }
    };
    item.n = statement.seq;
    item.fx = statement.match_id.clone();
    item.t = statement.venue_ms;
    item
}

/// For fuzzing: whatever is read and can be is written again alike.
pub fn fuzz(array: &[u8]) {
    let Ok(items) = read(array) else { return };
    for (_, said) in items {
        match said {
            Ok(Said::Statement(statement)) if statement.body.check().is_ok() => {
                let sport = match &statement.body {
                    Body::Football(_) => Sport::Football,
                    // An id of cricket's has its place in whole; of football's, only the ids that it makes.
                    _ => Sport::Cricket,
                };
                let again = read(write(sport, [&statement]).as_bytes());
                let again: Vec<_> = again.into_iter().flatten().map(|(_, said)| said).collect();
                if !matches!(statement.body, Body::Withdrawn { .. }) {
                    assert_eq!(again, [Ok(Said::Statement(statement))]);
                }
            }
            Ok(_) => {}
            Err(unreadable) => assert_ne!(unreadable.seq, Some(0)),
        }
    }
}

#[cfg(test)]
mod tests;
