//! What a provider says of a recording: with mistakes that it puts right, if wanted.

use std::collections::HashMap;

use crate::feeds::Statement;
use crate::{Body, EventId, Recording, cricket, football};

/// Mistakes on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrections {
    /// Of how many happenings, from 0 to 1, the first word is wrong.
    pub rate: f64,
    /// After how many milliseconds of the recording's time it is put right, at most.
    pub after_ms_max: i64,
    /// The same seed makes the same mistakes: two providers with one seed agree on everything.
    pub seed: u64,
}

impl Corrections {
    /// None.
    pub const NONE: Corrections = Corrections { rate: 0.0, after_ms_max: 0, seed: 0 };
}

/// What is said, in the order of its numbers, each at its `venue_ms`. Revisions are counted.
pub fn script(
    recording: &Recording,
    match_id: &str,
    start_ms: i64,
    speed: f64,
    corrections: Corrections,
) -> Vec<Statement> {
    let mut rng = fastrand::Rng::with_seed(corrections.seed);
    let played: Vec<(i64, &Body)> = recording.at(start_ms, speed).collect();
    // What comes next of the same happening: it must be put right before.
    let mut next: Vec<Option<i64>> = vec![None; played.len()];
    let mut later: HashMap<EventId, i64> = HashMap::new();
    for (n, (at, body)) in played.iter().enumerate().rev() {
        next[n] = later.insert(body.event_id(), *at);
    }
    let mut said: Vec<(i64, Body)> = Vec::with_capacity(played.len());
    for ((at, body), next) in played.into_iter().zip(next) {
        let spoilt = (rng.f64() < corrections.rate).then(|| wrong(body, &mut rng)).flatten();
        let Some(spoilt) = spoilt else {
            said.push((at, body.clone()));
            continue;
        };
        let after_ms = rng.f64() * corrections.after_ms_max.max(1) as f64 / speed.max(f64::MIN_POSITIVE);
        let right_at =
            at.saturating_add(after_ms as i64).min(next.map_or(i64::MAX, |next| at + (next - at) / 2));
        said.push((at, spoilt));
        said.push((right_at, body.clone()));
    }
    // Stable: what is said at one instant keeps its order.
    said.sort_by_key(|(at, _)| *at);
    let mut revisions: HashMap<EventId, u32> = HashMap::new();
    (1..)
        .zip(said)
        .map(|(seq, (venue_ms, body))| {
            let revision = revisions.entry(body.event_id()).or_default();
            *revision += 1;
            Statement { seq, match_id: match_id.to_owned(), venue_ms, revision: Some(*revision), body }
        })
        .collect()
}

/// Something else that could have happened there, as people mistake it.
fn wrong(body: &Body, rng: &mut fastrand::Rng) -> Option<Body> {
    let mut wrong = body.clone();
    match &mut wrong {
        Body::Cricket(happening) => match &mut happening.what {
            cricket::Kind::Delivery(ball) if !ball.wickets.is_empty() => ball.wickets.clear(),
            cricket::Kind::Delivery(ball) => {
                ball.all_run = false;
                ball.runs = match ball.runs {
                    0 => 1,
                    4 => 6,
                    runs => runs - 1 - u32::from(runs > 1 && rng.bool()),
                };
            }
            _ => return None,
        },
        Body::Football(happening) => match &mut happening.what {
            football::Kind::Goal { penalty, .. } => *penalty = !*penalty,
            football::Kind::Card { colour, .. } if colour == "yellow" => *colour = "red".into(),
            _ => return None,
        },
        Body::Withdrawn { .. } => return None,
    }
    (wrong.check().is_ok() && wrong != *body).then_some(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_put_right_and_the_last_word_is_the_recordings() {
        let recording = Recording::read(crate::recording::DEMO).unwrap();
        let corrections = Corrections { rate: 0.3, after_ms_max: 20_000, seed: 7 };
        let said = script(&recording, "demo", 1_000, 10.0, corrections);
        assert_eq!(said, script(&recording, "demo", 1_000, 10.0, corrections));
        assert!(said.len() > recording.statements.len() * 11 / 10);
        assert!(
            said.windows(2)
                .all(|pair| pair[0].venue_ms <= pair[1].venue_ms && pair[0].seq + 1 == pair[1].seq)
        );
        let last = |bodies: Vec<Body>| -> HashMap<EventId, Body> {
            bodies.into_iter().map(|body| (body.event_id(), body)).collect()
        };
        let of_script = last(said.iter().map(|statement| statement.body.clone()).collect());
        let of_recording = last(recording.statements.iter().map(|timed| timed.body.clone()).collect());
        assert_eq!(of_script, of_recording);
        let plain = script(&recording, "demo", 1_000, 10.0, Corrections::NONE);
        assert_eq!(plain.len(), recording.statements.len());
    }
}
