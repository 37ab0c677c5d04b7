//! What HTTP says a cache does: keys, conditions, ranges, ages, cross-origin rules, refusals.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use edge::{Config, HOLD_MAX, LIFETIME_HEADER};
use http::header::ACCEPT_ENCODING;
use support::{Client, Edge, Upstream, drip, header, next, ok, read, until};

fn guarded() -> Config {
    Config { pass: Some("word".parse().unwrap()), ..Config::default() }
}

#[tokio::test]
async fn the_pass_is_asked_for_and_stripped() {
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "x") }).await;
    let edge = Edge::with(guarded(), upstream.address).await;
    let client = Client::of(&edge);
    for refused in ["/m/v/1a.m4s", "/wor/m/v/1a.m4s", "/WORD/m/1a.m4s", "/w%6Frd/m/1a.m4s", "/", "/other"] {
        let answer = client.head_of(refused).await;
        assert_eq!(answer.status(), 403, "{refused}");
        assert_eq!(header(&answer, "content-type"), "application/problem+json");
        assert_eq!(header(&answer, "access-control-allow-origin"), "*");
        let document: serde_json::Value = serde_json::from_slice(&read(answer).await.unwrap()).unwrap();
        assert_eq!(document["status"], 403);
    }
    assert_eq!(client.get("/word/m/v/1a.m4s").await.0, 200);
    assert_eq!(upstream.asked(), ["/m/v/1a.m4s"]);
}

#[tokio::test]
async fn nothing_but_the_key_goes_upstream_and_path_tricks_go_nowhere() {
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "x") }).await;
    let edge = Edge::with(guarded(), upstream.address).await;
    let client = Client::of(&edge);
    let forged =
        [("x-forwarded-host", "evil"), ("cookie", "a=b"), ("authorization", "x"), ("range", "bytes=0-0")];
    let (status, body) = client.get_with("/word/m/1a.m4s?x=%3Cscript%3E", &forged).await;
    assert_eq!((status, body), (206, "x".into()));
    {
        let headers = upstream.headers.lock().unwrap();
        let mut names: Vec<_> = headers[0].keys().map(|n| n.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["host", "via"]);
    }
    for trick in [
        "/word/../1a.m4s",
        "/word//1a.m4s",
        "/word/m/./1a.m4s",
        "/word/%2e%2e/1a.m4s",
        "/word/m%2f1a.m4s",
        "/word/1a.m4s%00",
        "/word/m/v.m3u8?_HLS_msn=1&_HLS_msn=2",
        &format!("/word/{}", "a".repeat(4_000)),
    ] {
        assert_eq!(client.get(trick).await.0, 400, "{trick}");
    }
    assert_eq!(client.send("POST", "/word/m/1a.m4s", &[]).await.status(), 405);
    assert_eq!(upstream.asked(), ["/m/1a.m4s"]);
}

#[tokio::test]
async fn gzip_is_an_object_of_its_own_for_playlists_only() {
    let upstream = Upstream::start(|request, _| async move {
        let body = match request.headers().contains_key(ACCEPT_ENCODING) {
            true => "compressed",
            false => "plain",
        };
        let mut answer = ok("max-age=60", body);
        if body == "compressed" {
            answer.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        }
        answer
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    let gzip = [("accept-encoding", "br, gzip")];
    for _ in 0..2 {
        let answer = client.send("GET", "/m/v.m3u8", &gzip).await;
        assert_eq!(header(&answer, "content-encoding"), "gzip");
        assert_eq!(header(&answer, "vary"), "accept-encoding");
        assert_eq!(read(answer).await.unwrap(), "compressed");
        assert_eq!(client.get("/m/v.m3u8").await, (200, "plain".into()));
        assert_eq!(client.get_with("/m/1a.m4s", &gzip).await, (200, "plain".into()));
        assert_eq!(client.get("/m/1a.m4s").await, (200, "plain".into()));
    }
    assert_eq!(upstream.asked().len(), 3);
}

#[tokio::test]
async fn ranges_heads_and_conditions() {
    let upstream = Upstream::start(|_, _| async {
        let mut answer = ok("max-age=60", "0123456789");
        answer.headers_mut().insert("etag", "\"tag\"".parse().unwrap());
        answer
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    // The first request has a range; the object is fetched whole all the same.
    for (range, status, body, content_range) in [
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=8-", 206, "89", "bytes 8-9/10"),
        ("bytes=0-1,4-5", 200, "0123456789", ""),
        ("bytes=10-", 416, "", "bytes */10"),
    ] {
        let answer = client.send("GET", "/m/1a.m4s", &[("range", range)]).await;
        assert_eq!(answer.status(), status, "{range}");
        assert_eq!(header(&answer, "content-range"), content_range);
        if status != 416 {
            assert_eq!(header(&answer, "content-length"), body.len().to_string());
            assert_eq!(read(answer).await.unwrap(), body);
        }
    }
    let part = [("range", "bytes=0-0"), ("if-range", "\"tag\"")];
    assert_eq!(client.get_with("/m/1a.m4s", &part).await.0, 206);
    let other = [("range", "bytes=0-0"), ("if-range", "\"other\"")];
    assert_eq!(client.get_with("/m/1a.m4s", &other).await.0, 200);

    let answer = client.send("HEAD", "/m/1a.m4s", &[]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-length")), (200, "10"));
    assert!(read(answer).await.unwrap().is_empty());

    for (tags, status) in [("\"tag\"", 304), ("\"x\", W/\"tag\"", 304), ("*", 304), ("\"x\"", 200)] {
        let answer = client.send("GET", "/m/1a.m4s", &[("if-none-match", tags)]).await;
        assert_eq!((answer.status().as_u16(), header(&answer, "etag")), (status, "\"tag\""), "{tags}");
        read(answer).await.unwrap();
    }
    assert_eq!(upstream.asked().len(), 1);
}

#[tokio::test]
async fn a_range_of_a_filling_object_is_exact_across_its_pieces() {
    let (drip, body) = drip();
    let body = std::sync::Mutex::new(Some(body));
    let upstream = Upstream::start(move |_, _| {
        let mut answer = ok("max-age=60", body.lock().unwrap().take().expect("one fetch"));
        answer.headers_mut().insert("content-length", 12.into());
        async { answer }
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    drip.send(Ok("0123")).unwrap();
    let mut across = client.send("GET", "/m/1a.m4s", &[("range", "bytes=2-9")]).await;
    assert_eq!(header(&across, "content-range"), "bytes 2-9/12");
    assert_eq!(next(&mut across).await.unwrap().unwrap(), "23");
    drip.send(Ok("4567")).unwrap();
    assert_eq!(next(&mut across).await.unwrap().unwrap(), "4567");
    drip.send(Ok("89ab")).unwrap();
    assert_eq!(read(across).await.unwrap(), "89");
    assert_eq!(client.get("/m/1a.m4s").await.1, "0123456789ab");
}

#[tokio::test]
async fn any_page_may_read_objects_and_their_headers() {
    let upstream = Upstream::start(|_, _| async {
        let mut answer = ok("max-age=60", "x");
        answer.headers_mut().insert("access-control-allow-origin", "https://origin.example".parse().unwrap());
        answer
    })
    .await;
    let edge = Edge::with(guarded(), upstream.address).await;
    let client = Client::of(&edge);
    let answer = client.head_of("/word/m/1a.m4s").await;
    assert_eq!(header(&answer, "access-control-allow-origin"), "*");
    assert_eq!(header(&answer, "timing-allow-origin"), "*");
    assert!(header(&answer, "access-control-expose-headers").contains("Age, Content-Length"));
    let preflight = client.send("OPTIONS", "/word/m/1a.m4s", &[("origin", "https://page.example")]).await;
    assert_eq!(preflight.status(), 204);
    assert!(header(&preflight, "access-control-allow-methods").contains("GET"));
    assert!(header(&preflight, "access-control-allow-headers").contains("Range"));
}

/// Origin, shield, edge: an age is counted once, and a lifetime runs from the origin, not from each tier.
#[tokio::test]
async fn ages_do_not_add_up_over_two_tiers() {
    let upstream = Upstream::start(|request, _| async move {
        let mut answer = ok("max-age=600", "x");
        answer.headers_mut().insert("age", 30.into());
        if request.uri().path().ends_with("m3u8") {
            answer.headers_mut().insert(LIFETIME_HEADER, 5_000.into());
        }
        answer
    })
    .await;
    let shield = Edge::start(upstream.address).await;
    let near = Client::of(&shield);
    let left = |answer: &http::Response<_>| -> u64 { header(answer, LIFETIME_HEADER).parse().unwrap() };
    for (target, lifetime) in [("/m/1a.m4s", 570_000), ("/m/v.m3u8", 5_000)] {
        assert_eq!(near.get(target).await.0, 200);
        // A condition, not a sleep: the shield itself must say that time has passed for this object.
        until(async || left(&near.head_of(target).await) <= lifetime - 50).await;
        let edge = Edge::start(shield.address).await;
        for _ in 0..2 {
            let answer = Client::of(&edge).head_of(target).await;
            assert_eq!(header(&answer, "age"), "30", "{target}");
            assert!((1..=lifetime - 50).contains(&left(&answer)), "{target}: {}", left(&answer));
        }
    }
    assert_eq!(upstream.asked().len(), 2);
}

#[tokio::test]
async fn a_lifetime_in_milliseconds_ends_on_time_even_under_a_longer_max_age() {
    let upstream = Upstream::start(|_, n| async move {
        let mut answer = ok("max-age=60", n.to_string());
        let lifetime = if n == 0 { 40 } else { 0 };
        answer.headers_mut().insert(LIFETIME_HEADER, lifetime.into());
        answer
    })
    .await;
    let shield = Edge::start(upstream.address).await;
    let edge = Edge::start(shield.address).await;
    let client = Client::of(&edge);
    let since = std::time::Instant::now();
    assert_eq!(client.get("/m/v.m3u8").await.1, "0");
    until(async || client.get("/m/v.m3u8").await.1 != "0").await;
    assert!(since.elapsed() >= Duration::from_millis(40));
    // The later ones have no lifetime at all: each request is a fetch, through both tiers.
    let before = upstream.asked().len();
    client.get("/m/v.m3u8").await;
    client.get("/m/v.m3u8").await;
    assert_eq!(upstream.asked().len(), before + 2);
}

#[tokio::test]
async fn memory_stays_bounded_under_many_objects() {
    let megabyte: &'static [u8] = vec![1; 1_000_000].leak();
    let upstream = Upstream::start(move |_, _| async move { ok("max-age=60", megabyte) }).await;
    let config = Config { memory_mb: edge::MEMORY_MB_MIN, ..Config::default() };
    let edge = Edge::with(config, upstream.address).await;
    let client = Client::of(&edge);
    for n in 0..120 {
        assert_eq!(client.get(&format!("/m/{n}a.m4s")).await.1.len(), megabyte.len());
    }
    // The newest are held, the oldest are not.
    client.get("/m/119a.m4s").await;
    assert_eq!(upstream.asked().len(), 120);
    client.get("/m/0a.m4s").await;
    assert_eq!(upstream.asked().len(), 121);
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_does_not_begin_is_504_at_the_limit() {
    let upstream = Upstream::start(|_, _| std::future::pending::<Response>()).await;
    let edge = Edge::start(upstream.address).await;
    let since = tokio::time::Instant::now();
    let answer = Client::of(&edge).head_of("/m/v.m3u8?_HLS_msn=9").await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "content-type")),
        (504, "application/problem+json")
    );
    assert!((HOLD_MAX..HOLD_MAX + Duration::from_secs(1)).contains(&since.elapsed()));
}

#[tokio::test]
async fn the_next_upstream_is_asked_when_one_cannot_be_reached() {
    // Bound and not listening: refuses, and nobody else gets the port meanwhile.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let closed = socket.local_addr().unwrap();
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "x") }).await;
    let config = Config { upstream: vec![format!("http://{closed}").parse().unwrap()], ..Config::default() };
    let edge = Edge::with(config, upstream.address).await;
    assert_eq!(Client::of(&edge).get("/m/1a.m4s").await.0, 200);

    let alone = Edge::start(closed).await;
    let answer = Client::of(&alone).head_of("/m/1a.m4s").await;
    assert_eq!(
        (answer.status().as_u16(), header(&answer, "content-type")),
        (502, "application/problem+json")
    );
}

/// An answer that ends where its connection ends could be a cut one.
#[tokio::test]
async fn an_answer_without_an_end_is_refused() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n\r\nhalf").await;
        }
    });
    let edge = Edge::start(address).await;
    assert_eq!(Client::of(&edge).get("/m/1a.m4s").await.0, 502);
}

#[tokio::test]
async fn upstream_bodies_are_passed_as_they_are() {
    // Every length around the sizes at which buffers change.
    let upstream = Upstream::start(|request, _| async move {
        let len: usize =
            request.uri().path().trim_start_matches("/m/").trim_end_matches(".m4s").parse().unwrap();
        let body: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        ok("max-age=60", Body::from(body))
    })
    .await;
    let edge = Edge::start(upstream.address).await;
    let client = Client::of(&edge);
    for len in [0usize, 1, 8_191, 8_192, 8_193, 65_537, 1_000_003] {
        for _ in 0..2 {
            let (status, body) = client.get(&format!("/m/{len}.m4s")).await;
            assert_eq!((status, body.len()), (200, len));
            assert!(body.iter().enumerate().all(|(i, b)| *b == (i % 251) as u8));
        }
    }
}

#[tokio::test]
async fn what_our_origin_says_is_not_there_is_not_waited_for_by_any_tier() {
    let upstream = Upstream::start(|request, _| async move {
        if request.uri().path() == "/m/5a.m4s" {
            return ok("max-age=60", "there");
        }
        // The other pipeline's name for a part: it will never be served.
        Response::builder()
            .status(404)
            .header("cache-control", "no-store")
            .header(LIFETIME_HEADER, "0")
            .body(Body::from("{}"))
            .unwrap()
    })
    .await;
    let shield = Edge::start(upstream.address).await;
    let edge = Edge::start(shield.address).await;
    let client = Client::of(&edge);
    assert_eq!(client.get("/m/5a.m4s").await.0, 200);
    assert_eq!(client.get("/m/5b.m4s").await.0, 404);
    assert_eq!(client.get("/m/6b.m4s").await.0, 404);
    assert_eq!(upstream.asked().len(), 3);
}
