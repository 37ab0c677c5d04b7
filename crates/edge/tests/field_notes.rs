//! What went wrong for others cannot happen here: one test for each row of the field notes' table of edges, named
//! for what must happen instead. Some stand elsewhere; that each would fail if the policy were broken is shown in
//! `src/sim/controls.rs`.
//!
//! | seen in | what must happen | test |
//! |---|---|---|
//! | nginx 1189 | woken by the event | [`waiters_are_woken_in_the_moment_of_the_event`] |
//! | nginx 237 | everyone reads as bytes arrive | `collapse::a_joiner_gets_what_is_held_at_once_and_the_rest_as_it_arrives` |
//! | nginx 1065 | exact bytes, always | [`every_range_is_exact_while_it_fills_and_after`] |
//! | varnish 3461, 2978 | uncacheable releases all at the headers; the list is bounded | [`an_answer_that_is_not_kept_releases_all_at_its_headers`], `handle::readers_of_one_object_are_bounded` |
//! | varnish 2035 | bytes already held are served | [`a_range_of_held_bytes_does_not_wait_for_the_rest`] |
//! | trafficserver 12845, 8614 | a bounded wait, then upstream | [`a_wait_is_bounded_and_the_next_asks_anew`], [`waiters_do_not_go_round_and_round`] |
//! | trafficserver 7417 | replaced | [`a_newer_failure_replaces_an_older_one_and_a_good_answer_replaces_both`] |
//! | pingora 932 | an error, never a truncated 200 | [`a_cut_is_an_error_over_two_tiers_whoever_it_is_for`], [`an_answer_for_one_without_an_end_is_refused`], `collapse::a_cut_upstream_is_an_error_to_all_and_the_next_fetches_again`, `sim::notes::a_fill_that_is_ended_is_an_error_to_its_readers_and_the_next_begins_anew` |
//! | pingora 314 | a policy, set | [`a_fill_goes_on_to_its_end_for_nobody`], `collapse::the_fill_goes_on_when_the_first_asker_leaves` |
//! | souin 337, ocache 61 | neither a blank page nor a shared cookie | [`a_request_that_is_cancelled_leaves_no_blank_page`], `changes::an_answer_for_one_is_given_to_nobody_else`, `changes::nobody_is_given_a_page_that_was_made_for_another_cookie`, `collapse::answers_for_one_alone_are_shared_with_nobody` |
//! | DASH-IF-IOP 205 | held; kept no longer than the standard says | [`the_next_segment_is_held_until_it_is_there`], [`a_404_at_the_live_edge_is_not_kept`] |
//! | OvenMediaEngine 769 | the epoch is in the name | [`a_restart_has_other_names_and_its_own_live_edge`] |
//! | mediamtx 5700 | out of the key | [`what_a_session_adds_does_not_split_an_object`] |
//! | joint expiry | jitter | `sim::notes::what_is_cached_at_one_instant_does_not_expire_at_one` |
//! | ages add up over tiers | once from the origin | [`a_lifetime_runs_once_over_three_tiers`], `http::ages_do_not_add_up_over_two_tiers` |
//! | `Vary` or a query splits one object into a million | bounded | [`what_a_session_adds_does_not_split_an_object`], `store::answers_that_vary_are_told_apart_and_bounded`, `sim::notes::what_clients_send_along_is_within_the_bound` |
//! | one slow reader holds up the rest | nobody | `collapse::a_slow_reader_holds_up_nobody` |
//! | a stale playlist is served for ever | until its rule ends | [`a_playlist_is_given_no_longer_than_its_rule_when_its_parent_is_down`] |
#![allow(clippy::unwrap_used)]

#[path = "support/script.rs"]
mod script;
mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use edge::{Config, Edge, Failure, HOLD_MAX, LIFETIME_HEADER, Rules};
use futures_util::future::join_all;
use http::header::CONTENT_RANGE;
use http_body_util::BodyExt;
use script::{Sized, Upstream, before, begin, get, get_with, kept, ms, ok, slowly, status};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

#[tokio::test(start_paused = true)]
async fn waiters_are_woken_in_the_moment_of_the_event() {
    let start = Instant::now();
    let upstream = Upstream::of(move |_, _| async move {
        sleep_until(start + ms(3_217)).await;
        Ok(kept("x"))
    });
    let edge = before(&upstream.edge(Rules::Live));
    let mut waiters = Vec::new();
    for n in 0..300 {
        waiters.push(begin(&edge, "/m/v.m3u8?_HLS_msn=7", &[]));
        sleep(ms(n % 20)).await;
    }
    for waiter in waiters {
        let got = waiter.await.unwrap();
        assert_eq!((got.text(), got.at), ("x", start + ms(3_217)));
    }
    assert_eq!(upstream.times(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_range_is_exact_while_it_fills_and_after() {
    const ALL: &str = "0123456789ab";
    for tiers in [1, 2] {
        let upstream = Upstream::of(|_, _| async {
            let pieces = [(0, "012"), (100, "3"), (100, "45678"), (100, "9ab")];
            let length = [("cache-control", "max-age=60"), ("content-length", "12")];
            Ok(slowly(&length, &pieces, Ok(())).map(|body| Sized(body, 12).boxed_unsync()))
        });
        let edge = match tiers {
            1 => upstream.edge(Rules::Live),
            _ => before(&upstream.edge(Rules::Live)),
        };
        let mut readers = Vec::new();
        for _stage in 0..5 {
            for first in 0..ALL.len() {
                for last in first..ALL.len() {
                    let edge = edge.clone();
                    readers.push(tokio::spawn(async move {
                        let range = format!("bytes={first}-{last}");
                        (first, last, get_with(&edge, "/m/1a.m4s", &[("range", &range)]).await)
                    }));
                }
            }
            sleep(ms(90)).await;
        }
        for reader in readers {
            let (first, last, got) = reader.await.unwrap();
            match got.status {
                206 => {
                    assert_eq!(got.text(), &ALL[first..=last]);
                    assert_eq!(got.headers[CONTENT_RANGE], format!("bytes {first}-{last}/12"));
                }
                // A second tier does not know the length before the end, and may give all there is.
                200 if tiers == 2 => assert_eq!(got.text(), ALL),
                other => panic!("{other} to {first}-{last}"),
            }
        }
        assert_eq!(upstream.times(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_kept_releases_all_at_its_headers() {
    for (fields, alone) in [
        (&[("cache-control", "no-store")][..], true),
        (&[("vary", "*")], true),
        (&[("set-cookie", "a=b")], true),
        // Of no use to later askers, but the answer to all who wait.
        (&[("cache-control", "max-age=0")], false),
    ] {
        let upstream = Upstream::of(move |_, n| async move {
            sleep(ms(100)).await;
            let name = ["first", "other"][n.min(1)];
            Ok(slowly(fields, &[(0, name), (5_000, "")], Ok(())))
        });
        let edge = upstream.edge(Rules::Live);
        for (wave, slowest) in [(0, if alone { 200 } else { 100 }), (1, 100)] {
            let start = Instant::now();
            let clients: Vec<_> = (0..30).map(|_| begin(&edge, "/m/account.json", &[])).collect();
            let got = join_all(clients).await.into_iter().map(Result::unwrap);
            let waits: Vec<_> = got.map(|got| got.at - start).collect();
            assert_eq!(waits.iter().max(), Some(&ms(slowest)), "{fields:?}, wave {wave}");
        }
        assert_eq!(upstream.times(), if alone { 60 } else { 2 });
    }
}

#[tokio::test(start_paused = true)]
async fn a_range_of_held_bytes_does_not_wait_for_the_rest() {
    let upstream = Upstream::of(|_, _| async {
        let answer = slowly(&[("cache-control", "max-age=60")], &[(0, "0123"), (5_000, "4567")], Ok(()));
        Ok(answer.map(|body| Sized(body, 8).boxed_unsync()))
    });
    let edge = upstream.edge(Rules::Live);
    let all = begin(&edge, "/m/1a.m4s", &[]);
    sleep(ms(1_000)).await;
    let asked = Instant::now();
    let held = get_with(&edge, "/m/1a.m4s", &[("range", "bytes=1-3")]).await;
    assert_eq!((held.status, held.text(), held.end), (206, "123", asked));
    assert_eq!(all.await.unwrap().text(), "01234567");
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_bounded_and_the_next_asks_anew() {
    let upstream = Upstream::of(|_, n| async move {
        if n == 0 {
            std::future::pending::<()>().await;
        }
        Ok(kept("x"))
    });
    let edge = upstream.edge(Rules::Live);
    let start = Instant::now();
    for got in join_all((0..50).map(|_| begin(&edge, "/m/v.m3u8", &[]))).await {
        let got = got.unwrap();
        assert_eq!((got.status, got.at), (504, start + HOLD_MAX));
    }
    assert_eq!(get(&edge, "/m/v.m3u8").await.status, 200);
    assert_eq!(upstream.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn waiters_do_not_go_round_and_round() {
    // Each answer varies on something else, so that what was waited for is never one's own.
    let upstream = Upstream::of(|_, n| async move {
        sleep(ms(100)).await;
        Ok(ok(&[("cache-control", "max-age=60"), ("vary", ["x-one", "x-two"][n % 2])], "x"))
    });
    let edge = upstream.edge(Rules::Web);
    let start = Instant::now();
    let clients = (0..20).map(|n| {
        let edge = edge.clone();
        tokio::spawn(async move {
            let n = n.to_string();
            get_with(&edge, "/page", &[("x-one", &n), ("x-two", &n)]).await
        })
    });
    for got in join_all(clients).await {
        let got = got.unwrap();
        assert_eq!(got.status, 200);
        assert!(got.at - start <= ms(500), "{:?}", got.at - start);
    }
    assert!(upstream.times() <= 40, "{} fetches for 20 clients", upstream.times());
}

#[tokio::test(start_paused = true)]
async fn a_newer_failure_replaces_an_older_one_and_a_good_answer_replaces_both() {
    let now = Arc::new(Mutex::new(404));
    let says = now.clone();
    let upstream = Upstream::of(move |ask, _| {
        let status_now = *says.lock().unwrap();
        async move {
            match (ask.target.ends_with("/100a.m4s"), status_now) {
                (true, _) | (_, 200) => Ok(kept("x")),
                (_, failed) => Ok(status(failed, &[("cache-control", "max-age=60")])),
            }
        }
    });
    let edge = upstream.edge(Rules::Live);
    // Segment 5 is far behind the live edge: that it is not there may be kept a second.
    get(&edge, "/m/r/p/v/100a.m4s").await;
    for failed in [404, 410, 500, 404] {
        *now.lock().unwrap() = failed;
        let before = upstream.times();
        for _ in 0..5 {
            assert_eq!(get(&edge, "/m/r/p/v/5a.m4s").await.status, failed);
        }
        assert_eq!(upstream.times(), before + 1);
        sleep(ms(1_000)).await;
    }
    *now.lock().unwrap() = 200;
    assert_eq!(get(&edge, "/m/r/p/v/5a.m4s").await.status, 200);
    *now.lock().unwrap() = 404;
    sleep(ms(10_000)).await;
    assert_eq!(get(&edge, "/m/r/p/v/5a.m4s").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_cut_is_an_error_over_two_tiers_whoever_it_is_for() {
    for fields in
        [&[("cache-control", "max-age=60")][..], &[("set-cookie", "a=b")], &[("cache-control", "no-store")]]
    {
        for length in [None, Some(8)] {
            let upstream = Upstream::of(move |_, n| async move {
                let whole = n > 0;
                let pieces =
                    if whole { &[(10, "half"), (10, "rest")][..] } else { &[(10, "half"), (10, "")] };
                // One that said its length ends early; the other says that it was cut.
                let end = if whole || length.is_some() { Ok(()) } else { Err(Failure::Cut) };
                let answer = slowly(fields, pieces, end);
                Ok(match length {
                    Some(length) => answer.map(|body| Sized(body, length).boxed_unsync()),
                    None => answer,
                })
            });
            let edge = before(&upstream.edge(Rules::Live));
            let got = get(&edge, "/m/1a.m4s").await;
            assert_eq!((got.status, got.body), (200, Err(Failure::Cut)), "{fields:?}, length {length:?}");
            assert_eq!(get(&edge, "/m/1a.m4s").await.text(), "halfrest");
        }
    }
}

/// An answer that ends where its connection ends could be a cut one, also one that is passed to its client alone.
#[tokio::test]
async fn an_answer_for_one_without_an_end_is_refused() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4096]).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n\r\nhalf").await;
        }
    });
    let edge = support::Edge::start(address).await;
    let client = support::Client::of(&edge);
    // The first who asks is handed the answer, the next goes alone.
    for _ in 0..2 {
        assert_eq!(client.get("/m/account.json").await.0, 502);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fill_goes_on_to_its_end_for_nobody() {
    let upstream = Upstream::of(|_, _| async {
        sleep(ms(100)).await;
        Ok(slowly(&[("cache-control", "max-age=60")], &[(100, "half"), (100, "rest")], Ok(())))
    });
    let edge = upstream.edge(Rules::Live);
    // Before the head, and inside the body.
    for (target, leaves) in [("/m/1a.m4s", 50), ("/m/2a.m4s", 250)] {
        let only = begin(&edge, target, &[]);
        sleep(ms(leaves)).await;
        only.abort();
        sleep(ms(1_000)).await;
        let asked = Instant::now();
        let got = get(&edge, target).await;
        assert_eq!((got.text(), got.end), ("halfrest", asked));
    }
    assert_eq!(upstream.times(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_leaves_no_blank_page() {
    for rules in [Rules::Live, Rules::Web] {
        let upstream = Upstream::of(|_, _| async {
            sleep(ms(100)).await;
            Ok(slowly(&[("cache-control", "max-age=60")], &[(100, "half"), (100, "rest")], Ok(())))
        });
        let edge = upstream.edge(rules);
        for leaves in [0, 50, 100, 150, 200, 250, 300] {
            let target = format!("/m/{leaves}.html");
            let first = begin(&edge, &target, &[]);
            sleep(ms(leaves)).await;
            first.abort();
            for _ in 0..2 {
                let got = get(&edge, &target).await;
                assert_eq!((got.status, got.text()), (200, "halfrest"), "left after {leaves} ms");
            }
        }
    }
}

/// A live edge at segment 10, and what comes next appears after so many milliseconds.
async fn at_segment_10(appears_ms: u64) -> (Upstream, Arc<Edge>, Instant) {
    let start = Instant::now();
    let upstream = Upstream::of(move |ask, _| async move {
        let next = !ask.target.ends_with("/10a.m4s");
        if next && start.elapsed() < ms(appears_ms) {
            return Ok(status(404, &[("cache-control", "max-age=60")]));
        }
        Ok(kept("x"))
    });
    let edge = upstream.edge(Rules::Live);
    assert_eq!(get(&edge, "/m/r/p/v/10a.m4s").await.status, 200);
    (upstream, edge, start)
}

#[tokio::test(start_paused = true)]
async fn the_next_segment_is_held_until_it_is_there() {
    let (upstream, edge, start) = at_segment_10(1_300).await;
    let waiters: Vec<_> = (0..100).map(|_| begin(&edge, "/m/r/p/v/11a.m4s", &[])).collect();
    let waited: Vec<_> = join_all(waiters).await.into_iter().map(Result::unwrap).collect();
    assert!(waited.iter().all(|got| got.status == 200 && got.at <= start + ms(1_300 + 125)));
    // All of them together asked a few times in that second.
    assert!(upstream.times() <= 20, "{}", upstream.times());
}

#[tokio::test(start_paused = true)]
async fn a_404_at_the_live_edge_is_not_kept() {
    let (_upstream, edge, start) = at_segment_10(5_000).await;
    let got = get(&edge, "/m/r/p/v/11a.m4s").await;
    assert!(got.status == 404 && got.at >= start + ms(2_000), "{got:?}");
    sleep_until(start + ms(5_000)).await;
    let asked = Instant::now();
    for next in ["/m/r/p/v/11a.m4s", "/m/r/p/v/12a.m4s"] {
        let got = get(&edge, next).await;
        assert_eq!((got.status, got.at), (200, asked));
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_has_other_names_and_its_own_live_edge() {
    let start = Instant::now();
    let upstream = Upstream::of(move |ask, _| async move {
        // The second run begins at 1 again, and its second segment takes a second.
        if ask.target == "/m/run2/p/v/2a.m4s" && start.elapsed() < ms(1_000) {
            return Ok(status(404, &[("cache-control", "max-age=60")]));
        }
        Ok(kept(ask.target))
    });
    let edge = upstream.edge(Rules::Live);
    for target in ["/m/run1/p/v/1a.m4s", "/m/run1/p/v/1000a.m4s", "/m/run2/p/v/1a.m4s"] {
        assert_eq!(get(&edge, target).await.text(), target);
    }
    // By the first run's numbers it would be the distant past, where a 404 is final.
    assert_eq!(get(&edge, "/m/run2/p/v/2a.m4s").await.text(), "/m/run2/p/v/2a.m4s");
}

#[tokio::test(start_paused = true)]
async fn what_a_session_adds_does_not_split_an_object() {
    let upstream = Upstream::of(|_, _| async {
        Ok(ok(&[("cache-control", "max-age=60"), ("vary", "cookie, user-agent")], "x"))
    });
    let config = Config { pass: Some("word".parse().unwrap()), ..Config::default() };
    let edge = Edge::new(&config, Arc::new(upstream.clone()));
    for n in 0..1_000 {
        let (cookie, agent) = (format!("session={n}"), format!("player/{n}"));
        let fields = [("cookie", &*cookie), ("user-agent", &*agent)];
        assert_eq!(get_with(&edge, &format!("/word/m/1a.m4s?session={n}"), &fields).await.status, 200);
        assert_eq!(
            get_with(&edge, &format!("/word/m/v.m3u8?session={n}&_HLS_msn=7"), &fields).await.status,
            200
        );
    }
    let asked: Vec<_> = upstream.asked.lock().unwrap().iter().map(|(target, _)| target.clone()).collect();
    assert_eq!(asked, ["/m/1a.m4s", "/m/v.m3u8?_HLS_msn=7"]);
    assert!(upstream.asked.lock().unwrap().iter().all(|(_, fields)| fields.is_empty()));
}

#[tokio::test(start_paused = true)]
async fn a_lifetime_runs_once_over_three_tiers() {
    let start = Instant::now();
    let upstream = Upstream::of(move |_, _| async move {
        let written = start.elapsed().as_millis().to_string();
        Ok(ok(&[(LIFETIME_HEADER, "2000"), ("cache-control", "max-age=60, must-revalidate")], written))
    });
    let far = upstream.edge(Rules::Live);
    let middle = before(&far);
    let near = before(&middle);
    // Each tier is asked at another rhythm, so that each has it at another age.
    let others = [(far, 700), (middle, 1_100)].map(|(edge, every)| {
        tokio::spawn(async move {
            loop {
                get(&edge, "/m/v.m3u8").await;
                sleep(ms(every)).await;
            }
        })
    });
    for _ in 0..3_000 {
        let got = get(&near, "/m/v.m3u8").await;
        let age = start.elapsed() - ms(got.text().parse().unwrap());
        let left: u64 = got.headers[LIFETIME_HEADER].to_str().unwrap().parse().unwrap();
        assert!(age + ms(left) <= ms(2_000), "{age:?} old and {left} ms left");
        sleep(ms(17)).await;
    }
    others.iter().for_each(JoinHandle::abort);
    let least = start.elapsed().as_millis() as usize / 2_000;
    assert!(
        (least..2 * least).contains(&upstream.times()),
        "{} fetches, {least} lifetimes",
        upstream.times()
    );
}

#[tokio::test(start_paused = true)]
async fn a_playlist_is_given_no_longer_than_its_rule_when_its_parent_is_down() {
    let up = Arc::new(Mutex::new(true));
    let is_up = up.clone();
    let start = Instant::now();
    let upstream = Upstream::of(move |_, _| {
        let up = *is_up.lock().unwrap();
        async move {
            let written = start.elapsed().as_millis().to_string();
            let fields = [
                (LIFETIME_HEADER, "1000"),
                ("cache-control", "stale-if-error=600, stale-while-revalidate=600"),
            ];
            if up { Ok(ok(&fields, written)) } else { Err(Failure::Unreachable) }
        }
    });
    let edge = before(&upstream.edge(Rules::Live));
    get(&edge, "/m/v.m3u8").await;
    *up.lock().unwrap() = false;
    let mut last = Duration::ZERO;
    for _ in 0..600 {
        sleep(ms(100)).await;
        let got = get(&edge, "/m/v.m3u8").await;
        match got.status {
            200 => last = start.elapsed(),
            502 => {}
            other => panic!("{other}"),
        }
    }
    // A second, and as long again: the shield's leave is not lengthened by the edge's own.
    assert!((ms(1_000)..=ms(2_000)).contains(&last), "{last:?}");
    *up.lock().unwrap() = true;
    let got = get(&edge, "/m/v.m3u8").await;
    assert_eq!((got.status, got.text()), (200, &*start.elapsed().as_millis().to_string()));
}
