//! The fuzz targets' entries, over their corpus and thousands of changes to it: none may panic. `fuzz/run.sh` goes on
//! from here for as long as one likes.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(&folder).expect("a corpus");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let files: Vec<_> = files.into_iter().map(|path| std::fs::read(path).expect("read")).collect();
    assert!(files.len() >= 3, "{target} has a corpus");
    files
}

/// What parsers trip over: large and negative numbers, quotes, brackets, other values.
const TRIPS: [&str; 13] =
    ["", "0", "-1", "4294967295", "1e99", "\"", "{}", "[]", "null", "999", "true", ",", "\\u0000"];

/// A change: where, how many bytes go, and what comes instead.
fn change() -> impl Strategy<Value = (Index, u8, Vec<u8>)> {
    let text = prop::sample::select(&TRIPS[..]).prop_map(|text| text.as_bytes().to_vec());
    let bytes = prop_oneof![3 => text, 1 => prop::collection::vec(any::<u8>(), 0..4)];
    (any::<Index>(), 0_u8..6, bytes)
}

fn shaken(target: &str, entry: fn(&[u8])) {
    let corpus = corpus(target);
    corpus.iter().for_each(|bytes| entry(bytes));
    let strategy = (prop::sample::select(corpus), prop::collection::vec(change(), 1..4));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(1_000));
    let run = runner.run(&strategy, |(mut bytes, changes)| {
        for (at, gone, come) in changes {
            let at = at.index(bytes.len() + 1);
            let end = (at + usize::from(gone)).min(bytes.len());
            bytes.splice(at..end, come);
        }
        entry(&bytes);
        Ok(())
    });
    run.expect("no panic");
}

/// Every value in a JSON file replaced by each of these, one at a time: what a shaker of bytes
/// rarely gets through the JSON parser.
fn twisted(target: &str, entry: fn(&[u8])) {
    let odd = [
        json!(null),
        json!(0),
        json!(-1),
        json!(999),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(1.5),
        json!(""),
        json!("A"),
        json!(true),
        json!([]),
        json!({}),
    ];
    for bytes in corpus(target) {
        let file: Value = serde_json::from_slice(&bytes).expect("a corpus of JSON");
        let mut pointers = Vec::new();
        walk(&file, String::new(), &mut pointers);
        for pointer in pointers {
            for odd in &odd {
                let mut twisted = file.clone();
                *twisted.pointer_mut(&pointer).expect("it was there") = odd.clone();
                entry(twisted.to_string().as_bytes());
            }
        }
    }
}

fn walk(value: &Value, pointer: String, found: &mut Vec<String>) {
    let inner: Vec<(String, &Value)> = match value {
        Value::Array(values) => {
            (0..).zip(values).map(|(n, value): (usize, _)| (n.to_string(), value)).collect()
        }
        Value::Object(values) => values.iter().map(|(key, value)| (key.clone(), value)).collect(),
        _ => Vec::new(),
    };
    for (key, value) in inner {
        walk(value, format!("{pointer}/{key}"), found);
    }
    found.push(pointer);
}

#[test]
fn recordings() {
    shaken("scores_recording", scores::recording::fuzz);
    twisted("scores_recording", scores::recording::fuzz);
}

#[test]
fn cricsheet() {
    shaken("scores_cricsheet", scores::recording::fuzz_cricsheet);
    twisted("scores_cricsheet", scores::recording::fuzz_cricsheet);
}

#[test]
fn frames() {
    shaken("scores_frame", scores::frame::fuzz);
}
