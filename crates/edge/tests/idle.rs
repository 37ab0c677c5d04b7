//! Connections that ask for nothing wait elsewhere, and come back as if they had not.
#![allow(clippy::unwrap_used)]

mod support;

use edge::Config;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use support::{Upstream, ok, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

const CLIENTS: usize = 50;

fn idle(metrics: &PrometheusHandle) -> f64 {
    let text = metrics.render();
    let line = text.lines().find(|line| line.starts_with("edge_idle_connections "));
    line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

async fn ask(client: &mut TcpStream) {
    client.write_all(b"GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"body") {
        assert_ne!(client.read_buf(&mut answer).await.unwrap(), 0, "{}", String::from_utf8_lossy(&answer));
    }
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn an_idle_connection_waits_and_comes_back_and_is_let_go_of() {
    let metrics = PrometheusBuilder::new().install_recorder().unwrap();
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "body") }).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let config = Config {
        upstream: vec![format!("http://{}", upstream.address).parse().unwrap()],
        ..Config::default()
    };
    let served = tokio::spawn(edge::serve(config, listener, stop.clone()));
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = TcpStream::connect(address).await.unwrap();
        ask(&mut client).await;
        clients.push(client);
    }
    // One has said half a word: it is not idle, but slow.
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"GET /m/1a.m4s HT").await.unwrap();
    until(async || idle(&metrics) == CLIENTS as f64).await;

    // They come back as often as they like.
    for _ in 0..2 {
        for client in &mut clients {
            ask(client).await;
        }
        until(async || idle(&metrics) == CLIENTS as f64).await;
    }
    slow.write_all(b"TP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    slow.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");

    // Those that leave are noticed, and the end closes the others.
    let mut left = clients.split_off(CLIENTS / 2);
    drop(clients);
    drop(slow);
    until(async || idle(&metrics) == left.len() as f64).await;
    stop.cancel();
    served.await.unwrap().unwrap();
    for client in &mut left {
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0, "closed without a reset");
    }
    assert_eq!(idle(&metrics), 0.0);
}
