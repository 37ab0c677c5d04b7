//! The same over real connections and a real clock: a match of a few seconds that ends by itself.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod ground;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ground::Ground;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use loadgen::player::Answer;
use loadgen::swarm::Ask;
use loadgen::{Config, Mode};
use tokio::net::TcpListener;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64
}

/// A match whose segment 106 begins now; and how a request is answered: held, as an origin would, and looked
/// at every 5 ms, as an origin would not.
async fn on_air(last: u64) -> String {
    let mut ground = Ground { last, ..Ground::default() };
    ground.epoch = timeline::Utc(now() - ground.grid.segment_start(106).micros());
    let ground = Arc::new(ground);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let ground = ground.clone();
            let service = service_fn(move |request| answer(ground.clone(), request));
            tokio::spawn(async move {
                let serving = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                // A client that leaves is no fault of the server's.
                let _ = serving.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    });
    format!("http://{address}/main/hls")
}

async fn answer(
    ground: Arc<Ground>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let url = format!("http://ground{}", request.uri());
    loop {
        let (status, body) = match ground.answer(&url, now()) {
            Some(Answer::Body(body)) => (200, body),
            Some(Answer::Status(status)) => (status, Bytes::new()),
            Some(Answer::Failed(_)) => (500, Bytes::new()),
            None => {
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
        };
        return Ok(Response::builder().status(status).body(Full::new(body)).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audience_sees_a_match_to_its_end() {
    let base = on_air(107).await;
    let config = Config {
        url: format!("{base}/master.m3u8"),
        clients: 3,
        seconds: Some(60),
        mode: Mode::LowLatency,
        height: Some(720),
        language: None,
    };
    let seen = loadgen::run(config, std::future::pending()).await.unwrap();
    assert_eq!((seen.clients, seen.started, seen.faults, seen.errors), (3, 3, 0, 0), "{:?}", seen.reports);
    for report in &seen.reports {
        assert!(report.finished && report.objects > 8, "{report:?}");
        assert!(report.latency_ms.min >= 900.0, "{report:?}");
    }
    assert!(serde_json::to_string(&seen).unwrap().contains("\"mode\":\"low-latency\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_swarm_gets_each_part() {
    let base = on_air(u64::MAX).await;
    let list = format!("{base}/v720.m3u8");
    for ask in [Ask::Part, Ask::Playlist] {
        let options = loadgen::swarm::Options {
            edges: vec![list.clone(), list.replace("127.0.0.1", "localhost")],
            reference: Some(list.clone()),
            clients: 20,
            rounds: 2,
            ask,
        };
        let seen = loadgen::swarm(options, std::future::pending()).await.unwrap();
        assert_eq!((seen.rounds, seen.answers, seen.errors), (2, 40, 0), "{seen:?}");
        assert_eq!((seen.faults.len(), seen.latency_ms.count), (0, 40));
        assert!(seen.latency_ms.max < 300.0 && seen.bytes > 40 * 10, "{seen:?}");
    }
}

#[tokio::test]
async fn whoever_is_told_to_leaves() {
    let config = |url: &str| Config {
        url: url.to_owned(),
        clients: 2,
        seconds: Some(0),
        mode: Mode::Ordinary,
        height: None,
        language: None,
    };
    // Nobody listens on port 1; that would be for the reports to say.
    let seen = loadgen::run(config("http://127.0.0.1:1/master.m3u8"), std::future::pending()).await.unwrap();
    assert_eq!((seen.clients, seen.started), (2, 0));
    for bad in ["", "master.m3u8", "ftp://x/master.m3u8", "https://x/master.m3u8"] {
        let said = loadgen::run(config(bad), std::future::pending()).await.unwrap_err().to_string();
        assert!(said.contains("is not an http:// URL"), "{said}");
    }
}
