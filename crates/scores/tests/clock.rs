//! A wall clock that is set back by an hour in the middle of a match.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "its own tests use the rest")]
mod ingest_world;

use std::time::{Duration, Instant};

use ingest_world::{START_MS, World};
use scores::feeds::replay::{Corrections, script};
use scores::ingest::{Delay, Outcome};
use scores::{Recording, Sport};
use timeline::Steady;

const HOUR_MS: i64 = 3_600_000;
/// From a happening to what is said of it.
const LATER_MS: i64 = 400;

/// What a clock says that many milliseconds after the start; the wall was set back after `back_ms`.
struct Clock {
    began: Instant,
    steady: Steady,
    back_ms: i64,
}

impl Clock {
    fn new(back_ms: i64) -> Clock {
        let began = Instant::now();
        Clock { began, steady: Steady::new(START_MS, began), back_ms }
    }

    fn wall(&self, after_ms: i64) -> i64 {
        START_MS + after_ms - if after_ms >= self.back_ms { HOUR_MS } else { 0 }
    }

    fn now(&mut self, after_ms: i64) -> i64 {
        let now = self.began + Duration::from_millis(after_ms as u64);
        self.steady.read(self.wall(after_ms), now)
    }
}

/// Ingest goes on as if nothing were: nothing is "not happened yet", what waits is decided, what is missing is asked for,
/// and the feeds are not late. The wall clock itself would have had all of that.
#[test]
fn ingest_goes_on_through_a_wall_clock_that_is_set_back() {
    let recording = Recording::read(scores::recording::DEMO).unwrap();
    let said = script(&recording, "demo", START_MS, 1.0, Corrections::NONE);
    let half_ms = said[said.len() / 2].venue_ms - START_MS;
    let mut refused = Vec::new();
    for steady in [true, false] {
        let mut clock = Clock::new(half_ms);
        let mut world = World::new(Sport::Cricket, Vec::new());
        let (mut no, mut ingested, mut asked_ms) = (0, START_MS, Vec::new());
        for (n, statement) in said.iter().enumerate() {
            let after_ms = statement.venue_ms - START_MS + LATER_MS;
            let now_ms = if steady { clock.now(after_ms) } else { clock.wall(after_ms) };
            // One is lost a moment after the clock was set, and asked for in time.
            if n == said.len() / 2 + 2 {
                continue;
            }
            match world.core.take("a", statement.clone(), &world.catalog, now_ms, &mut world.spine) {
                Outcome::Published => {}
                Outcome::Refused(_) => no += 1,
                other => panic!("{other:?}"),
            }
            if !world.core.ask("a", now_ms).is_empty() {
                asked_ms.push(after_ms);
            }
            let late = world.core.delay("demo").unwrap().is_late(now_ms);
            assert!(!late, "late after {after_ms} ms");
            if steady {
                let newest = world.spine.last().unwrap().ingest_ms;
                assert!(newest >= ingested, "what is written down goes back: {newest} after {ingested}");
                ingested = newest;
            }
        }
        if steady {
            assert!(asked_ms.first().is_some_and(|ms| *ms < half_ms + 300_000), "{asked_ms:?}");
        }
        refused.push(no);
    }
    assert_eq!(refused[0], 0);
    assert!(refused[1] > 10, "a clock that went back would have refused: {refused:?}");
}

/// What is said of a feed's delay depends on how long nothing has come, not on what the wall says.
#[test]
fn a_delay_is_told_when_it_is_one_whatever_the_wall_says() {
    let recording = Recording::read(scores::recording::DEMO).unwrap();
    let event = recording.events("demo", START_MS, 1.0).into_iter().find(|e| e.revision == 1).unwrap();
    let ball = recording
        .events("demo", START_MS, 1.0)
        .into_iter()
        .rfind(|e| serde_json::to_value(&e.body).unwrap()["kind"] == "delivery");
    let ball = ball.unwrap_or(event);
    let cadence_ms = 40_000;
    let late_ms = 3 * cadence_ms + 60_000;
    for back_ms in [1_000, late_ms - 1_000, late_ms + 1_000] {
        let mut clock = Clock::new(back_ms);
        let mut delay = Delay::new(cadence_ms);
        delay.take(&ball.body, START_MS, clock.now(LATER_MS));
        for after_ms in (1_000..late_ms + 60_000).step_by(1_000) {
            assert_eq!(delay.is_late(clock.now(after_ms)), after_ms > late_ms, "after {after_ms} ms");
        }
    }
}
