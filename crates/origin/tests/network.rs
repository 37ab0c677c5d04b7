//! The same over real sockets: HTTP/1.1 and HTTP/2 in the clear, on a port from the kernel.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use common::*;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use origin::{Config, FixedOrder};
use timeline::name::Letter;
use timeline::object::{META_HEADER, Meta};
use timeline::programme::Programme;
use timeline::{Position, Utc};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

type Http = Client<HttpConnector, Full<Bytes>>;

async fn put(http: &Http, url: String, meta: Option<&Meta>, body: Bytes) -> StatusCode {
    let mut request = Request::put(url);
    if let Some(meta) = meta {
        request = request.header(META_HEADER, serde_json::to_string(meta).unwrap());
    }
    http.request(request.body(Full::new(body)).unwrap()).await.unwrap().status()
}

async fn get(http: &Http, url: String) -> (StatusCode, Bytes) {
    let request = Request::get(url).body(Full::default()).unwrap();
    let response = http.request(request).await.unwrap();
    (response.status(), response.into_body().collect().await.unwrap().to_bytes())
}

#[tokio::test]
async fn both_protocols_and_a_clean_end() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/m/r/p", listener.local_addr().unwrap());
    let shutdown = CancellationToken::new();
    let server = origin::serve(Config::default(), listener, Arc::new(FixedOrder), shutdown.clone());
    let server = tokio::spawn(server);
    let one: Http = Client::builder(TokioExecutor::new()).build_http();
    let two: Http = Client::builder(TokioExecutor::new()).http2_only(true).build_http();

    // The match began so long ago that segment 100 is on air.
    let now = Utc(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64);
    let epoch = Utc(now.0 - grid().segment_start(100).micros());
    let programme = Programme { epoch, ..announced() };
    let body = Bytes::from(serde_json::to_vec(&programme).unwrap());
    assert_eq!(put(&one, format!("{base}/programme.json"), None, body.clone()).await, 204);
    assert_eq!(put(&two, format!("{base}/programme.json"), None, body).await, 204);
    let (id, bytes) = init(0);
    assert_eq!(put(&one, format!("{base}/v/init-{id}.mp4"), None, bytes).await, 204);

    // 200 kB go through whole, whatever the protocol, and both kinds of client are released by one PUT.
    let position: Position = at(100, 0);
    let bytes = media("v/100a.0", 0, 200_000);
    let waiting = [one.clone(), two.clone()].map(|http| {
        let url = format!("{base}/v/100a.0.m4s");
        tokio::spawn(async move { get(&http, url).await })
    });
    let url = format!("{base}/v/100{}.0.m4s", Letter::A);
    assert_eq!(put(&two, url, Some(&part_meta(position)), bytes.clone()).await, 204);
    for answer in waiting {
        assert_eq!(answer.await.unwrap(), (StatusCode::OK, bytes.clone()));
    }
    let (status, text) = get(&two, format!("{base}/hls/v.m3u8?_HLS_msn=100&_HLS_part=0")).await;
    assert_eq!(status, 200);
    assert!(String::from_utf8_lossy(&text).contains("v/100a.0.m4s"));

    // A held request does not hold up the end.
    let held = tokio::spawn({
        let (one, base) = (one.clone(), base.clone());
        async move { get(&one, format!("{base}/hls/en.m3u8")).await }
    });
    tokio::task::yield_now().await;
    shutdown.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(5), server).await;
    ended.expect("the server ends").unwrap().unwrap();
    drop(held);
}
