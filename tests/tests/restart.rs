//! A restart of the edge under load: nobody sees it.

#![allow(clippy::unwrap_used, missing_docs)]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::Request;
use e2e::program::Program;
use e2e::roles::free_tcp_port;
use e2e::web::Web;
use e2e::{process, setting, until};
use rustix::process::{Resource, Signal, getrlimit, setrlimit};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Requests that are held while the process changes.
const HELD: usize = 500;
/// Objects that they ask for.
const OBJECTS: usize = 100;
/// Nothing here takes longer unless it hangs; a server waits 10 s at most for its last connections.
const HANG: Duration = Duration::from_secs(40);

/// A client that counts every irregularity as an error: a connection that ends before it was said to.
struct Raw(BufReader<TcpStream>);

/// An answer.
struct Answer {
    status: u16,
    last: bool,
    body: Vec<u8>,
}

impl Raw {
    async fn connect(port: u16) -> Raw {
        Raw(BufReader::new(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap()))
    }

    async fn ask(&mut self, path: &str, more: &str) {
        let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{more}\r\n");
        self.0.write_all(head.as_bytes()).await.unwrap();
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        assert!(line.ends_with("\r\n"), "the connection ended after {line:?}");
        line.trim_end().to_ascii_lowercase()
    }

    async fn exactly(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).await.unwrap();
        bytes
    }

    async fn answer(&mut self) -> Answer {
        let status = self.line().await["http/1.1 ".len()..][..3].parse().unwrap();
        let (mut last, mut length) = (false, None);
        loop {
            let line = self.line().await;
            match line.split_once(": ") {
                Some(("connection", value)) => last = value == "close",
                Some(("content-length", value)) => length = Some(value.parse().unwrap()),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = Vec::new();
        match length {
            Some(length) => body = self.exactly(length).await,
            None => loop {
                let size = usize::from_str_radix(&self.line().await, 16).unwrap();
                body.extend(self.exactly(size).await);
                assert_eq!(self.line().await, "");
                if size == 0 {
                    break;
                }
            },
        }
        Answer { status, last, body }
    }
}

/// Answers `/held/…` when the gate is opened, everything else at once, each with its path.
async fn upstream(gate: watch::Receiver<bool>, asked: Arc<AtomicUsize>) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = axum::Router::new().fallback(move |request: Request| {
        let (mut gate, asked) = (gate.clone(), asked.clone());
        async move {
            let path = request.uri().path().to_owned();
            if path.starts_with("/held/") {
                asked.fetch_add(1, Ordering::Relaxed);
                gate.wait_for(|open| *open).await.unwrap();
            }
            ([("cache-control", "max-age=60")], path)
        }
    });
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    port
}

/// The edge's process that has the traffic, which may have been started by the one that we started.
struct Edge {
    program: Program,
    folder: tempfile::TempDir,
    port: u16,
    admin: String,
}

impl Edge {
    async fn start(upstream: u16, more: &[&str]) -> Edge {
        let folder = tempfile::tempdir().unwrap();
        let (port, admin) = (free_tcp_port(), format!("127.0.0.1:{}", free_tcp_port()));
        let (listen, upstream) = (format!("127.0.0.1:{port}"), format!("http://127.0.0.1:{upstream}"));
        let args = ["edge", "--listen", &listen, "--admin", &admin, "--upstream", &upstream];
        let program = Program::start(folder.path(), "edge", &[more, &args].concat());
        let edge = Edge { program, folder, port, admin: format!("http://{admin}/metrics") };
        until("the edge", HANG, async || Web::default().try_get(&edge.admin).await.ok()).await;
        edge
    }

    /// Held requests of the process that answers for its metrics.
    async fn held(&self) -> usize {
        let Ok(metrics) = Web::default().try_get(&self.admin).await else { return 0 };
        let metrics = metrics.text();
        let gauge = metrics.lines().find_map(|line| line.strip_prefix("edge_held_requests "));
        gauge.map_or(0, |value| value.parse::<f64>().unwrap() as usize)
    }

    /// Sends SIGHUP to a process of it, and waits until another has taken over: that one's number.
    async fn succeed(&self, pid: u32) -> u32 {
        process::signal(pid, Signal::HUP);
        let text = "a new process has taken over";
        let before = self.program.log().matches(text).count();
        until("a successor", HANG, async || {
            (self.program.log().matches(text).count() > before).then_some(())
        })
        .await;
        let log = self.program.log();
        log.rsplit("process=").next().unwrap().trim().parse().unwrap()
    }
}

/// Asks all the time, over one connection as long as it may or with one for each request, until it is told to stop.
/// How many answers there were.
async fn stream(port: u16, stays: bool, stop: Arc<AtomicBool>) -> usize {
    let mut answers = 0;
    let mut connection = Raw::connect(port).await;
    while !stop.load(Ordering::Relaxed) {
        let path = format!("/new/{}.m4s", answers % 10);
        connection.ask(&path, if stays { "" } else { "Connection: close\r\n" }).await;
        let answer = connection.answer().await;
        assert_eq!((answer.status, answer.body), (200, path.into_bytes()));
        answers += 1;
        if answer.last {
            connection = Raw::connect(port).await;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    answers
}

/// As many descriptors as this process may have: each held request takes one. The edge does the same for itself.
fn more_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit }).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_is_seen_by_nobody() {
    more_descriptors();
    let held = setting("PAVILION_HELD", HELD);
    let (open, gate) = watch::channel(false);
    let asked = Arc::new(AtomicUsize::new(0));
    let mut edge = Edge::start(upstream(gate, asked.clone()).await, &[]).await;
    let first = edge.program.pid();

    let stop = Arc::new(AtomicBool::new(false));
    let mut streams = JoinSet::new();
    for n in 0..8 {
        streams.spawn(stream(edge.port, n % 2 == 0, stop.clone()));
    }
    // One that asks, rests, and asks again after the change.
    let mut idle = Raw::connect(edge.port).await;
    idle.ask("/new/0.m4s", "").await;
    assert!(!idle.answer().await.last);

    let mut waiting = JoinSet::new();
    for n in 0..held {
        let mut connection = Raw::connect(edge.port).await;
        let path = format!("/held/{}.m4s", n % OBJECTS);
        connection.ask(&path, "").await;
        waiting.spawn(async move {
            let answer = connection.answer().await;
            assert_eq!((answer.status, answer.body), (200, path.into_bytes()));
            answer.last
        });
    }
    until("requests held", HANG, async || (edge.held().await >= held).then_some(())).await;
    assert_eq!(asked.load(Ordering::Relaxed), OBJECTS.min(held));

    let second = edge.succeed(first).await;
    assert!(process::alive(first) && process::alive(second));
    assert!(waiting.try_join_next().is_none(), "they are still held");
    open.send(true).unwrap();
    let mut count = 0;
    while let Some(last) = waiting.join_next().await {
        assert!(last.unwrap(), "who leaves says so");
        count += 1;
    }
    assert_eq!(count, held);
    idle.ask("/new/0.m4s", "").await;
    assert!(idle.answer().await.last);
    drop(idle);

    assert!(edge.program.ends_within(HANG).success());
    // And once more, with what was handed over before.
    let third = edge.succeed(second).await;
    assert!(process::gone(&[second], HANG));
    stop.store(true, Ordering::Relaxed);
    while let Some(answers) = streams.join_next().await {
        assert!(answers.unwrap() > 10);
    }
    process::signal(third, Signal::TERM);
    assert!(process::gone(&[third], HANG));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_successor_that_cannot_start_changes_nothing() {
    let (_open, gate) = watch::channel(true);
    let upstream = upstream(gate, Arc::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pavilion.toml");
    std::fs::write(&file, "[edge]\n").unwrap();
    let mut edge = Edge::start(upstream, &["--config", file.to_str().unwrap()]).await;
    std::fs::write(&file, "[edge]\nmemory_mb = 1\n").unwrap();
    process::signal(edge.program.pid(), Signal::HUP);
    until("its complaint", HANG, async || {
        edge.program.log().contains("no new process takes over").then_some(())
    })
    .await;
    assert!(edge.program.log().contains("--memory-mb"), "{}", edge.program.log());
    let mut client = Raw::connect(edge.port).await;
    for _ in 0..2 {
        client.ask("/new/0.m4s", "").await;
        let answer = client.answer().await;
        assert_eq!((answer.status, answer.last), (200, false));
    }
    assert!(edge.folder.path().exists());
    drop(client);
    assert!(edge.program.end().success());
}
