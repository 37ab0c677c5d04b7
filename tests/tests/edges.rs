//! The way from the origin to the player: its rules, its end, and what must not harm it.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::{Duration, Instant};

use e2e::all::{Match, Options};
use e2e::roles::{self, Ground, Server};
use e2e::web::{Web, resolve};
use e2e::{program, random, until};
use hls::read::{self, Playlist};
use loadgen::Mode;
use timeline::name::Letter;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What the end of a match takes: the last segment, and its way to everybody.
const END_MAX: Duration = Duration::from_secs(20);
/// A match is on air, or back, within this.
const ON_AIR_MAX: Duration = Duration::from_secs(40);
/// A server may hold a request this long, and a little more.
const HELD_MAX: Duration = Duration::from_millis(6_800);

async fn list(web: &Web, url: &str) -> Playlist {
    read::playlist(&web.text(url).await).unwrap()
}

/// Stalls for which the machine is not to blame.
fn unexcused(game: &Match, report: &loadgen::Report) -> usize {
    let trouble = game.trouble();
    let stalls = report.stalls.iter();
    stalls.filter(|s| !trouble.excuses(s.since, timeline::Utc(s.since.0 + s.length_ms * 1_000))).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_ends_for_everybody() {
    let game = Match::start(&Options::default()).await;
    game.has_a_past().await;
    let ports = game.ports();
    let viewer = |mode| {
        let options =
            loadgen::Options { master: game.master(), mode, height: None, language: None, catch_up: true };
        tokio::spawn(loadgen::watch(options, tokio::time::sleep(ON_AIR_MAX)))
    };
    let viewers = [viewer(Mode::LowLatency), viewer(Mode::Ordinary)];
    let url = game.edge("hls/v180.m3u8");
    until("some segments", ON_AIR_MAX, async || {
        (list(&game.web, &url).await.segments.len() > 5).then_some(())
    })
    .await;
    let pipelines = [ports.pids.a, ports.pids.b];
    let epoch = ports.epoch.to_string();
    let said = program::output(&["end", "--epoch", &epoch, "--origin", &ports.origin], END_MAX);
    assert!(said.status.success(), "{said:?}");
    for viewer in viewers {
        let report = viewer.await.unwrap().unwrap();
        assert!(report.finished, "the viewer saw the end: {report:#?}");
        assert_eq!((report.fault_count, unexcused(&game, &report)), (0, 0), "{report:#?}");
    }
    for url in e2e::follow::tracks(&game.web, &game.master()).await {
        let list = until("the playlist's end", END_MAX, async || {
            Some(list(&game.web, &url).await).filter(|l| l.ended)
        })
        .await;
        assert_eq!(hls::check::one(&list), []);
        assert!(list.open.is_none() && list.hint.is_none(), "{url}");
    }
    assert!(game.status().await.ended);
    until("pipelines at rest", END_MAX, async || {
        let encoders = pipelines.iter().any(|pid| !e2e::process::children(*pid, "ffmpeg").is_empty());
        (!encoders).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_requests_are_answered_by_what_they_wait_for() {
    let game = Match::start(&Options::default()).await;
    game.has_a_past().await;
    let (web, url) = (&game.web, game.edge("hls/v180.m3u8"));

    // A blocking reload comes with the part that it names, and not before.
    for _ in 0..4 {
        let next = list(web, &url).await.next();
        let newer = list(web, &format!("{url}?_HLS_msn={}&_HLS_part={}", next.msn, next.part)).await;
        assert!(newer.next() > next, "{:?} after {next:?}", newer.next());
    }
    let next = list(web, &url).await.next();
    let whole = list(web, &format!("{url}?_HLS_msn={}", next.msn)).await;
    assert!(whole.segment(next.msn).is_some(), "a segment was waited for");

    // The hinted part is held until it is there, then comes whole.
    let hint = list(web, &url).await.hint.unwrap();
    let part = web.get(&resolve(&url, &hint)).await;
    if part.status == 200 {
        cmaf::inspect(&part.body).unwrap();
    } else {
        // The other pipeline made that segment in the end: a hint is no promise.
        assert_eq!(part.status, 404, "{part:?}");
    }

    // Too far ahead is refused at once, by every tier.
    for tier in [game.edge("hls/v180.m3u8"), game.origin("hls/v180.m3u8")] {
        let next = list(web, &tier).await.next();
        for query in [
            format!("_HLS_msn={}", next.msn + 4),
            format!("_HLS_msn={}&_HLS_part=99", next.msn),
            "_HLS_msn=18446744073709551615".to_owned(),
            "_HLS_msn=x".to_owned(),
            "_HLS_part=1".to_owned(),
        ] {
            let asked = Instant::now();
            let refused = web.get(&format!("{tier}?{query}")).await;
            assert_eq!(refused.status, 400, "{query}: {}", refused.text());
            refused.is_problem();
            assert!(asked.elapsed() < Duration::from_secs(1), "{query}");
        }
    }

    // What will never come is answered within the limit, by every tier.
    let ports = game.ports();
    for pid in [ports.pids.a, ports.pids.b, ports.pids.stadium] {
        e2e::process::signal(pid, rustix::process::Signal::STOP);
    }
    let next = list(web, &url).await.next();
    let asked = Instant::now();
    let held = web.get(&format!("{url}?_HLS_msn={}", next.msn + 1)).await;
    println!("with nothing made: {} after {:?}", held.status, asked.elapsed());
    // Gaps by the clock may answer it; if not, the limit does.
    assert!(held.status == 200 || held.status == 503, "{held:?}");
    if held.status == 503 {
        held.is_problem();
    }
    assert!(asked.elapsed() < HELD_MAX);
    for pid in [ports.pids.a, ports.pids.b, ports.pids.stadium] {
        e2e::process::signal(pid, rustix::process::Signal::CONT);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_that_starts_again_is_told_everything_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (ground, epoch) = (Ground::start(folder, "320x180"), roles::epoch());
    let mut origin = Server::origin(folder, 0);
    let shield = Server::edge(folder, &origin.url, None);
    let edge = Server::edge(folder, &shield.url, Some("open"));
    let start = |letter| roles::pipeline(folder, letter, epoch, &ground, "180@200", &origin.url);
    let _pipelines = Letter::ALL.map(start);
    let web = Web::default();
    let url = format!("{}/open/demo/{}/main/hls/v180.m3u8", edge.url, epoch.run());
    let listed =
        async || read::playlist(&web.try_get(&url).await.ok().filter(|a| a.status == 200)?.text()).ok();
    let before =
        until("a playlist", ON_AIR_MAX, async || listed().await.filter(|l| l.segments.len() > 3)).await;
    origin.program.kill();
    let port = origin.port();
    drop(origin);
    let _origin = Server::origin(folder, port);
    let after = until("the playlist back", ON_AIR_MAX, async || {
        listed().await.filter(|l| l.next_segment() > before.next_segment() + 3)
    })
    .await;
    let last = after.segments.last().unwrap();
    assert!(!last.gap, "{last:?}");
    let starts = epoch.plus(timeline::Ticks(172_800 * last.msn as i64));
    assert_eq!(last.head.pdt.unwrap().to_string(), starts.to_string(), "MSN and PDT are as they were");
    cmaf::inspect(&web.body(&resolve(&url, &last.uri)).await).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rubbish_and_slow_clients_harm_nobody() {
    let mut random = random("rubbish");
    let game = Match::start(&Options::default()).await;
    game.has_a_past().await;
    let options = loadgen::Options {
        master: game.master(),
        mode: Mode::Ordinary,
        height: None,
        language: None,
        catch_up: false,
    };
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    let leave = async move { _ = stopped.wait_for(|stop| *stop).await };
    let viewer = tokio::spawn(loadgen::watch(options, leave));
    let ports = game.ports();
    let admin = ports.metrics.trim_end_matches("/metrics").to_owned();
    let hosts: Vec<String> = [&ports.app, &ports.edge, &ports.shield, &ports.origin, &admin]
        .map(|url| url.trim_start_matches("http://").to_owned())
        .to_vec();

    // Connections that say nothing, or a little and then no more.
    let mut silent = Vec::new();
    for host in &hosts {
        for _ in 0..8 {
            let mut socket = TcpStream::connect(host).await.unwrap();
            if random.bool() {
                socket.write_all(b"GET /open/ HT").await.unwrap();
            }
            silent.push(socket);
        }
    }
    // Bytes of no protocol, and heads of every wrong kind.
    let heads = [
        "GET / HTTP/9.9\r\n\r\n",
        "GET\r\n\r\n",
        "\0\0\0\0",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrubbish",
        "GET http://[::1 HTTP/1.1\r\nhost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        "PUT /demo/x/main/end HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n",
        "GET /%00/%ff/../../../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n",
    ];
    for host in &hosts {
        for round in 0..heads.len() + 16 {
            let mut socket = TcpStream::connect(host).await.unwrap();
            let bytes: Vec<u8> = match heads.get(round) {
                Some(head) => head.as_bytes().to_vec(),
                None => (0..random.usize(1..4_096)).map(|_| random.u8(..)).collect(),
            };
            // It may hang up in the middle.
            let _ = socket.write_all(&bytes).await;
            let _ = socket.shutdown().await;
            let mut answer = Vec::new();
            let _ = tokio::time::timeout(Duration::from_secs(2), socket.read_to_end(&mut answer)).await;
            if let Some(line) = answer.split(|b| *b == b'\r').next().filter(|_| answer.starts_with(b"HTTP/1"))
            {
                let line = String::from_utf8_lossy(line);
                assert!(
                    line.contains(" 4")
                        || line.contains(" 505")
                        || line.contains(" 30")
                        || line.contains(" 200 "),
                    "{host} {round}: {line}"
                );
            }
        }
    }
    // Paths and methods that mean nothing are problems, in words.
    for base in [format!("{}/open", ports.edge), ports.shield.clone(), ports.origin.clone()] {
        for path in [
            "/",
            "/x",
            "/demo",
            "/demo/x/main/hls/master.m3u8",
            "/demo/x/main/v180/1a.m4s",
            "/demo/../x",
            "/a/b/c/d/e/f",
        ] {
            let answer = game.web.get(&format!("{base}{path}")).await;
            assert!(answer.status.is_client_error(), "{base}{path}: {}", answer.status);
            answer.is_problem();
        }
        let put = game
            .web
            .request(http::Method::PUT, &format!("{base}/demo/x/main/programme.json"), "{".into())
            .await
            .unwrap();
        assert!(put.status.is_client_error(), "{put:?}");
        put.is_problem();
    }
    let closed = game.web.get(&format!("{}/shut/{}/hls/master.m3u8", ports.edge, game.path())).await;
    assert!(closed.status == 403 || closed.status == 401 || closed.status == 404, "{closed:?}");

    // One who reads a segment a byte at a time, and asks for many more meanwhile.
    let playlist = list(&game.web, &game.edge("hls/v180.m3u8")).await;
    let object =
        format!("/open/{}/v180/{}", game.path(), playlist.segments[0].uri.rsplit('/').next().unwrap());
    let mut slow = TcpStream::connect(&hosts[1]).await.unwrap();
    let request = format!("GET {object} HTTP/1.1\r\nhost: x\r\n\r\n");
    slow.write_all(request.repeat(200).as_bytes()).await.unwrap();
    let watched = Instant::now();
    let mut byte = [0];
    while watched.elapsed() < Duration::from_secs(8) {
        slow.read_exact(&mut byte).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.send(true).unwrap();
    let report = viewer.await.unwrap().unwrap();
    assert_eq!((unexcused(&game, &report), report.fault_count), (0, 0), "{report:#?}");
    assert!(report.played_ms > 6_000, "{report:#?}");
    let log = game.program.log();
    assert!(!log.contains("panicked"), "{log}");
    drop(silent);
}
