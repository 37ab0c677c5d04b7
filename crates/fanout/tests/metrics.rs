//! What the room counts. A test binary of its own, since a recorder is one for the whole process.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use metrics_exporter_prometheus::PrometheusBuilder;
use support::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_fields_terms_are_counted() {
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let world = world(fanout::Config::default()).await;
    // What there was before is no delivery that was late.
    world.script.publish("m", 99, 1, 0);
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    ws.expect("subscribed").await;
    ws.expect("live").await;
    // A correction within the window of what it corrects, and something published twice.
    for (event, revision) in [(1, 1), (2, 1), (2, 2), (2, 2), (3, 1)] {
        world.script.publish("m", event, revision, 0);
    }
    for _ in 0..4 {
        ws.expect("score_event").await;
    }
    let is = |line: &str| metrics.render().lines().any(|one| one == line);
    for line in [
        "fanout_sockets{transport=\"websocket\"} 1",
        "fanout_subscriptions 1",
        "fanout_messages_total 5",
        "fanout_duplicates_dropped_total 1",
        "fanout_deliveries_total 4",
        "fanout_flush_seconds_count 4",
        "revision_collapsed_at_edge_total 0",
        "fanout_refusals_total{reason=\"rate\"} 0",
        "fanout_closes_total{code=\"4000\"} 0",
    ] {
        until(line, || is(line)).await;
    }
    drop(ws);
    until("it is gone", || is("fanout_sockets{transport=\"websocket\"} 0") && is("fanout_subscriptions 0"))
        .await;
}
