//! Frames: both encodings say the same, and the Protobuf one is what `scores.proto` says.

use prost::Message as _;
use prost_reflect::{Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind};
use prost_reflect::{MessageDescriptor, Value};
use scores::frame::{Said, encode, proto};
use scores::recording::{DEMO, FOOTBALL};
use scores::{Book, Recording};

fn pool() -> DescriptorPool {
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/proto");
    let files = protox::compile(["scores.proto"], [proto]).expect("scores.proto compiles");
    DescriptorPool::from_file_descriptor_set(files).expect("it stands for itself")
}

fn message(name: &str) -> MessageDescriptor {
    pool().get_message_by_name(&format!("pavilion.scores.v1.{name}")).expect("it is there")
}

/// Every event of the shipped matches, as it would go out.
fn frames(json: &str) -> Vec<scores::Framed> {
    let recording = Recording::read(json).expect("ours");
    let mut book = Book::new(recording.sport);
    let mut frames = Vec::new();
    for (offset, event) in (1..).zip(recording.events("demo", 1_764_490_000_000, 1.0)) {
        book.take(&event);
        let headline = book.headline(Some(event.event_id));
        let moment = book.moment(&event);
        let framed = encode(&event, (0x1f3a, offset), &headline, moment.as_ref());
        let [json, proto] = framed.said().expect("both are read");
        assert_eq!(json, proto, "both say the same");
        assert_eq!((&json.body, json.event_id), (&event.body, event.event_id));
        assert_eq!((json.venue_ms, json.revision), (event.venue_ms, event.revision));
        assert_eq!((json.score, json.moment), (headline, moment));
        assert_eq!(json.cursor, format!("1f3a-{offset}"));
        assert_eq!(json.correction, event.revision > 1);
        frames.push(framed);
    }
    frames
}

/// No field of it, at any depth, is unknown to the schema.
fn assert_known(message: &DynamicMessage) {
    assert_eq!(message.unknown_fields().count(), 0, "{message:?}");
    for (_, value) in message.fields() {
        match value {
            Value::Message(inner) => assert_known(inner),
            Value::List(values) => {
                values.iter().filter_map(Value::as_message).for_each(assert_known);
            }
            _ => {}
        }
    }
}

#[test]
fn what_is_encoded_is_what_the_schema_says() {
    let frame = message("Frame");
    for framed in frames(DEMO).into_iter().chain(frames(FOOTBALL)) {
        let said = DynamicMessage::decode(frame.clone(), framed.proto.clone()).expect("a Frame");
        assert_known(&said);
        let ours = scores::frame::decode(&framed.proto).expect("a Frame");
        assert_eq!(scores::frame::decode(&said.encode_to_vec()).expect("a Frame"), ours);
    }
}

#[test]
fn a_delivery_in_words_that_do_not_depend_on_our_types() {
    let frame = message("Frame");
    let six = frames(DEMO)
        .into_iter()
        .map(|framed| DynamicMessage::decode(frame.clone(), framed.proto).expect("a Frame"))
        .map(|frame| serde_json::to_value(&frame).expect("JSON"))
        .find(|frame| frame["scoreEvent"]["moment"]["kind"] == "MOMENT_KIND_SIX")
        .expect("a six");
    let event = &six["scoreEvent"];
    assert_eq!(event["cricket"]["delivery"]["runs"], 6);
    assert_eq!(event["matchId"], "demo");
    assert!(event["venueTs"].as_str().is_some_and(|text| text.starts_with("2025-11-30T")), "{event}");
    assert!(event["headline"]["cricket"]["text"].as_str().is_some_and(|text| text.starts_with("SBH ")));
    assert_eq!(event["eventId"].as_str().map(|id| &id[id.len() - 3..]), Some("000"));
}

/// A value for a field that is not its default; messages filled to `depth`.
fn filled(field: &FieldDescriptor, depth: usize) -> Value {
    let one = match field.kind() {
        Kind::String => Value::String(format!("<{}>", field.name())),
        Kind::Bool => Value::Bool(true),
        Kind::Uint32 => Value::U32(field.number() + 7),
        Kind::Uint64 => Value::U64(u64::from(field.number()) + 7),
        Kind::Int32 => Value::I32(7_000_000),
        Kind::Int64 => Value::I64(7),
        Kind::Enum(kind) => Value::EnumNumber(kind.values().last().expect("some").number()),
        Kind::Message(inner) => Value::Message(full(&inner, depth, 0)),
        other => panic!("no field of ours is a {other:?}"),
    };
    match field.cardinality() {
        Cardinality::Repeated => Value::List(vec![one.clone(), one]),
        _ => one,
    }
}

/// Every field set; of each oneof the `choice`th, round and round.
fn full(kind: &MessageDescriptor, depth: usize, choice: usize) -> DynamicMessage {
    let mut message = DynamicMessage::new(kind.clone());
    if depth == 0 {
        return message;
    }
    for field in kind.fields() {
        let chosen = match field.containing_oneof() {
            // What is `optional` is a oneof of one in a descriptor.
            Some(oneof) => oneof.fields().nth(choice % oneof.fields().len()).as_ref() == Some(&field),
            None => true,
        };
        if chosen {
            message.set_field(&field, filled(&field, depth - 1));
        }
    }
    message
}

/// Everything that the schema can say passes through our types and comes out alike.
fn passes<M: prost::Message + Default>(kind: &MessageDescriptor) {
    for choice in 0..24 {
        let message = full(kind, 8, choice);
        let ours = M::decode(message.encode_to_vec().as_slice()).expect("ours reads it");
        let again =
            DynamicMessage::decode(kind.clone(), ours.encode_to_vec().as_slice()).expect("said again");
        assert_eq!(again, message, "{}", kind.name());
    }
}

#[test]
fn what_the_schema_says_is_what_is_decoded() {
    passes::<proto::Frame>(&message("Frame"));
    passes::<proto::ClientFrame>(&message("ClientFrame"));
    passes::<proto::ScoreEvent>(&message("ScoreEvent"));
    passes::<proto::Cricket>(&message("Cricket"));
    passes::<proto::Headline>(&message("Headline"));
    passes::<proto::LineupChange>(&message("LineupChange"));
}

#[test]
fn enums_agree_value_by_value() {
    fn agrees<E: TryFrom<i32> + std::fmt::Debug>(name: &str, prefix: &str) {
        let kind = pool().get_enum_by_name(&format!("pavilion.scores.v1.{name}")).expect("it is there");
        for value in kind.values() {
            let ours = E::try_from(value.number()).ok().map(|ours| format!("{ours:?}").to_lowercase());
            let theirs = value.name().strip_prefix(prefix).map(|name| name.replace('_', "").to_lowercase());
            assert_eq!(ours, theirs, "{name} {}", value.number());
        }
        assert!(E::try_from(kind.values().len() as i32).is_err(), "ours has one more {name}");
    }
    agrees::<proto::Dismissal>("Dismissal", "DISMISSAL_");
    agrees::<proto::MomentKind>("MomentKind", "MOMENT_KIND_");
    agrees::<proto::ReviewOutcome>("ReviewOutcome", "REVIEW_OUTCOME_");
    agrees::<proto::Side>("Side", "SIDE_");
}

#[test]
fn a_typical_delivery_is_small() {
    let mut sizes: Vec<usize> = frames(DEMO).iter().map(|framed| framed.proto.len()).collect();
    sizes.sort_unstable();
    let typical = sizes[sizes.len() / 2];
    assert!((150..=210).contains(&typical), "{typical} bytes: the benchmarks suppose 180");
}

#[test]
fn what_is_no_frame_is_refused() {
    for bytes in [&b"\xff\xff\xff"[..], b"{}", b""] {
        assert!(Said::from_proto(bytes).is_err());
        assert!(Said::from_json(bytes).is_err());
    }
    let control =
        proto::Frame { kind: Some(proto::FrameKind::Live(proto::Live { match_id: "demo".into() })) };
    assert!(Said::from_proto(&control.encode_to_vec()).is_err(), "no event");
}
