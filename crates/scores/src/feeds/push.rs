//! Format "push": one JSON object a line, the happening's body as we have it, explicit revisions. See `docs/feeds.md`.

use serde::{Deserialize, Serialize};
use timeline::Utc;

use super::statement::{Range, Said, Statement, Unreadable};
use crate::{Body, Event, EventId};

/// How lines are named in HTTP.
pub const MEDIA_TYPE: &str = "application/x-ndjson";

/// Longest line in bytes: a happening has some 500.
pub const LINE_MAX: usize = 16 * 1024;

/// A line as it is sent.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    seq: u64,
    #[serde(borrow)]
    r#match: std::borrow::Cow<'a, str>,
    at: Utc,
    /// What the sender takes it for; the body itself says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event_id: Option<EventId>,
    revision: u32,
    body: Body,
}

/// What can still be read of a line that is wrong.
#[derive(Deserialize)]
struct Number {
    seq: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gone {
    gone: Vec<Range>,
}

/// Reads one line.
pub fn read(line: &[u8]) -> Result<Said, Unreadable> {
    if line.len() > LINE_MAX {
        return Err(Unreadable::new(scan(line), format!("the line has more than {LINE_MAX} bytes")));
    }
    // serde would read an array as a struct without names.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(Unreadable::new(None, "a line is one JSON object"));
    }
    let read: Line<'_> = match serde_json::from_slice(line) {
        Ok(read) => read,
        Err(error) => {
            if let Ok(Gone { gone }) = serde_json::from_slice(line) {
                return Ok(Said::Gone(gone));
            }
            let seq = serde_json::from_slice(line).map(|n: Number| n.seq).ok().or_else(|| scan(line));
            return Err(Unreadable::new(seq.filter(|n| *n > 0), error.to_string()));
        }
    };
    if read.seq == 0 {
        return Err(Unreadable::new(None, "numbers are from 1"));
    }
    if read.event_id.is_some_and(|id| id != read.body.event_id()) {
        return Err(Unreadable::new(Some(read.seq), "\"event_id\" is not that of the body's place"));
    }
    Ok(Said::Statement(Statement {
        seq: read.seq,
        match_id: read.r#match.into_owned(),
        venue_ms: read.at.0.div_euclid(1_000),
        revision: Some(read.revision),
        body: read.body,
    }))
}

/// Writes one line, without its end.
pub fn write(statement: &Statement) -> String {
    let line = Line {
        seq: statement.seq,
        r#match: statement.match_id.as_str().into(),
        at: Utc(statement.venue_ms.saturating_mul(1_000)),
        event_id: Some(statement.body.event_id()),
        revision: statement.revision.unwrap_or(1),
        body: statement.body.clone(),
    };
    // Strings and numbers only: there is nothing that JSON cannot hold.
    serde_json::to_string(&line).unwrap_or_default()
}

/// What stands, as the line that would say it.
pub(crate) fn of_event(event: &Event) -> serde_json::Value {
    serde_json::json!({
        "seq": event.provider_seq, "match": event.match_id, "at": Utc(event.venue_ms.saturating_mul(1_000)),
        "event_id": event.event_id, "revision": event.revision, "body": event.body,
    })
}

/// The number in something that is not even JSON (cut off, mostly), so that the feed can go on past it.
fn scan(line: &[u8]) -> Option<u64> {
    let name = b"\"seq\"";
    let at = line.windows(name.len()).position(|window| window == name)? + name.len();
    let rest = line[at..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    // A number at the very end may be half of one.
    if digits == rest.len() {
        return None;
    }
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok().filter(|n| *n > 0)
}

/// For fuzzing: whatever is read is written again alike.
pub fn fuzz(line: &[u8]) {
    match read(line) {
        Ok(Said::Statement(statement)) => {
            let written = write(&statement);
            if written.len() <= LINE_MAX {
                assert_eq!(read(written.as_bytes()), Ok(Said::Statement(statement)));
            }
        }
        Ok(Said::Gone(_)) => {}
        Err(unreadable) => assert_ne!(unreadable.seq, Some(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALL: &str = r#"{"seq":17,"match":"demo","at":"2026-11-30T09:00:00.123Z","revision":2,"body":{"sport":"cricket",
        "at":{"innings":1,"over":5,"ball":3,"slot":0},"kind":"delivery","batter":"A","non_striker":"B","bowler":"C","runs":4}}"#;

    fn statement(line: &str) -> Statement {
        match read(line.as_bytes()) {
            Ok(Said::Statement(statement)) => statement,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_line_is_read_and_written_back() {
        let read = statement(BALL);
        assert_eq!((read.seq, read.revision, read.body.event_id()), (17, Some(2), EventId(1_005_003_000)));
        assert_eq!(read.venue_ms, 1_796_029_200_123);
        assert_eq!(statement(&write(&read)), read);
    }

    #[test]
    fn a_withdrawn_one_says_which() {
        let line = r#"{"seq":18,"match":"demo","at":"2026-11-30T09:00:00Z","event_id":1005003000,"revision":3,
            "body":{"sport":"withdrawn","event_id":1005003000,"reason":"scorer_error"}}"#;
        let read = statement(line);
        assert_eq!(read.body.event_id(), EventId(1_005_003_000));
        assert_eq!(statement(&write(&read)), read);
        let other = line.replacen("1005003000", "1005004000", 1);
        assert_eq!(super::read(other.as_bytes()).unwrap_err().seq, Some(18));
    }

    #[test]
    fn the_number_of_a_wrong_line_is_made_out() {
        let wrong = |line: &str| read(line.as_bytes()).unwrap_err().seq;
        assert_eq!(wrong(&BALL.replace("delivery", "somersault")), Some(17));
        assert_eq!(wrong(&BALL.replace("\"runs\":4}}", "\"runs\":4")), Some(17), "cut off");
        assert_eq!(wrong(&BALL.replace("4}}", "-4}}")), Some(17));
        assert_eq!(wrong(r#"{ "seq" : 17, "#), Some(17));
        assert_eq!(wrong(r#"{"seq":17"#), None, "it may have been 170");
        assert_eq!(wrong(r#"{"seq":0,"#), None);
        assert_eq!(wrong(r#"{"seq":0}"#), None);
        assert_eq!(wrong("nonsense"), None);
        assert_eq!(wrong("[17]"), None, "not by name");
        assert_eq!(wrong(&BALL.replace(r#""revision":2"#, r#""event_id":1,"revision":2"#)), Some(17));
        assert_eq!(wrong(&format!("{BALL}{}", " ".repeat(LINE_MAX))), Some(17), "too long");
    }

    #[test]
    fn what_is_gone_is_told() {
        assert_eq!(read(br#"{"gone":[[1,4],[9,9]]}"#), Ok(Said::Gone(vec![(1, 4), (9, 9)])));
    }
}
