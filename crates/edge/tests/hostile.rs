//! Requests that mean harm, byte for byte as in `tests/corpus`, each against a cache for live media and one for any site.
//!
//! The first word of a file's name says what must come of it:
//!
//! * `refused`: it is answered with 4xx or 5xx or not at all, and nothing of it goes upstream.
//! * `once`: it may be answered, but once, and upstream sees at most the one object that it names.
//! * `clean`: it is answered with the very bytes that anyone else would get.
//!
//! Whatever it was, what stands behind it on its connection is answered for what it is or not at all, and the next
//! client gets a clean object.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use edge::{Config, Rules};
use support::{Client, Edge, HANG, Upstream, ok};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What nearly all of them name.
const OBJECT: &str = "/m/1a.m4s";

/// Comes behind each of them on its connection.
const BEHIND: &[u8] = b"GET /m/behind.m4s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Says what it was asked, and that everyone may be told.
async fn echo(request: Request) -> Response {
    let mut fields: Vec<_> =
        request.headers().iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
    fields.retain(|field| !field.starts_with("host: "));
    fields.sort();
    ok("max-age=60", Body::from(format!("{} {} {fields:?}", request.method(), request.uri())))
}

/// One answer on a connection.
#[derive(Debug)]
struct Answer {
    status: u16,
    body: String,
}

/// Reads the answers on a connection, until it ends or there is something else than an answer.
fn answers(mut bytes: &[u8], to_head: bool) -> Vec<Answer> {
    let mut answers = Vec::new();
    while let Some(end) = find(bytes, b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let Some(status) = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok()) else {
            break;
        };
        bytes = &bytes[end + 4..];
        let field = |name: &str| {
            head.lines().find_map(|line| {
                let (n, value) = line.split_once(':')?;
                n.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        if (100..200).contains(&status) {
            continue;
        }
        let mut body = Vec::new();
        if to_head && answers.is_empty() || matches!(status, 204 | 304) {
        } else if field("transfer-encoding").is_some() {
            while let Some(line) = find(bytes, b"\r\n") {
                let len = usize::from_str_radix(&String::from_utf8_lossy(&bytes[..line]), 16).unwrap_or(0);
                let from = line + 2;
                body.extend_from_slice(bytes.get(from..from + len).unwrap_or_default());
                bytes = bytes.get(from + len + 2..).unwrap_or_default();
                if len == 0 {
                    break;
                }
            }
        } else {
            let len =
                field("content-length").map_or(bytes.len(), |len| len.parse().unwrap()).min(bytes.len());
            body.extend_from_slice(&bytes[..len]);
            bytes = &bytes[len..];
        }
        answers.push(Answer { status, body: String::from_utf8_lossy(&body).into_owned() });
    }
    answers
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// Sends bytes and reads to the end of the connection. A reset is an end like any other.
async fn exchange(address: SocketAddr, bytes: &[u8], no_more: bool) -> Option<Vec<u8>> {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let _ = socket.write_all(bytes).await;
    if no_more {
        let _ = socket.shutdown().await;
    }
    let mut read = Vec::new();
    let reads = async {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = socket.read(&mut buffer).await {
            read.extend_from_slice(&buffer[..n]);
        }
    };
    timeout(HANG, reads).await.ok()?;
    Some(read)
}

/// What is wrong with what comes of one of them.
async fn wrong(file: &Path, rules: Rules, clean: &str) -> Option<String> {
    let name = file.file_name().unwrap().to_str().unwrap();
    let (expected, what) = name.split_once('.').unwrap();
    let bytes = std::fs::read(file).unwrap();
    let upstream = Upstream::start(|request, _| echo(request)).await;
    let edge = Edge::with(Config { rules, ..Config::default() }, upstream.address).await;
    let with_behind = [&*bytes, BEHIND].concat();
    let Some(read) = exchange(edge.address, &with_behind, expected == "refused").await else {
        return Some("hangs".to_owned());
    };
    let mut answers = answers(&read, what == "head");
    let asked = upstream.asked();

    // What stands behind is the last that may be answered.
    if answers.last().is_some_and(|last| last.body.starts_with("GET /m/behind.m4s ")) {
        answers.pop();
    }
    let asked: Vec<_> = asked.iter().filter(|target| *target != "/m/behind.m4s").collect();
    let twice = what == "two-in-one";
    if answers.len() > 1 + usize::from(twice) {
        return Some(format!("is answered more than once: {answers:?}"));
    }
    let of_object = |target: &str| target.split('?').next() == Some(OBJECT);
    match expected {
        "refused" if !asked.is_empty() => return Some(format!("goes upstream as {asked:?}")),
        "refused" if answers.iter().any(|answer| answer.status < 400) => {
            return Some(format!("is answered with {answers:?}"));
        }
        "once" | "clean" if asked.len() > 1 || !asked.iter().all(|target| of_object(target)) => {
            return Some(format!("goes upstream as {asked:?}"));
        }
        "clean" if answers.first().is_none_or(|answer| answer.status != 200 || answer.body != clean) => {
            return Some(format!("is answered with {answers:?}"));
        }
        "refused" | "once" | "clean" => {}
        other => return Some(format!("'{other}' is not known")),
    }
    let next = Client::of(&edge).get(OBJECT).await;
    (next != (200, clean.to_owned().into())).then(|| format!("leaves {next:?} to the next client"))
}

async fn corpus(rules: Rules) {
    let clean = {
        let upstream = Upstream::start(|request, _| echo(request)).await;
        let edge = Edge::with(Config { rules, ..Config::default() }, upstream.address).await;
        let (status, body) = Client::of(&edge).get(OBJECT).await;
        assert_eq!(status, 200);
        String::from_utf8(body.to_vec()).unwrap()
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.file_name().unwrap().to_str().unwrap().starts_with('.'));
    files.sort();
    assert!(files.len() > 150, "only {} of the corpus are there", files.len());
    let mut all = Vec::new();
    for file in files {
        if let Some(wrong) = wrong(&file, rules, &clean).await {
            let wrong: String = wrong.chars().take(300).collect();
            all.push(format!("{} {wrong}", file.file_name().unwrap().display()));
        }
    }
    assert!(all.is_empty(), "{} of {rules:?}:\n{}", all.len(), all.join("\n"));
}

#[tokio::test]
async fn what_means_harm_does_none_to_live_media() {
    corpus(Rules::Live).await;
}

#[tokio::test]
async fn what_means_harm_does_none_to_any_site() {
    corpus(Rules::Web).await;
}

/// However slowly it comes, a head that does not end is cut off where the largest would.
#[tokio::test]
async fn a_head_without_an_end_is_cut_off() {
    let upstream = Upstream::start(|request, _| echo(request)).await;
    let edge = Edge::start(upstream.address).await;
    for line in ["X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", "a", "\r\n"] {
        let mut socket = TcpStream::connect(edge.address).await.unwrap();
        let (mut read, mut write) = socket.split();
        let start: &[u8] = if line == "\r\n" { b"" } else { b"GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\n" };
        let writes = async {
            write.write_all(start).await?;
            loop {
                write.write_all(line.repeat(50).as_bytes()).await?;
            }
            #[allow(unreachable_code)]
            std::io::Result::Ok(())
        };
        let reads = async {
            let mut buffer = [0; 4096];
            while let Ok(1..) = read.read(&mut buffer).await {}
        };
        let cut = async {
            tokio::select! {
                _ = writes => {}
                () = reads => {}
            }
        };
        timeout(HANG, cut).await.unwrap_or_else(|_| panic!("a head of {line:?} for ever is read for ever"));
    }
    assert!(upstream.asked().is_empty());
}
