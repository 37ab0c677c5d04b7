//! What has left memory is on disk, also for the next process, and a purge reaches it there.
#![allow(clippy::unwrap_used)]

mod support;

use edge::{Config, Purge, Server, What};
use support::{Client, HANG, Upstream, ok};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const MEGABYTE: usize = 1_000_000;
/// More than memory holds.
const OBJECTS: usize = 130;

struct Running {
    client: Client,
    edge: std::sync::Arc<edge::Edge>,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<()>,
}

async fn start(upstream: &Upstream, folder: &std::path::Path) -> Running {
    let config = Config {
        upstream: vec![format!("http://{}", upstream.address).parse().unwrap()],
        memory_mb: edge::MEMORY_MB_MIN,
        disk: Some(folder.to_owned()),
        ..Config::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::at(listener.local_addr().unwrap());
    let server = Server::open(&config, listener).await.unwrap();
    let (edge, stop) = (server.edge(), CancellationToken::new());
    let ended = tokio::spawn(server.run(stop.clone(), CancellationToken::new()));
    Running { client, edge, stop, ended }
}

async fn end(running: Running) {
    drop((running.client, running.edge));
    running.stop.cancel();
    timeout(HANG, running.ended).await.unwrap().unwrap();
}

fn body(path: &str) -> Vec<u8> {
    path.as_bytes().repeat(MEGABYTE / path.len())
}

/// Asks for all, and says how many came without the upstream.
async fn known(running: &Running, upstream: &Upstream) -> usize {
    let before = upstream.asked().len();
    for n in 0..OBJECTS {
        let path = format!("/m/{n}/1.m4s");
        let (status, got) = running.client.get(&path).await;
        assert!(status == 200 && got == body(&path), "{path}");
    }
    OBJECTS - (upstream.asked().len() - before)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_left_memory_is_on_disk_also_for_the_next_process_until_it_is_purged() {
    let folder = tempfile::tempdir().unwrap();
    let upstream =
        Upstream::start(|request, _| async move { ok("max-age=600", body(request.uri().path())) }).await;
    let first = start(&upstream, folder.path()).await;
    assert_eq!(known(&first, &upstream).await, 0);
    // Writing is behind, and may drop what it cannot take; everything comes sooner or later.
    let all = timeout(HANG, async { while known(&first, &upstream).await < OBJECTS {} });
    all.await.expect("memory and disk hold all of it");
    end(first).await;

    let second = start(&upstream, folder.path()).await;
    let back = known(&second, &upstream).await;
    // What was only in memory is gone.
    assert!(back >= OBJECTS - 96, "{back} of {OBJECTS} came back from disk");
    timeout(HANG, async { while known(&second, &upstream).await < OBJECTS {} }).await.unwrap();
    second.edge.purge(&Purge { what: What::Prefix("/m/".into()), soft: false });
    assert_eq!(known(&second, &upstream).await, 0, "all were purged");
    second.edge.purge(&Purge { what: What::All(true), soft: false });
    end(second).await;

    let third = start(&upstream, folder.path()).await;
    assert_eq!(known(&third, &upstream).await, 0, "what was purged stays so in the next process");
    end(third).await;
}
