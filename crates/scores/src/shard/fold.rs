//! From a log's records to messages. Pure: the same records give the same bytes, whenever they are folded.

use relay::Message;
use store::Record;

use crate::{Book, Event, Sport, Taken, frame};

/// Why a record is passed over.
#[derive(Debug, thiserror::Error)]
pub enum Corrupt {
    /// Not what ingest writes.
    #[error("it is not an event: {0}")]
    Json(#[from] serde_json::Error),
    /// It belongs into another log.
    #[error("it is of the match '{0}'")]
    Match(String),
    /// Key and event do not agree.
    #[error("it stands under the key of another event")]
    Key,
    /// No such thing can happen.
    #[error("{0}")]
    Body(#[from] crate::Error),
}

/// A match as far as its log has been read.
#[derive(Clone, Debug)]
pub struct Fold {
    match_id: String,
    epoch: u32,
    book: Book,
}

impl Fold {
    /// Of a log of which nothing has been read.
    pub fn new(match_id: &str, sport: Sport, epoch: u32) -> Fold {
        Fold { match_id: match_id.to_owned(), epoch, book: Book::new(sport) }
    }

    /// Takes note of a record that need not be published.
    pub fn note(&mut self, record: &Record) {
        if let Ok(event) = self.event(record) {
            self.take(&event);
        }
    }

    /// What is published for a record; none if that revision of the same happening or a higher one was: of two ingests on
    /// one log, one may write a lower revision milliseconds after the other's higher one, and a viewer never goes back.
    ///
    /// # Errors
    /// Why the record is passed over.
    pub fn message(&mut self, record: &Record) -> Result<Option<Message>, Corrupt> {
        let event = self.event(record)?;
        if !self.take(&event) {
            return Ok(None);
        }
        let headline = self.book.headline(Some(event.event_id));
        let moment = self.book.moment(&event);
        let framed = frame::encode(&event, (self.epoch, record.offset), &headline, moment.as_ref());
        Ok(Some(Message {
            offset: record.offset,
            event: event.event_id.0,
            revision: event.revision,
            ingest_us: event.ingest_ms.saturating_mul(1_000),
            json: framed.json,
            proto: framed.proto,
        }))
    }

    /// Whether it is news. What is not is not even kept: a book that knows what nobody was told would fold other moments
    /// than the books of those who take.
    fn take(&mut self, event: &Event) -> bool {
        let overtaken =
            self.book.highest(event.event_id).is_some_and(|highest| highest.revision >= event.revision);
        !overtaken && self.book.take(event) != Taken::Known
    }

    fn event(&self, record: &Record) -> Result<Event, Corrupt> {
        let event: Event = serde_json::from_slice(&record.value)?;
        if event.match_id != self.match_id {
            return Err(Corrupt::Match(event.match_id));
        }
        let key = format!("{}.{}", event.event_id.0, event.revision);
        if record.key != key || event.body.event_id() != event.event_id {
            return Err(Corrupt::Key);
        }
        // The fold relies on it, and a log may have been written by an older ingest, or by hand.
        event.body.check()?;
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{self, Recording};

    fn records() -> Vec<Record> {
        let events = Recording::read(recording::DEMO).unwrap().events("demo", 1_764_490_000_000, 1.0);
        (1..)
            .zip(events)
            .map(|(offset, event)| Record {
                offset,
                key: format!("{}.{}", event.event_id.0, event.revision),
                value: serde_json::to_vec(&event).unwrap().into(),
            })
            .collect()
    }

    fn all(fold: &mut Fold, records: &[Record]) -> Vec<Message> {
        records.iter().filter_map(|record| fold.message(record).unwrap()).collect()
    }

    #[test]
    fn the_same_records_give_the_same_bytes_from_wherever_one_begins() {
        let records = records();
        let new = || Fold::new("demo", Sport::Cricket, 7);
        let whole = all(&mut new(), &records);
        assert_eq!(whole.len(), records.len());
        assert!(whole[0].json.starts_with(b"{\"type\":\"score_event\""));
        let mut later = new();
        let (before, after) = records.split_at(records.len() / 2);
        before.iter().for_each(|record| later.note(record));
        assert_eq!(all(&mut later, after), whole[before.len()..]);
    }

    #[test]
    fn what_is_not_an_event_of_this_match_is_told_apart() {
        let records = records();
        let mut fold = Fold::new("demo", Sport::Cricket, 7);
        let with = |value: &[u8]| Record { value: value.to_vec().into(), ..records[0].clone() };
        assert!(matches!(fold.message(&with(b"{")), Err(Corrupt::Json(_))));
        assert!(matches!(fold.message(&with(b"\xff\xfe")), Err(Corrupt::Json(_))));
        let key = Record { key: "9.9".into(), ..records[0].clone() };
        assert!(matches!(fold.message(&key), Err(Corrupt::Key)));
        let other = String::from_utf8(records[0].value.to_vec()).unwrap().replace("\"demo\"", "\"other\"");
        assert!(matches!(fold.message(&with(other.as_bytes())), Err(Corrupt::Match(id)) if id == "other"));
        assert!(fold.message(&records[0]).unwrap().is_some(), "and the good one is taken");
        assert!(fold.message(&records[0]).unwrap().is_none(), "once");
    }

    #[test]
    fn a_viewer_never_goes_back_to_an_older_revision() {
        let record = records().remove(0);
        let event: Event = serde_json::from_slice(&record.value).unwrap();
        let revision = |revision: u32, offset: u64| Record {
            offset,
            key: format!("{}.{revision}", event.event_id.0),
            value: serde_json::to_vec(&Event { revision, ..event.clone() }).unwrap().into(),
        };
        let mut fold = Fold::new("demo", Sport::Cricket, 7);
        let seen = [(2, 1), (1, 2), (2, 3), (3, 4)].map(|(r, o)| fold.message(&revision(r, o)).unwrap());
        assert_eq!(seen.map(|m| m.map(|m| m.revision)), [Some(2), None, None, Some(3)]);
    }
}
