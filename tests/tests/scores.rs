//! The score, from two poor feeds to viewers of every transport, while its roles are killed.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use e2e::scores::{How, Plane, Viewer};
use e2e::web::Web;
use e2e::{random, setting, until};
use scores::{Body, EventId, Recording, recording};

const MATCH: &str = "final";
/// 39 minutes of match in a bit more than half a minute.
const SPEED: &str = "70";
/// The promise for any role.
const BACK_MAX: Duration = Duration::from_secs(5);
/// After the last ball: what feeds lost is asked for again, viewers who were away come back.
const END_MAX: Duration = Duration::from_secs(60);

fn now_ms() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64
}

/// What must stand in the end.
fn truth() -> BTreeMap<EventId, Body> {
    let recording = Recording::read(recording::DEMO).unwrap();
    recording.events(MATCH, 0, 1.0).into_iter().map(|event| (event.event_id, event.body)).collect()
}

fn knows_all(viewer: &Viewer, truth: &BTreeMap<EventId, Body>) -> bool {
    viewer.seen.lock().unwrap().last == *truth
}

fn never_twice_and_never_backwards(viewer: &Viewer) {
    let seen = viewer.seen.lock().unwrap();
    let mut revisions: BTreeMap<EventId, u32> = BTreeMap::new();
    for (event, revision) in &seen.order {
        let before = revisions.insert(*event, *revision).unwrap_or(0);
        assert!(*revision > before, "{:?}: {event:?} {revision} after {before}", viewer.how);
    }
    assert_eq!(seen.gaps, 0, "{:?}: told to take a snapshot though it was never away long", viewer.how);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_viewer_has_the_right_card_though_feeds_are_poor_and_roles_are_killed() {
    let mut random = random("scores");
    let folder = tempfile::tempdir().unwrap();
    let mut plane = Plane::start(folder.path(), MATCH).await;
    let ways = [How::Json, How::Json, How::Proto, How::Sse, How::Poll];
    let viewers = ways.map(|how| plane.viewer(how, MATCH));
    let all_here = async || viewers.iter().all(|v| v.seen.lock().unwrap().here).then_some(());
    until("viewers are subscribed", BACK_MAX * 2, all_here).await;

    let start = (now_ms() + 500).to_string();
    let mut feeds = Vec::new();
    for (format, outage) in [("push", "10+4"), ("wire", "20+4")] {
        let seed = random.u32(..).to_string();
        let faults = ["--loss", "0.05", "--repeat", "0.02", "--reorder-ms", "400", "--corrections", "0.05"];
        let play = ["--speed", SPEED, "--start-ms", &start, "--seed", &seed, "--outage", outage];
        feeds.push(plane.feed(format, MATCH, &[&faults[..], &play[..]].concat()));
    }

    let web = Web::default();
    let truth = truth();
    let mut kills = 0;
    while kills < setting("PAVILION_SCORE_KILLS", 8) {
        tokio::time::sleep(Duration::from_millis(random.u64(1_000..3_000))).await;
        let role = ["ingest", "shard", "fanout", "snapshot"][kills % 4];
        plane.kill(role);
        kills += 1;
        let killed = Instant::now();
        let back = async || {
            let snapshot = web.try_get(&plane.resource(MATCH, "snapshot")).await.ok()?;
            let fresh = snapshot.status == 200 && !snapshot.headers.contains_key("x-snapshot-stale");
            let takes = web.try_get(&format!("{}/v1/feeds", plane.ingest())).await.is_ok();
            (fresh && takes && all_here().await.is_some()).then_some(())
        };
        until(&format!("{role} is back"), BACK_MAX, back).await;
        println!("{role} was back after {:?}", killed.elapsed());
    }
    let done = async || viewers.iter().all(|v| knows_all(v, &truth)).then_some(());
    let waited = tokio::time::timeout(END_MAX, until("the end", END_MAX * 2, done)).await;
    if waited.is_err() {
        for viewer in &viewers {
            let seen = viewer.seen.lock().unwrap();
            let missing: BTreeSet<_> = truth.keys().filter(|id| !seen.last.contains_key(id)).collect();
            let wrong: Vec<_> =
                truth.iter().filter(|(id, body)| seen.last.get(id).is_some_and(|b| b != *body)).collect();
            println!(
                "{:?}: {} of {}; missing {missing:?}; wrong {wrong:?}",
                viewer.how,
                seen.last.len(),
                truth.len()
            );
        }
        panic!("not everybody knows all");
    }
    viewers.iter().for_each(never_twice_and_never_backwards);
    let card: serde_json::Value =
        serde_json::from_str(&web.text(&plane.resource(MATCH, "card")).await).unwrap();
    let mut book = scores::Book::new(scores::Sport::Cricket);
    let recording = Recording::read(recording::DEMO).unwrap();
    for event in recording.events(MATCH, 0, 1.0) {
        book.take(&event);
    }
    assert_eq!(card["card"], serde_json::to_value(book.card(None)).unwrap());
    drop(feeds);
}
