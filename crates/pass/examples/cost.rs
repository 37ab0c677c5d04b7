//! What a check costs, in microseconds: a pass that is seen for the first time, and one that is known.
//! `cargo run --release -p pass --example cost`
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use pass::cat::{Claims, Match, Part, Renewal};
use pass::{Ask, Document, Gate, Place};

const NOW_S: i64 = 1_800_000_000;
const TIMES: u32 = 200_000;

fn micros(mut what: impl FnMut()) -> f64 {
    let mut rounds: Vec<f64> = (0..5)
        .map(|_| {
            let began = Instant::now();
            (0..TIMES).for_each(|_| what());
            began.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[2]
}

fn main() {
    let gate = Gate::new(&Document::generate("pavilion", "2026-06").unwrap()).unwrap();
    let claims = Claims {
        session: Some("3f2b8c1e9a7d4f60".into()),
        expires_s: NOW_S + 300,
        not_before_s: Some(NOW_S),
        issued_s: Some(NOW_S),
        id: Some(vec![7; 16]),
        uri: vec![(Part::Path, Match::Prefix("/final/".into()))],
        countries: Some(vec!["IE".into(), "GB".into()]),
        renewal: Some(Renewal { add_s: 300, window_s: 120 }),
        ..Claims::default()
    };
    let token = gate.sign(&claims, NOW_S).unwrap();
    let place = Place { country: Some("IE".into()), ..Place::default() };
    let ask = Ask { place: Some(&place), ..Ask::get("/final/r1/main/v1/936000000a.3.m4s", NOW_S) };
    let known = gate.open(&token, &ask).unwrap();
    println!("characters\t{}", token.len());
    println!("first\t{:.3}", micros(|| gate.open(black_box(&token), &ask).unwrap().admits(&ask).unwrap()));
    println!("known\t{:.3}", micros(|| black_box(&known).admits(&ask).unwrap()));
    println!("sign\t{:.3}", micros(|| drop(black_box(gate.sign(&claims, NOW_S)))));
}
