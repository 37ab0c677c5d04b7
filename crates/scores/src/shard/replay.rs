//! The relay's messages as the replay keeps them.

use relay::Message;
use store::Entry;

/// To keep.
pub(super) fn entry(message: &Message) -> Entry {
    Entry {
        offset: message.offset,
        key: format!("{}.{}", message.event, message.revision),
        at_us: message.ingest_us,
        values: vec![message.json.clone(), message.proto.clone()],
    }
}

/// To give out again; none if somebody else wrote it.
pub(super) fn message(entry: Entry) -> Option<Message> {
    let (event, revision) = entry.key.split_once('.')?;
    let [json, proto] = <[_; 2]>::try_from(entry.values).ok()?;
    Some(Message {
        offset: entry.offset,
        event: event.parse().ok()?,
        revision: revision.parse().ok()?,
        ingest_us: entry.at_us,
        json,
        proto,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was() {
        let kept = Message {
            offset: 7,
            event: u64::MAX,
            revision: 3,
            ingest_us: -5,
            json: "{}".into(),
            proto: vec![0, 255].into(),
        };
        assert_eq!(message(entry(&kept)), Some(kept.clone()));
        for wrong in [
            Entry { key: "7".into(), ..entry(&kept) },
            Entry { key: "7.x".into(), ..entry(&kept) },
            Entry { values: vec![kept.json.clone()], ..entry(&kept) },
        ] {
            assert_eq!(message(wrong), None);
        }
    }
}
