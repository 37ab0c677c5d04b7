//! The core against what was published.

use super::*;
use crate::says::Encoding;
use bytes::Bytes;

const NO_WINDOW: Duration = Duration::ZERO;

fn at(epoch: u32, offset: u64) -> Cursor {
    Cursor { epoch, offset }
}

fn start(epoch: u32, offset: u64) -> Update {
    Update::Start { after: at(epoch, offset) }
}

fn message(offset: u64, event: u64, revision: u32) -> Update {
    let json = Bytes::from(format!("{event}.{revision}"));
    Update::Message(Message { offset, event, revision, ingest_us: 0, json, proto: Bytes::new() })
}

/// What workers would see, as text.
fn told(core: &mut Core, updates: impl IntoIterator<Item = Update>) -> Vec<String> {
    let (now, mut notes) = (Instant::now(), Vec::new());
    for update in updates {
        core.take(update, now, &mut notes);
    }
    let text = |note: Note| match note {
        Note::Begin(after) => format!("begin {}-{}", after.epoch, after.offset),
        Note::Events(entries) => {
            let one = |entry: &Arc<Entry>| match entry.frame(Encoding::Json) {
                [] => format!("({})", entry.offset),
                _ => format!("{}={}", entry.offset, String::from_utf8_lossy(entry.json())),
            };
            entries.iter().map(one).collect::<Vec<_>>().join(" ")
        }
        Note::First(after) => format!("first {}-{}", after.epoch, after.offset),
        Note::Live => "live".into(),
        Note::Paused(reason) => format!("paused {reason}"),
        Note::Resumed => "resumed".into(),
    };
    notes.into_iter().map(text).collect()
}

#[test]
fn what_is_published_twice_leaves_once_and_has_its_places() {
    let mut core = Core::new("m", NO_WINDOW);
    let begin = [start(1, 0), message(1, 10, 1), message(2, 11, 1), Update::Live];
    assert_eq!(told(&mut core, begin), ["begin 1-0", "1=10.1 2=11.1", "live"]);
    assert_eq!(told(&mut core, [message(3, 10, 1)]), ["(3)"]);
    assert_eq!(told(&mut core, [message(4, 10, 2), message(5, 12, 1)]), ["4=10.2", "5=12.1"]);
    assert_eq!(core.counted(), Counts { messages: 4, duplicates: 1, collapsed: 0 });
}

#[test]
fn a_lower_revision_after_a_higher_one_leaves_to_nobody_and_has_its_place() {
    let mut core = Core::new("m", NO_WINDOW);
    told(&mut core, [start(1, 0), message(1, 10, 2), Update::Live]);
    assert_eq!(told(&mut core, [message(2, 10, 1), message(3, 10, 3)]), ["(2)", "3=10.3"]);
    // Also when it comes again, and for what is caught up with.
    let again = [start(1, 1), message(2, 10, 1), message(3, 10, 3), message(4, 10, 2), Update::Live];
    assert_eq!(told(&mut core, again), ["(4)"]);
    assert_eq!(core.counted(), Counts { messages: 2, duplicates: 4, collapsed: 0 });
}

#[test]
fn a_connection_that_goes_on_is_not_seen() {
    let mut core = Core::new("m", NO_WINDOW);
    told(&mut core, [start(1, 0), message(1, 10, 1), message(2, 11, 1), Update::Live]);
    let paused = [Update::Paused { reason: "shard_lost".into() }];
    assert_eq!(told(&mut core, paused), ["paused shard_lost"]);
    // It may repeat what we have.
    let again = [start(1, 1), Update::Resumed, message(2, 11, 1), message(3, 12, 1), Update::Live];
    assert_eq!(told(&mut core, again), ["resumed", "3=12.1"]);
    assert_eq!(core.last(), Some(at(1, 3)));
    // One that is there again need not have what it passes on.
    let lost = || Update::Paused { reason: "spine_lost".into() };
    assert_eq!(told(&mut core, [start(1, 3), lost(), Update::Live]), ["paused spine_lost"]);
    assert_eq!(told(&mut core, [Update::Resumed, Update::Resumed]), ["resumed"]);
    let mut notes = Vec::new();
    core.hung_up(Instant::now(), &mut notes);
    assert!(matches!(notes[..], [Note::Paused(_)]));
    assert_eq!(told(&mut core, [start(1, 3), Update::Live]), ["resumed"]);
}

#[test]
fn a_match_without_a_record_begins_with_its_first() {
    let mut core = Core::new("m", NO_WINDOW);
    assert_eq!(told(&mut core, [start(0, 0), Update::Live]), ["begin 0-0", "live"]);
    let first = [start(7, 0), message(1, 10, 1), Update::Live, message(2, 11, 1)];
    assert_eq!(told(&mut core, first), ["first 7-0", "1=10.1", "live", "2=11.1"]);
    // But if its beginning is no longer held, something was missed.
    let mut core = Core::new("m", NO_WINDOW);
    told(&mut core, [start(0, 0), Update::Live]);
    assert_eq!(told(&mut core, [start(7, 3), Update::Live]), ["begin 7-3", "live"]);
}

#[test]
fn what_was_missed_leaves_in_large_pieces() {
    let mut core = Core::new("m", NO_WINDOW);
    told(&mut core, [start(1, 0), message(1, 1, 1), Update::Live, start(1, 1)]);
    let (now, mut notes) = (Instant::now(), Vec::new());
    for offset in 2..=201 {
        core.take(message(offset, offset, 1), now, &mut notes);
    }
    assert!(core.due().is_none(), "it waits for nothing but the source");
    core.take(Update::Live, now, &mut notes);
    let sizes: Vec<usize> = notes
        .iter()
        .map(|note| match note {
            Note::Events(entries) => entries.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sizes, [64, 64, 64, 8]);
}

#[test]
fn another_life_of_the_log_voids_all_and_remembers_nothing() {
    let mut core = Core::new("m", NO_WINDOW);
    told(&mut core, [start(1, 0), message(1, 10, 1), Update::Live]);
    let other = [start(2, 0), message(1, 10, 1), Update::Live, message(2, 11, 1)];
    assert_eq!(told(&mut core, other), ["begin 2-0", "1=10.1", "live", "2=11.1"]);
    // The same epoch, ahead of us: what lies between is gone.
    assert_eq!(told(&mut core, [start(2, 9), Update::Live]), ["begin 2-9", "live"]);
    // The same epoch, but other messages stand there: a suffix was lost in a failover.
    told(&mut core, [message(10, 20, 1), message(11, 21, 1)]);
    let forked = [start(2, 10), message(11, 22, 1), Update::Live];
    assert_eq!(told(&mut core, forked), ["begin 2-10", "11=22.1", "live"]);
}

#[test]
fn a_log_may_have_holes_but_not_large_ones() {
    let mut core = Core::new("m", NO_WINDOW);
    assert!(told(&mut core, [message(1, 10, 1)]).is_empty(), "nothing has a place before a start");
    told(&mut core, [start(1, 0), message(1, 10, 1), Update::Live]);
    assert_eq!(told(&mut core, [message(3, 12, 1)]), ["3=12.1"]);
    let far = 4 + HOLES_MAX;
    let begin = [format!("begin 1-{}", far - 1), format!("{far}=13.1"), "live".to_owned()];
    assert_eq!(told(&mut core, [message(far, 13, 1)]), begin);
}

#[test]
fn a_window_holds_and_a_correction_ends_it() {
    let mut core = Core::new("m", Duration::from_millis(200));
    let (now, mut notes) = (Instant::now(), Vec::new());
    told(&mut core, [start(1, 0), Update::Live]);
    core.take(message(1, 10, 1), now, &mut notes);
    assert_eq!(notes.len(), 1, "the first leaves at once");
    core.take(message(2, 11, 1), now, &mut notes);
    assert_eq!(notes.len(), 1);
    core.take(message(3, 11, 2), now, &mut notes);
    assert!(matches!(&notes[1], Note::Events(entries) if entries.len() == 2));
    core.take(message(4, 12, 1), now, &mut notes);
    core.look(now, &mut notes);
    assert_eq!(notes.len(), 2);
    core.look(core.due().unwrap(), &mut notes);
    assert_eq!(notes.len(), 3);
    // What is held when the source is lost does not wait for it to come back.
    core.take(message(5, 13, 1), now, &mut notes);
    core.take(Update::Paused { reason: "x".into() }, now, &mut notes);
    assert!(matches!(notes[3..], [Note::Events(_), Note::Paused(_)]));
}
