//! What is taken back, or changed, or turns out to be for one client, while it is on its way.
#![allow(clippy::unwrap_used)]

#[path = "support/script.rs"]
mod script;

use std::sync::Arc;

use edge::{Purge, Rules, What};
use futures_util::future::join_all;
use http::Method;
use http::header::{CACHE_CONTROL, COOKIE, SET_COOKIE, VARY};
use script::{Upstream, begin, get, head, ms, ok, slowly, status};
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn who_comes_after_a_purge_is_given_nothing_from_before_it() {
    for (what, headers) in [
        (What::All(true), &[][..]),
        (What::Prefix("/m/".into()), &[]),
        (What::Path("/m/page".into()), &[]),
        (What::Key("match".into()), &[("surrogate-key", "match")]),
    ] {
        let upstream = Upstream::of(move |_, n| async move {
            sleep(ms(100)).await;
            let fields: Vec<_> = headers.iter().copied().chain([("cache-control", "max-age=60")]).collect();
            Ok(slowly(&fields, &[(0, ["old", "new"][n]), (100, ".")], Ok(())))
        });
        // Before the head, and inside the body.
        for purged in [50, 150] {
            let upstream = Upstream { asked: Arc::default(), ..upstream.clone() };
            let edge = upstream.edge(Rules::Live);
            let waiting = begin(&edge, "/m/page", &[]);
            sleep(ms(purged)).await;
            edge.purge(&Purge { what: what.clone(), soft: false });
            sleep(ms(1)).await;
            assert_eq!(get(&edge, "/m/page").await.text(), "new.");
            assert_eq!(waiting.await.unwrap().text(), "old.");
            assert_eq!(get(&edge, "/m/page").await.text(), "new.");
            assert_eq!(upstream.times(), 2);
        }
    }
}

/// What was being fetched when it was changed is not kept, nor is what it says of its key.
#[tokio::test(start_paused = true)]
async fn what_was_changed_meanwhile_does_not_come_back() {
    let upstream = Upstream::of(|ask, n| async move {
        if ask.method == Method::POST {
            return Ok(status(204, &[]));
        }
        sleep(ms(100)).await;
        Ok(ok(&[("cache-control", "max-age=60"), ("vary", ["accept", ""][n.min(1)])], format!("{n}")))
    });
    let edge = upstream.edge(Rules::Web);
    let old = begin(&edge, "/page", &[]);
    sleep(ms(50)).await;
    assert_eq!(head(&edge, Method::POST, "/page", &[]).await.status(), 204);
    let new = begin(&edge, "/page", &[]);
    assert_eq!(old.await.unwrap().text(), "0");
    let joins = get(&edge, "/page").await;
    assert_eq!((new.await.unwrap().text(), joins.text()), ("2", "2"));
    assert_eq!(get(&edge, "/page").await.text(), "2");
    assert_eq!(upstream.times(), 3);
}

#[tokio::test(start_paused = true)]
async fn that_an_answer_is_for_one_is_no_failure_of_the_one_before() {
    // Good for a second, then once for one client alone, then good again.
    let upstream = Upstream::of(|_, n| async move {
        Ok(match n {
            1 => ok(&[("set-cookie", "a=b")], "1"),
            n => ok(&[("cache-control", "max-age=1")], n.to_string()),
        })
    });
    let edge = upstream.edge(Rules::Live);
    assert_eq!(get(&edge, "/m/page.html").await.text(), "0");
    sleep(ms(1_500)).await;
    let got = get(&edge, "/m/page.html").await;
    assert!(got.text() == "1" && got.headers.contains_key(SET_COOKIE));
    // Alone still; its answer may be shared again.
    assert_eq!(get(&edge, "/m/page.html").await.text(), "2");
    let got = get(&edge, "/m/page.html").await;
    assert_eq!(got.text(), "3", "the one of long ago was given, as if the upstream were down");
    assert!(!got.headers.contains_key(VARY) && got.headers.contains_key(CACHE_CONTROL));
}

/// Neither to one who waited with another cookie, nor to two with the same.
#[tokio::test(start_paused = true)]
async fn an_answer_for_one_is_given_to_nobody_else() {
    for private in [("set-cookie", "id=new"), ("cache-control", "private"), ("vary", "*")] {
        let upstream = Upstream::of(move |ask, n| async move {
            sleep(ms(100)).await;
            let whose = ask.headers.get(COOKIE).map_or("nobody", |v| v.to_str().unwrap());
            Ok(ok(&[private], format!("{whose} {n}")))
        });
        let edge = upstream.edge(Rules::Web);
        for first_leaves in [false, true] {
            let target = if first_leaves { "/account?2" } else { "/account" };
            let cookies = ["one", "two", "two", "three"];
            let mut clients = Vec::new();
            for cookie in cookies {
                clients.push(begin(&edge, target, &[("cookie", cookie)]));
                sleep(ms(10)).await;
            }
            if first_leaves {
                clients.remove(0).abort();
            }
            let mut seen = Vec::new();
            for (got, cookie) in
                join_all(clients).await.into_iter().zip(&cookies[usize::from(first_leaves)..])
            {
                let got = got.unwrap();
                assert!(got.text().starts_with(cookie), "{cookie} was given '{}'", got.text());
                seen.push(got.text().to_owned());
            }
            let count = seen.len();
            seen.sort();
            seen.dedup();
            assert_eq!(seen.len(), count, "{seen:?}");
        }
    }
}

/// An upstream that says nothing of keeping has pages that hang on cookies.
#[tokio::test(start_paused = true)]
async fn nobody_is_given_a_page_that_was_made_for_another_cookie() {
    for says in ["", "max-age=0"] {
        let upstream = Upstream::of(move |ask, _| async move {
            sleep(ms(100)).await;
            let whose = ask.headers.get(COOKIE).map_or("nobody", |v| v.to_str().unwrap()).to_owned();
            Ok(ok(&[("cache-control", says), ("etag", "\"x\"")], whose))
        });
        let edge = upstream.edge(Rules::Web);
        let with = |cookie: &'static str| begin(&edge, "/", &[("cookie", cookie)]);
        let (one, two, none) = (with("one"), with("two"), begin(&edge, "/", &[]));
        let (same, also) = (with("one"), begin(&edge, "/", &[]));
        for (client, whose) in [(one, "one"), (two, "two"), (none, "nobody"), (same, "one"), (also, "nobody")]
        {
            assert_eq!(client.await.unwrap().text(), whose);
        }
    }
}
