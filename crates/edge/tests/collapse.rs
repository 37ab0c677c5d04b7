//! One fetch, however many ask; what arrives is passed on; what is cut is not taken for whole.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::join_all;
use support::{Client, Edge, Upstream, cut, drip, header, next, ok, read};
use tokio::sync::watch;

/// An upstream that answers everything with one drip after the other, each kept for a minute.
async fn drips(
    count: usize,
    length: Option<usize>,
) -> (Upstream, Vec<tokio::sync::mpsc::UnboundedSender<Result<&'static str, std::io::Error>>>) {
    let (senders, bodies): (Vec<_>, Vec<_>) = (0..count).map(|_| drip()).unzip();
    let bodies = Mutex::new(bodies.into_iter());
    let upstream = Upstream::start(move |_, _| {
        let body = bodies.lock().unwrap().next().expect("one fetch more than scripted");
        let mut answer = ok("max-age=60", body);
        if let Some(length) = length {
            answer.headers_mut().insert("content-length", length.into());
        }
        async { answer }
    })
    .await;
    (upstream, senders)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_askers_are_one_fetch() {
    let (upstream, mut drip) = drips(1, Some(8)).await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    drip[0].send(Ok("half")).unwrap();
    let mut answers = join_all((0..500).map(|_| client.head_of("/m/1a.m4s"))).await;
    for answer in &mut answers {
        assert_eq!(header(answer, "content-length"), "8");
        // All 500 are inside the one fill now: it has not ended, and each has its first bytes.
        assert_eq!(next(answer).await.unwrap().unwrap(), "half");
    }
    drip.pop().unwrap().send(Ok("rest")).unwrap();
    for rest in join_all(answers.into_iter().map(read)).await {
        assert_eq!(rest.unwrap(), "rest");
    }
    assert_eq!(upstream.asked(), ["/m/1a.m4s"]);
}

#[tokio::test]
async fn a_joiner_gets_what_is_held_at_once_and_the_rest_as_it_arrives() {
    let (upstream, mut drip) = drips(1, None).await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    drip[0].send(Ok("one ")).unwrap();
    let mut first = client.head_of("/m/1a.m4s").await;
    assert_eq!(next(&mut first).await.unwrap().unwrap(), "one ");
    drip[0].send(Ok("two ")).unwrap();
    assert_eq!(next(&mut first).await.unwrap().unwrap(), "two ");

    let mut joiner = client.head_of("/m/1a.m4s").await;
    let mut got = Vec::new();
    while got.len() < 8 {
        got.extend_from_slice(&next(&mut joiner).await.unwrap().unwrap());
    }
    assert_eq!(got, b"one two ");
    drip[0].send(Ok("three")).unwrap();
    assert_eq!(next(&mut joiner).await.unwrap().unwrap(), "three");
    assert_eq!(next(&mut first).await.unwrap().unwrap(), "three");
    drop(drip.pop());
    assert!(read(joiner).await.unwrap().is_empty() && read(first).await.unwrap().is_empty());
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn the_fill_goes_on_when_the_first_asker_leaves() {
    let (upstream, mut drip) = drips(1, Some(8)).await;
    let edge = Edge::start(upstream.address).await;
    // The first waits for headers and leaves, with its connection.
    let first = tokio::spawn({
        let client = Client::of(&edge);
        async move { client.head_of("/m/1a.m4s").await }
    });
    upstream.asked_times(1).await;
    first.abort();
    let client = Client::of(&edge);
    drip[0].send(Ok("half")).unwrap();
    // The second leaves inside the body.
    let mut second = client.head_of("/m/1a.m4s").await;
    assert_eq!(next(&mut second).await.unwrap().unwrap(), "half");
    let third = client.head_of("/m/1a.m4s").await;
    drop(second);
    drip.pop().unwrap().send(Ok("rest")).unwrap();
    assert_eq!(read(third).await.unwrap(), "halfrest");
    assert_eq!(client.get("/m/1a.m4s").await, (200, "halfrest".into()));
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn a_cut_upstream_is_an_error_to_all_and_the_next_fetches_again() {
    for length in [Some(8), None] {
        let (upstream, drip) = drips(2, length).await;
        let edge = Edge::start(upstream.address).await;
        let client = Client::of(&edge);
        drip[0].send(Ok("half")).unwrap();
        let mut readers = join_all((0..5).map(|_| client.head_of("/m/1a.m4s"))).await;
        for reader in &mut readers {
            assert_eq!(next(reader).await.unwrap().unwrap(), "half");
        }
        drip[0].send(cut()).unwrap();
        for reader in readers {
            assert!(read(reader).await.is_err(), "a cut answer of length {length:?} looks whole");
        }
        drip[1].send(Ok("halfrest")).unwrap();
        drop(drip);
        assert_eq!(client.get("/m/1a.m4s").await, (200, "halfrest".into()));
        assert_eq!(upstream.asked().len(), 2);
    }
}

/// Over HTTP/2 a cut is a reset of the stream, and the connection lives on.
#[tokio::test]
async fn a_cut_upstream_resets_an_http2_stream() {
    use hyper_util::client::legacy::Client as Pool;
    use hyper_util::rt::TokioExecutor;
    let (upstream, drip) = drips(2, None).await;
    let edge = Edge::start(upstream.address).await;
    let client = Pool::builder(TokioExecutor::new()).http2_only(true).build_http();
    let get = |client: &Pool<_, http_body_util::Empty<bytes::Bytes>>| {
        client.get(format!("http://{}/m/1a.m4s", edge.address).parse().unwrap())
    };
    drip[0].send(Ok("half")).unwrap();
    let mut answer = get(&client).await.unwrap();
    assert_eq!(answer.version(), http::Version::HTTP_2);
    assert_eq!(next(&mut answer).await.unwrap().unwrap(), "half");
    drip[0].send(cut()).unwrap();
    assert!(read(answer).await.is_err());
    drip[1].send(Ok("whole")).unwrap();
    drop(drip);
    assert_eq!(read(get(&client).await.unwrap()).await.unwrap(), "whole");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_request_passes_through_and_wakes_all_waiters_together() {
    let (open, gate) = watch::channel(false);
    let upstream = Upstream::start(move |_, _| {
        let mut gate = gate.clone();
        async move {
            gate.wait_for(|open| *open).await.unwrap();
            ok("max-age=60", "#EXTM3U")
        }
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    let waiters: Vec<_> = (0..200)
        .map(|n| {
            let client = client.clone();
            // The same request in other words.
            let target = match n % 2 {
                0 => "/m/v.m3u8?_HLS_msn=7&_HLS_part=3",
                _ => "/m/v.m3u8?_HLS_part=3&viewer=5&_HLS_msn=7",
            };
            tokio::spawn(async move { (client.get(target).await, Instant::now()) })
        })
        .collect();
    upstream.asked_times(1).await;
    // Another key is not held up by the held one.
    let other = tokio::spawn({
        let client = client.clone();
        async move { client.get("/m/v.m3u8?_HLS_msn=8").await }
    });
    upstream.asked_times(2).await;
    open.send(true).unwrap();
    let mut last = Duration::ZERO;
    let opened = Instant::now();
    for waiter in waiters {
        let (answer, at) = waiter.await.unwrap();
        assert_eq!(answer, (200, "#EXTM3U".into()));
        last = last.max(at.saturating_duration_since(opened));
    }
    assert!(last < Duration::from_secs(1), "the last waiter was woken after {last:?}");
    other.await.unwrap();
    assert_eq!(upstream.asked(), ["/m/v.m3u8?_HLS_msn=7&_HLS_part=3", "/m/v.m3u8?_HLS_msn=8"]);
}

#[tokio::test]
async fn a_slow_reader_holds_up_nobody() {
    let big: &'static [u8] = vec![7; 16 << 20].leak();
    let upstream = Upstream::start(move |_, _| async move { ok("max-age=60", big) }).await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    // Reads its headers and nothing more.
    let slow = client.head_of("/m/1a.m4s").await;
    assert_eq!(client.get("/m/1a.m4s").await.1.len(), big.len());
    drop(slow);
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn answers_for_one_alone_are_shared_with_nobody() {
    let (open, gate) = watch::channel(false);
    let upstream = Upstream::start(move |_, n| {
        let mut gate = gate.clone();
        async move {
            gate.wait_for(|open| *open).await.unwrap();
            Response::builder()
                .header("set-cookie", format!("id={n}"))
                .body(Body::from(format!("for {n}")))
                .unwrap()
        }
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    let waiters: Vec<_> = (0..30)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let answer = client.head_of("/m/account.json").await;
                (header(&answer, "set-cookie").to_owned(), read(answer).await.unwrap())
            })
        })
        .collect();
    upstream.asked_times(1).await;
    open.send(true).unwrap();
    let mut bodies = Vec::new();
    for waiter in waiters {
        let (cookie, body) = waiter.await.unwrap();
        assert_eq!(format!("for {}", cookie.trim_start_matches("id=")), body);
        bodies.push(body);
    }
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), 30, "an answer was given twice");
    // The first one's answer was used, not thrown away.
    assert_eq!(upstream.asked().len(), 30);
}

#[tokio::test]
async fn failures_at_the_live_edge_go_to_those_who_wait_and_are_never_kept() {
    let found = Arc::new(Mutex::new(404));
    let status = found.clone();
    let upstream = Upstream::start(move |_, _| {
        let status = *status.lock().unwrap();
        async move {
            Response::builder()
                .status(status)
                .header("cache-control", "max-age=60")
                .body(Body::from("x"))
                .unwrap()
        }
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    for status in [404, 500, 503, 410, 200] {
        *found.lock().unwrap() = status;
        assert_eq!(client.get("/m/1a.m4s").await.0, status);
    }
    assert_eq!(client.get("/m/1a.m4s").await.0, 200);
    assert_eq!(upstream.asked().len(), 5);
}
