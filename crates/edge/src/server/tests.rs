//! A connection of HTTP/1.1 without a socket: what it does with clients that are slow, leave, or come early.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, advance, sleep};

use super::client::Client;
use super::course::Phase;
use super::h1::{After, Connection};
use super::*;
use crate::config::Config;
use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::limits::{HEADER_BYTES_MAX, HEADER_TIME_MAX, SEND_STALL_MAX};
use crate::log::Protocol;

type Piece = Result<&'static str, Failure>;

/// An upstream that answers each request when it is told to, with pieces as they are sent.
struct Script(mpsc::UnboundedSender<(String, mpsc::UnboundedSender<Piece>)>);

impl Fetch for Script {
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        let (say, mut said) = mpsc::unbounded_channel();
        let _ = self.0.send((ask.target, say));
        async move {
            let first = said.recv().await.ok_or(Failure::Unreachable)?;
            let rest = stream::unfold(said, async |mut said| said.recv().await.map(|piece| (piece, said)));
            let pieces = stream::iter([first]).chain(rest);
            let body = StreamBody::new(pieces.map(|piece| piece.map(|text| Frame::data(Bytes::from(text)))));
            let answer = http::Response::builder()
                .version(http::Version::HTTP_2)
                .header("cache-control", "max-age=3600");
            answer.body(body.boxed_unsync()).map_err(|_| Failure::Unreachable)
        }
        .boxed()
    }
}

/// A connection, the client's end of it, and the upstream.
struct Scene {
    shared: Arc<Shared>,
    client: DuplexStream,
    served: JoinHandle<std::io::Result<Option<Protocol>>>,
    asked: mpsc::UnboundedReceiver<(String, mpsc::UnboundedSender<Piece>)>,
}

/// Bytes that the pipe between both ends holds.
const PIPE: usize = 4 << 10;

impl Scene {
    fn new() -> Scene {
        let config = Config { upstream: vec!["http://127.0.0.1:9".parse().unwrap()], ..Config::default() };
        let (ask, asked) = mpsc::unbounded_channel();
        let edge = Edge::new(&config, Arc::new(Script(ask)));
        let shared = Arc::new(Shared::new(edge, Log::new(&config), None));
        let (client, server) = duplex(PIPE);
        let connection =
            Connection::new(server, Client::new(shared.clone(), ([192, 0, 2, 1], 9).into(), false), false);
        let served = tokio::spawn({
            let shared = shared.clone();
            async move {
                let mut ended = Ok(None);
                let work = async {
                    ended = connection.serve().await.map(|after| match after {
                        After::Handed(handed) => Some(handed.protocol),
                        After::End | After::Idle(_) => None,
                    })
                };
                shared.course.follow(std::pin::pin!(work)).await;
                ended
            }
        });
        Scene { shared, client, served, asked }
    }

    async fn get(&mut self, path: &str) {
        self.client.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    }

    /// Reads up to and with that text.
    async fn read_to(&mut self, end: &str) -> String {
        let mut text = Vec::new();
        while !text.ends_with(end.as_bytes()) {
            text.push(
                self.client.read_u8().await.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&text))),
            );
        }
        String::from_utf8(text).unwrap()
    }

    /// Reads an answer, with its body unless it is one to a HEAD.
    async fn answer(&mut self, has_body: bool) -> (String, String) {
        let head = self.read_to("\r\n\r\n").await;
        let length =
            head.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next()?.parse().ok());
        let mut body = String::new();
        match length {
            _ if !has_body => {}
            Some(0) => {}
            Some(length) => {
                let mut bytes = vec![0; length];
                self.client.read_exact(&mut bytes).await.unwrap();
                body = String::from_utf8(bytes).unwrap();
            }
            None => {
                while !body.ends_with("0\r\n\r\n") {
                    body += &self.read_to("\r\n").await;
                }
                // One chunk and the last.
                body = body.split("\r\n").nth(1).unwrap().to_owned();
            }
        }
        (head, body)
    }

    /// Lets the upstream answer what it is asked next.
    async fn say(&mut self, body: &'static str) {
        self.asked.recv().await.unwrap().1.send(Ok(body)).unwrap();
    }

    /// Puts an object of that path into the store.
    async fn hold(&mut self, path: &str, body: &'static str) {
        self.get(path).await;
        self.say(body).await;
        assert_eq!(self.answer(true).await.1, body);
        while self
            .shared
            .edge
            .hit(&crate::handle::Plain { path, query: None, codings: Default::default() })
            .is_none()
        {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_come_early_are_answered_in_order() {
    let mut scene = Scene::new();
    scene.hold("/1.m4s", "one").await;
    // A hit, one that is waited for, and two hits more, of which one comes in pieces meanwhile.
    let line = |method: &str, n: u8| format!("{method} /{n}.m4s HTTP/1.1\r\nHost: x\r\n\r\n");
    let early = line("GET", 1) + &line("GET", 2) + &line("HEAD", 1) + &line("GET", 1)[..9];
    scene.client.write_all(early.as_bytes()).await.unwrap();
    let (head, body) = scene.answer(true).await;
    assert!(head.contains("content-length: 3\r\n") && body == "one", "{head}{body}");
    let (target, say) = scene.asked.recv().await.unwrap();
    assert_eq!(target, "/2.m4s");
    scene.client.write_all(&line("GET", 1).as_bytes()[9..]).await.unwrap();
    say.send(Ok("two")).unwrap();
    drop(say);
    assert_eq!(scene.answer(true).await.1, "two");
    let (head, _) = scene.answer(false).await;
    assert!(head.contains("content-length: 3\r\n"), "{head}");
    assert_eq!(scene.answer(true).await.1, "one");
}

#[tokio::test(start_paused = true)]
async fn what_a_client_may_send_early_is_bounded() {
    let mut scene = Scene::new();
    scene.get("/1.m4s").await;
    let (_, say) = scene.asked.recv().await.unwrap();
    let much = "GET /1.m4s HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10 * HEADER_BYTES_MAX / 32);
    let mut sent = 0;
    while let Some(Ok(n)) = scene.client.write(&much.as_bytes()[sent..]).now_or_never() {
        sent += n;
        sleep(Duration::from_millis(1)).await;
    }
    assert!((HEADER_BYTES_MAX..=HEADER_BYTES_MAX + PIPE).contains(&sent), "{sent}");
    say.send(Ok("one")).unwrap();
    drop(say);
    for _ in 0..HEADER_BYTES_MAX / 32 {
        assert_eq!(scene.answer(true).await.1, "one");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_is_noticed_while_it_waits() {
    let mut scene = Scene::new();
    for part in 0..2 {
        let mut scene = Scene::new();
        scene.get("/1.m4s").await;
        let (_, say) = scene.asked.recv().await.unwrap();
        if part == 1 {
            // Also between two pieces of a body.
            say.send(Ok("half")).unwrap();
            scene.read_to("half\r\n").await;
        }
        drop(scene.client);
        let ended = scene.served.await.unwrap().map(|_| ());
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::ConnectionAborted);
        assert!(!say.is_closed(), "the fill goes on");
    }
    // One that says nothing leaves without a word.
    scene.client.shutdown().await.unwrap();
    assert!(scene.served.await.unwrap().unwrap().is_none());
    assert_eq!(scene.shared.course.phase(), Phase::Serving);
}

#[tokio::test(start_paused = true)]
async fn a_cut_body_never_looks_whole() {
    let mut scene = Scene::new();
    scene.get("/1.m4s").await;
    let (_, say) = scene.asked.recv().await.unwrap();
    say.send(Ok("half")).unwrap();
    let head = scene.read_to("\r\n\r\n").await;
    assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
    say.send(Err(Failure::Cut)).unwrap();
    let mut rest = String::new();
    scene.client.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "4\r\nhalf\r\n");
    assert!(scene.served.await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn time_is_bounded_for_heads_idling_and_reading() {
    // Nothing at all, and a head that comes a byte at a time.
    for head in [
        "",
        "GET /1.m4s HTTP/1.1\r\nHost: x\r\nA: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    ] {
        let began = Instant::now();
        let mut scene = Scene::new();
        for byte in head.bytes() {
            sleep(Duration::from_secs(1)).await;
            if scene.client.write_all(&[byte]).await.is_err() {
                break;
            }
        }
        let mut nothing = String::new();
        scene.client.read_to_string(&mut nothing).await.unwrap();
        assert_eq!(nothing, "");
        let took = began.elapsed();
        assert!(took >= HEADER_TIME_MAX && took < HEADER_TIME_MAX * 3, "{took:?}");
    }
    // A connection lives as long as it is used, whatever it is used for.
    let mut scene = Scene::new();
    scene.hold("/1.m4s", "one").await;
    for n in 0..6 {
        sleep(HEADER_TIME_MAX - Duration::from_secs(1)).await;
        scene.get(if n % 2 == 0 { "/1.m4s" } else { "//" }).await;
        scene.answer(true).await;
        scene.client.write_all(b"\r\n").await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_cut() {
    let mut scene = Scene::new();
    scene.get("/1.m4s").await;
    let (_, say) = scene.asked.recv().await.unwrap();
    say.send(Ok(Box::leak("x".repeat(10 * PIPE).into_boxed_str()))).unwrap();
    drop(say);
    let began = Instant::now();
    let ended = scene.served.await.unwrap().map(|_| ());
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(began.elapsed() < SEND_STALL_MAX * 2);
}

#[tokio::test(start_paused = true)]
async fn who_leaves_answers_once_more_and_says_so() {
    let mut scene = Scene::new();
    scene.hold("/1.m4s", "one").await;
    scene.shared.course.enter(Phase::Leaving);
    advance(HEADER_TIME_MAX / 2).await;
    assert!(!scene.served.is_finished(), "an idle connection is not closed under a request");
    scene.get("/1.m4s").await;
    assert!(scene.answer(true).await.0.contains("connection: close\r\n"));
    assert_eq!(scene.client.read(&mut [0]).await.unwrap(), 0);

    // The same for one that waits.
    let mut scene = Scene::new();
    scene.get("/2.m4s").await;
    let (_, say) = scene.asked.recv().await.unwrap();
    scene.shared.course.enter(Phase::Leaving);
    say.send(Ok("two")).unwrap();
    drop(say);
    assert!(scene.answer(true).await.0.contains("connection: close\r\n"));
    assert_eq!(scene.client.read(&mut [0]).await.unwrap(), 0);

    // And one that ends lets idle connections go at once.
    let mut scene = Scene::new();
    scene.hold("/1.m4s", "one").await;
    scene.shared.course.enter(Phase::Ending);
    assert_eq!(scene.client.read(&mut [0]).await.unwrap(), 0);
    drop(scene.client);
    assert!(scene.served.await.unwrap().unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn what_others_speak_is_handed_over() {
    for (first, protocol) in [
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Protocol::H2),
        ("POST /1.m4s HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody", Protocol::H1),
        ("GET /1.m4s HTTP/1.0\r\n\r\n", Protocol::H1),
    ] {
        let mut scene = Scene::new();
        for byte in first.bytes() {
            // The rest comes when it has changed hands already.
            let _ = scene.client.write_all(&[byte]).await;
            sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(scene.served.await.unwrap().unwrap(), Some(protocol), "{first:?}");
    }
}
