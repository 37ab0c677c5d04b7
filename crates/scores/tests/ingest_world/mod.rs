//! Feeds and ingest in simulated time.

use std::collections::{BTreeMap, HashMap, HashSet};

use scores::catalog::{Catalog, Match, Status};
use scores::feeds::replay::{Corrections, Faults, Player, script};
use scores::feeds::{Said, Statement, push, wire};
use scores::ingest::{Core, Outcome};
use scores::{Body, Event, EventId, Recording, Sport};

pub(crate) const START_MS: i64 = 1_764_490_000_000;
/// How finely time passes; providers reorder within seconds.
const STEP_MS: i64 = 250;
/// How long both feeds have after the last ball to say again what was lost.
const AFTER_MS: i64 = 240_000;

pub(crate) fn entry(sport: Sport) -> Match {
    Match {
        id: "demo".into(),
        title: "A v B".into(),
        sport,
        teams: ["A".into(), "B".into()],
        status: Status::Live,
        countries: None,
        cadence_s: None,
        start_ms: START_MS,
    }
}

/// One feed: what it plays, the times when it is away, and whether it has revisions.
pub(crate) struct Feed {
    pub(crate) id: &'static str,
    pub(crate) revisions: bool,
    pub(crate) player: Player,
    pub(crate) outages: Vec<(i64, i64)>,
    pub(crate) connected: bool,
}

/// Ingest with its spine: what is published, in order.
pub(crate) struct World {
    pub(crate) core: Core,
    pub(crate) spine: Vec<Event>,
    pub(crate) catalog: Catalog,
    pub(crate) entry: Match,
    pub(crate) outcomes: BTreeMap<String, usize>,
    pub(crate) without_revisions: Vec<String>,
}

impl World {
    pub(crate) fn new(sport: Sport, without_revisions: Vec<String>) -> World {
        let entry = entry(sport);
        let mut world = World {
            core: Core::default(),
            spine: Vec::new(),
            catalog: Catalog::new([entry.clone()]),
            entry,
            outcomes: BTreeMap::new(),
            without_revisions,
        };
        world.restart();
        world
    }

    /// All that was only in memory is gone.
    pub(crate) fn restart(&mut self) {
        self.core = Core::new(self.without_revisions.clone());
        self.core.open(&self.entry);
        for event in &self.spine {
            self.core.recall(event);
        }
    }

    pub(crate) fn take(&mut self, feed: &Feed, mut statement: Statement, now_ms: i64, formats: bool) {
        if !feed.revisions {
            statement.revision = None;
        }
        let outcome = match formats {
            true => {
                self.core.take(feed.id, self.told(feed, &statement), &self.catalog, now_ms, &mut self.spine)
            }
            false => self.core.take(feed.id, statement, &self.catalog, now_ms, &mut self.spine),
        };
        assert!(!matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
        *self.outcomes.entry(format!("{outcome:?}")).or_default() += 1;
    }

    /// Through its format, as it would come.
    fn told(&self, feed: &Feed, statement: &Statement) -> Statement {
        let said = match feed.revisions {
            true => push::read(push::write(statement).as_bytes()).unwrap(),
            false => wire::read(wire::write(self.entry.sport, [statement]).as_bytes())
                .unwrap()
                .remove(0)
                .1
                .unwrap(),
        };
        match said {
            Said::Statement(statement) => statement,
            other => panic!("{other:?}"),
        }
    }
}

/// Plays both feeds to the end, with ingest killed at these times, and gives what was published.
pub(crate) fn play(seed: u64, feeds: &mut [Feed], kills: &[i64], end_ms: i64) -> World {
    let without_revisions =
        feeds.iter().filter(|feed| !feed.revisions).map(|feed| feed.id.to_owned()).collect();
    let mut world = World::new(Sport::Cricket, without_revisions);
    let mut now_ms = START_MS;
    while now_ms <= end_ms + AFTER_MS {
        if kills.iter().any(|kill| (now_ms..now_ms + STEP_MS).contains(kill)) {
            world.restart();
            for feed in &mut *feeds {
                feed.connected = false;
                feed.player.disconnected();
            }
        }
        for feed in &mut *feeds {
            let out = feed.outages.iter().any(|(from, to)| (*from..*to).contains(&now_ms));
            if out && feed.connected {
                feed.connected = false;
                feed.player.disconnected();
            }
            let statements = feed.player.due(now_ms);
            if !out && !feed.connected {
                feed.connected = true;
                feed.player.connected(now_ms, world.core.contiguous(feed.id));
            }
            for statement in statements {
                // Mostly not, since that takes longer than all the rest.
                world.take(feed, statement, now_ms, seed.is_multiple_of(20));
            }
            if feed.connected {
                feed.player.acked(now_ms, world.core.contiguous(feed.id));
                let asked = world.core.ask(feed.id, now_ms);
                feed.player.asked(now_ms, &asked);
            }
        }
        world.core.tick(now_ms, &mut world.spine);
        if now_ms > end_ms && feeds.iter().all(|feed| feed.player.is_done()) {
            break;
        }
        now_ms += STEP_MS;
    }
    for feed in feeds {
        assert!(
            feed.player.is_done(),
            "seed {seed}: {} is never done: {:?}",
            feed.id,
            feed.player.progress()
        );
    }
    // What waits for nothing any more is decided.
    world.core.tick(now_ms + 60_000, &mut world.spine);
    world
}

pub(crate) fn feeds(seed: u64, recording: &Recording, same_mistakes: bool) -> (Vec<Feed>, i64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut end_ms = START_MS;
    // Mostly one of each format, and now and then two of one.
    let formats = match seed % 6 {
        4 => [("a", true), ("b", true)],
        5 => [("a", false), ("b", false)],
        _ => [("a", true), ("b", false)],
    };
    let feeds = formats.map(|(id, revisions)| {
        let seed = if same_mistakes { seed } else { rng.u64(..) };
        let corrections = Corrections { rate: 0.15, after_ms_max: 30_000, seed };
        let said = script(recording, "demo", START_MS, 4.0, corrections);
        end_ms = end_ms.max(said.last().unwrap().venue_ms);
        let faults = Faults { loss: 0.05, repeat: 0.02, reorder_ms: 10_000, delay_ms: rng.i64(100..3_000) };
        let length = end_ms - START_MS;
        let outages = (0..2).map(|_| {
            let from = START_MS + rng.i64(0..length);
            (from, from + rng.i64(1_000..40_000))
        });
        let outages = outages.collect();
        Feed {
            id,
            revisions,
            player: Player::new(Sport::Cricket, said, faults, rng.u64(..)),
            outages,
            connected: false,
        }
    });
    (feeds.into(), end_ms)
}

/// What must hold of every stream, and of where it ends.
pub(crate) fn check(seed: u64, published: &[Event], truth: &HashMap<EventId, &Body>) {
    let mut once = HashSet::new();
    let mut newest: BTreeMap<EventId, &Event> = BTreeMap::new();
    for event in published {
        let key = (event.event_id, event.revision);
        assert!(once.insert(key), "seed {seed}: {key:?} is published twice");
        if let Some(before) = newest.insert(event.event_id, event) {
            assert!(
                before.revision < event.revision,
                "seed {seed}: revisions of {:?} go back",
                event.event_id
            );
        }
    }
    for (id, body) in truth {
        let event = newest.get(id).unwrap_or_else(|| panic!("seed {seed}: {id:?} is lost"));
        assert_eq!(event.body, **body, "seed {seed}: {id:?} ends wrong");
    }
    assert_eq!(newest.len(), truth.len(), "seed {seed}: something is made up");
}

pub(crate) fn truth(recording: &Recording) -> HashMap<EventId, &Body> {
    recording.statements.iter().map(|timed| (timed.body.event_id(), &timed.body)).collect()
}
