use http::StatusCode;
use serde_json::{Value, json};
use store::{Entitlements, Verdict};
use timeline::Utc;

use crate::identity::Viewer;
use crate::testing::{HOME, House, NOWHERE, config, until, viewer};

mod passes;

fn nobody() -> Viewer {
    viewer(None, "device-1")
}

#[tokio::test]
async fn a_viewer_gets_a_playlist_on_the_host_they_came_to() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    let said = house.ask("POST", "/v1/matches/final/play", &nobody(), NOWHERE).await;
    assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    let run = Utc(1_796_000_000_000_000).run();
    assert_eq!(
        said.body["playlist"],
        format!("http://tv.example:8081/open/final/{run}/main/hls/master.m3u8")
    );
    assert_eq!(said.body["grid"], json!({ "segment_ms": 1_920.0, "part_ms": 320.0 }));
    assert_eq!(said.body["plan"]["languages"], json!(["en", "hi", "ta"]));
    assert_eq!((&said.body["stream"], &said.body["provisional"]), (&Value::Null, &json!(false)));
    assert_eq!(said.body["telemetry"], "http://tv.example:8083/v1/heartbeats");
    assert_eq!(house.checks(), 0, "what is free needs no asking");
}

#[tokio::test]
async fn a_scored_match_has_a_token_and_need_not_have_a_picture() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    for (id, picture) in [("final", true), ("club", false)] {
        let answer = house.play(id, &nobody()).await.body;
        assert_eq!(answer["playlist"].is_string(), picture, "{answer}");
        assert_eq!(answer["scores"]["stream"], "ws://tv.example:8082/v1/stream");
        assert_eq!(answer["scores"]["base"], "http://tv.example:8082");
        assert_eq!(answer["scores"]["token"].as_str().unwrap().split('.').count(), 3, "{answer}");
    }
    let listed = house.ask("GET", "/v1/matches", &nobody(), HOME).await;
    assert_eq!(listed.headers["cache-control"], "public, max-age=5");
    let all = listed.body;
    assert_eq!((&all[1]["match"], &all[1]["watchable"]), (&json!("club"), &json!(false)));
    let scorer = house.ask("GET", "/v1/scorer", &nobody(), HOME).await;
    assert_eq!(scorer.body["feeds"], "http://tv.example:8087");
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_document() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    for (method, path) in [("POST", "/v1/matches/other/play"), ("GET", "/v1/nothing/here")] {
        let said = house.ask(method, path, &nobody(), HOME).await;
        assert_eq!((said.status, &said.body["status"]), (StatusCode::NOT_FOUND, &json!(404)));
        assert_eq!(said.headers["content-type"], "application/problem+json");
    }
}

#[tokio::test]
async fn who_has_bought_it_plays_and_the_others_are_told_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    let said = house.play("cup", &nobody()).await;
    assert_eq!((said.status, said.problem()), (StatusCode::UNAUTHORIZED, "log-in"));
    let ann = viewer(Some("ann"), "phone");
    let said = house.play("cup", &ann).await;
    assert_eq!((said.status, said.problem()), (StatusCode::PAYMENT_REQUIRED, "not-bought"));
    assert_eq!(said.body["detail"], "The Cup comes with Season ticket.");

    house.buy(&["ann".into()]).await;
    let said = house.play("cup", &ann).await;
    assert_eq!(
        said.status,
        StatusCode::OK,
        "who has just bought is not refused for what was known before: {}",
        said.body
    );
    let body = &said.body;
    assert_eq!(body["plan"]["languages"], json!(["en", "hi"]));
    assert_eq!((&body["plan"]["height_max"], &body["plan"]["ads"]), (&json!(1080), &json!(false)));
    assert_eq!(body["angles"][0]["programme"], "bird");
    assert!(body["angles"][0]["playlist"].as_str().unwrap().ends_with("/bird/hls/master.m3u8"), "{body}");
    assert_eq!(
        body["stream"]["heartbeat"],
        format!("/v1/streams/{}/heartbeat", body["session"].as_str().unwrap())
    );
    let checks = house.checks();
    assert_eq!(house.play("cup", &ann).await.status, StatusCode::OK);
    assert_eq!(house.checks(), checks, "what is known is not asked again");

    // A refund, written by another door, is seen when what is known is old; by this one at once.
    let refund = json!({"id": "p-ann", "account": "ann", "product": "season", "from_ms": 0, "until_ms": 1});
    house.admin("POST", "purchases", refund.to_string()).await;
    assert_eq!(house.play("cup", &ann).await.problem(), "not-bought");
}

#[tokio::test]
async fn who_asks_is_who_their_token_names() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    house.buy(&["ann".into()]).await;
    let identity = &house.door.identity;
    let token = |who: Viewer| identity.token_for(&who, None).unwrap();
    let anns = token(viewer(Some("ann"), "phone"));
    let said = house.play_with("cup", Some(&anns)).await;
    assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    let claims = identity.verify(said.body["scores"]["token"].as_str().unwrap()).unwrap();
    assert_eq!(
        (claims.sub.as_str(), claims.dev.as_deref(), claims.country.as_deref()),
        ("ann", Some("phone"), Some("IN"))
    );
    assert_eq!(
        house.play_with("cup", Some(&token(viewer(Some("eve"), "phone")))).await.problem(),
        "not-bought"
    );
    for nobody in [None, Some(token(viewer(None, "ann")))] {
        let said = house.play_with("cup", nobody.as_deref()).await;
        assert_eq!((said.status, said.problem()), (StatusCode::UNAUTHORIZED, "log-in"));
        let said = house.play_with("final", nobody.as_deref()).await;
        assert_eq!(said.status, StatusCode::OK, "what is free is everybody's: {}", said.body);
        let claims = identity.verify(said.body["scores"]["token"].as_str().unwrap()).unwrap();
        assert!(claims.sub.starts_with("device:"), "{}", claims.sub);
    }
    // A token that does not hold is not the same as none: whoever paid must not be taken for nobody.
    let said = house.play_with("final", Some(&anns[..anns.len() - 8])).await;
    assert_eq!((said.status, said.problem()), (StatusCode::UNAUTHORIZED, "unauthenticated"));
}

#[tokio::test]
async fn the_copy_of_all_purchases_answers_without_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::with(crate::Config { no_copy: false, ..config(folder.path()) }, false).await;
    house.sell().await;
    // Written by another door: this one must follow.
    let purchase = store::Purchase {
        id: "p".into(),
        account: "ann".into(),
        product: "season".into(),
        from_ms: 0,
        until_ms: i64::MAX,
        changed_ms: crate::now_ms(),
    };
    house.store.put_purchases(&[purchase]).await.unwrap();
    until("the copy has it", async || {
        house.door.checker.cache().get("ann", crate::now_ms()).is_some_and(|known| !known.held.is_empty())
    })
    .await;
    assert_eq!(house.play("cup", &viewer(Some("ann"), "phone")).await.status, StatusCode::OK);
    assert_eq!(house.play("cup", &viewer(Some("ben"), "phone")).await.problem(), "not-bought");
    assert_eq!(house.checks(), 0);
}

#[tokio::test]
async fn a_blackout_and_a_right_hold_in_every_failure() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    house.buy(&["ann".into()]).await;
    let ann = viewer(Some("ann"), "phone");
    let unverified = Viewer { provisional: true, ..viewer(None, "tv") };
    let stranger = viewer(Some("eve"), "laptop");
    assert_eq!(house.play("cup", &ann).await.status, StatusCode::OK);
    for blackout in [
        json!({"id": "b", "name": "India", "matches": ["cup", "final"], "areas": [{"country": "IN"}]}),
        // Where in India they are is not known.
        json!({"id": "b", "name": "Chennai", "matches": ["cup", "final"], "areas": [{"country": "IN", "cities": [1_264_527]}]}),
    ] {
        for (dead, lever) in [(false, "auto"), (true, "auto"), (false, "on"), (true, "on"), (true, "off")] {
            house.kill(false);
            house.put(&[("blackout", blackout.clone())]).await;
            house.kill(dead);
            let set = house.admin("PUT", "panic", json!({"positive": lever}).to_string()).await;
            assert_eq!(set.status, StatusCode::OK, "a lever works with the database gone: {}", set.body);
            house.door.shed.forgive();
            for who in [&ann, &unverified, &stranger, &nobody()] {
                for id in ["cup", "final"] {
                    let said = house.play(id, who).await;
                    let seen = (said.status.as_u16(), said.problem());
                    assert_eq!(seen, (451, "blackout"), "{lever}, dead: {dead}: {}", said.body);
                    assert!(said.body["playlist"].is_null());
                    let said = house.ask("POST", &format!("/v1/matches/{id}/play"), who, NOWHERE).await;
                    assert_eq!(
                        (said.status.as_u16(), said.problem()),
                        (451, "place-unknown"),
                        "{}",
                        said.body
                    );
                }
            }
        }
    }
    assert_eq!(house.door.panic.ledger().pending(), 0, "nobody was let in");
    assert_eq!(house.admin("DELETE", "catalog/blackout/b", "").await.status, StatusCode::NO_CONTENT);
    let said = house.ask("POST", "/v1/matches/cup/play", &ann, NOWHERE).await;
    assert_eq!(said.problem(), "place-unknown", "rights hold with the database gone too");
}

#[tokio::test]
async fn a_device_too_many_is_refused_and_let_in_when_a_slot_is_freed() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    house.buy(&["ann".into()]).await;
    let on = |device: &str| viewer(Some("ann"), device);
    let first = house.play("cup", &on("Phone")).await.body;
    assert_eq!(house.play("cup", &on("Television")).await.status, StatusCode::OK);
    let said = house.play("cup", &on("Tablet")).await;
    assert_eq!((said.status, said.problem()), (StatusCode::CONFLICT, "devices"));
    assert_eq!(
        said.body["detail"],
        "Two devices are already watching: Phone, Television. Stop one to watch here."
    );
    let stop = said.body["devices"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(stop, first["session"]);

    let beat = first["stream"]["heartbeat"].as_str().unwrap();
    assert_eq!(house.ask("POST", beat, &on("Phone"), HOME).await.status, StatusCode::OK);
    let stranger = viewer(Some("eve"), "Phone");
    assert_eq!(house.ask("POST", beat, &stranger, HOME).await.problem(), "stream-over");
    house.ask("DELETE", &format!("/v1/streams/{stop}"), &stranger, HOME).await;
    assert_eq!(
        house.play("cup", &on("Tablet")).await.problem(),
        "devices",
        "a stranger ends nobody's stream"
    );

    let streams = house.ask("GET", "/v1/streams", &on("Tablet"), HOME).await.body;
    assert_eq!(streams["streams"].as_array().map(Vec::len), Some(2), "{streams}");
    let stopped = house.ask("DELETE", &format!("/v1/streams/{stop}"), &on("Tablet"), HOME).await;
    assert_eq!(stopped.status, StatusCode::NO_CONTENT);
    assert_eq!(house.play("cup", &on("Tablet")).await.status, StatusCode::OK);
    assert_eq!(house.ask("POST", beat, &on("Phone"), HOME).await.problem(), "stream-over");
}

/// The database is killed in the middle of a storm, and comes back: everybody who paid plays, whoever was let in without
/// a check is settled, and none is lost.
async fn a_database_is_killed_in_the_middle_and_viewers_keep_arriving(
    house: std::sync::Arc<House>,
    mut is_dead: impl AsyncFnMut(bool),
) {
    const VIEWERS: usize = 600;
    house.sell().await;
    // The first third bought, and is known here; the second bought; the last did not.
    let name = |n: usize| format!("a{n}");
    house.buy(&(0..VIEWERS * 2 / 3).map(name).collect::<Vec<_>>()).await;
    for n in 0..VIEWERS / 3 {
        assert_eq!(house.play("cup", &viewer(Some(&name(n)), "phone")).await.status, StatusCode::OK, "{n}");
    }
    let known = house.door.checker.cache().len();
    assert!(known >= VIEWERS / 3, "{known}");
    let before = house.checks();

    is_dead(true).await;
    let arriving: Vec<_> = (0..VIEWERS)
        .map(|n| {
            let house = house.clone();
            tokio::spawn(async move { house.play("cup", &viewer(Some(&name(n)), "tv")).await })
        })
        .collect();
    let mut provisional = Vec::new();
    for (n, one) in arriving.into_iter().enumerate() {
        let said = one.await.unwrap();
        assert_eq!(said.status, StatusCode::OK, "{n}: {}", said.body);
        if said.body["provisional"] == true {
            assert!(n >= VIEWERS / 3, "{n} was known");
            assert!(said.body["until_ms"].as_i64().unwrap() <= crate::now_ms() + 5 * 60_000, "{}", said.body);
            provisional.push((n, said.body["session"].as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(provisional.len(), VIEWERS * 2 / 3);
    assert!(house.checks() - before < VIEWERS / 10, "{} checks of a dead database", house.checks() - before);
    until("it is a panic", async || {
        let state = house.admin("GET", "panic", "").await.body;
        assert_eq!(state["pending"], json!(provisional.len()));
        state["panic"] == true
    })
    .await;

    is_dead(false).await;
    until("all are settled", async || house.door.panic.ledger().is_settled()).await;
    let report = house.admin("GET", "provisional?max=4096", "").await.body;
    let third = VIEWERS / 3;
    assert_eq!(
        (&report["issued"], &report["entitled"], &report["not_entitled"], &report["unverified"]),
        (&json!(third * 2), &json!(third), &json!(third), &json!(0)),
    );
    let passes = report["passes"].as_array().unwrap();
    for (n, session) in &provisional {
        let pass = passes.iter().find(|p| p["session"] == *session).expect("none is lost");
        let verdict = if *n < third * 2 { "entitled" } else { "not_entitled" };
        assert_eq!((&pass["account"], &pass["verdict"]), (&json!(name(*n)), &json!(verdict)));
    }
    // At renewal those not entitled end, whether the panic is over or not.
    let said = house.play("cup", &viewer(Some(&name(VIEWERS - 1)), "tv")).await;
    assert_eq!(said.problem(), "not-bought");
    assert_eq!(house.play("cup", &viewer(Some(&name(third)), "tv")).await.body["provisional"], json!(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_database_is_killed_in_the_middle_and_viewers_keep_arriving() {
    let folder = tempfile::tempdir().unwrap();
    let house = std::sync::Arc::new(House::open(folder.path(), false).await);
    let killed = house.clone();
    a_database_is_killed_in_the_middle_and_viewers_keep_arriving(house, async |dead| killed.kill(dead)).await;
}

/// The same with a server, which is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_killed_in_the_middle_and_viewers_keep_arriving() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = store::testing::Server::start().await;
    let entitlements = server.database("tv").await;
    let house = House::with(crate::Config { entitlements, ..config(folder.path()) }, false).await;
    a_database_is_killed_in_the_middle_and_viewers_keep_arriving(house.into(), async |dead| match dead {
        true => server.kill(),
        false => server.start_again().await,
    })
    .await;
}

/// Catalog and purchases in one database: two doors on it know the same, and who plays goes on without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_door_stands_on_one_database() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = store::testing::Server::start().await;
    let place = server.database("tv").await;
    let of = || crate::Config { entitlements: place.clone(), store: place.clone(), ..config(folder.path()) };
    let house = House::with(of(), false).await;
    house.sell().await;
    house.buy(&["ann".into()]).await;
    let ann = viewer(Some("ann"), "phone");
    assert_eq!(house.play("cup", &ann).await.body["provisional"], json!(false));
    let history = house.admin("GET", "history?max=100", "").await.body;
    assert!(history.to_string().contains("catalog/match/cup"), "{history}");

    // Another door on the same database knows the catalog, and goes on with it when the database is gone.
    let other_folder = tempfile::tempdir().unwrap();
    let journal = other_folder.path().join("provisional.journal");
    let other = House::with(crate::Config { journal, ..of() }, false).await;
    server.kill();
    let said = other.play("cup", &ann).await;
    assert_eq!((said.status, &said.body["provisional"]), (StatusCode::OK, &json!(true)), "{}", said.body);
    let said = other.ask("POST", "/v1/matches/cup/play", &ann, NOWHERE).await;
    assert_eq!(said.problem(), "place-unknown", "rights hold with the database gone too");
    house.buy_in_vain("ben").await;
    server.start_again().await;
    until("it is settled", async || other.door.panic.ledger().is_settled()).await;
    let passes = other.store.provisional(0, 10).await.unwrap();
    assert_eq!(passes.iter().map(|p| p.settled.map(|s| s.0)).collect::<Vec<_>>(), [Some(Verdict::Entitled)]);
}

#[tokio::test]
async fn who_was_let_in_is_settled_also_when_the_door_dies() {
    let folder = tempfile::tempdir().unwrap();
    let session = {
        let house = House::open(folder.path(), true).await;
        house.sell().await;
        let said = house.play("cup", &viewer(Some("ann"), "phone")).await;
        assert_eq!((said.status, &said.body["provisional"]), (StatusCode::OK, &json!(true)), "{}", said.body);
        said.body["session"].as_str().unwrap().to_owned()
    };
    let house = House::open(folder.path(), false).await;
    until("it is settled", async || house.door.panic.ledger().is_settled()).await;
    let passes = house.store.provisional(0, 10).await.unwrap();
    assert_eq!(passes.len(), 1);
    assert_eq!((&passes[0].id, passes[0].settled.map(|s| s.0)), (&session, Some(Verdict::NotEntitled)));
}

#[tokio::test]
async fn a_login_that_cannot_be_verified_is_let_in_to_watch_and_bound_to_its_device() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), true).await;
    house.sell().await;
    let unverified = Viewer { provisional: true, ..viewer(Some("says-ann"), "phone") };
    let said = house.play("cup", &unverified).await;
    assert_eq!((said.status, &said.body["provisional"]), (StatusCode::OK, &json!(true)), "{}", said.body);
    let pending = house.door.panic.due(i64::MAX, 10);
    assert_eq!((pending[0].account.as_deref(), pending[0].device.as_str()), (None, "phone"));
    assert_eq!(house.door.panic.due(crate::now_ms(), 10), [], "it is not settled before it is over");
    assert_eq!(
        house.play("final", &unverified).await.body["provisional"],
        json!(false),
        "what is free is free"
    );
}

#[tokio::test]
async fn an_operator_decides_about_panic() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    let set = async |lever: Value| {
        let said = house.admin("PUT", "panic", lever.to_string()).await;
        assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    };
    set(json!({"positive": "on", "note": "the bank's gateway is slow"})).await;
    let ann = viewer(Some("ann"), "phone");
    assert_eq!(house.play("cup", &ann).await.body["provisional"], json!(true));
    assert_eq!(house.door.panic.gauge().lever.by, "ada");

    let ben = viewer(Some("ben"), "phone");
    set(json!({"positive": "off"})).await;
    house.kill(true);
    let said = house.play("cup", &ben).await;
    assert_eq!((said.status, said.problem()), (StatusCode::SERVICE_UNAVAILABLE, "unchecked"));
    let retry_s: u32 = said.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=10).contains(&retry_s));

    set(json!({"negative": true})).await;
    let said = house.ask("PUT", "/v1/identity/profiles/1", &ann, HOME).await;
    assert_eq!((said.status, said.problem()), (StatusCode::SERVICE_UNAVAILABLE, "later"));
    assert!(said.headers.contains_key("retry-after"));
    assert_eq!(house.play("final", &ann).await.status, StatusCode::OK, "the match plays on");
    for rubbish in ["", "{", "[]", r#"{"positive": "maybe"}"#, r#"{"postive": "on"}"#] {
        let said = house.admin("PUT", "panic", rubbish).await;
        assert_eq!(
            (said.status, said.problem()),
            (StatusCode::UNPROCESSABLE_ENTITY, "not-taken"),
            "{rubbish}"
        );
    }
}

#[tokio::test]
async fn overload_is_answered_at_once_and_touches_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    let (mut refused, mut home) = (0, 0);
    for n in 0..400 {
        house.door.shed.crush();
        let said = house.play("cup", &viewer(Some(&format!("a{n}")), "phone")).await;
        if said.status == StatusCode::SERVICE_UNAVAILABLE {
            refused += 1;
            assert_eq!(said.problem(), "busy");
            assert!(said.headers.contains_key("retry-after"));
        }
        home += usize::from(house.ask("GET", "/v1/matches", &nobody(), HOME).await.status == StatusCode::OK);
    }
    assert!(refused > 320, "{refused}");
    assert_eq!(home, 0, "home is shed before play");
    assert!(house.checks() <= 400 - refused, "{} checks", house.checks());
}

#[tokio::test]
async fn one_viewer_who_asks_again_and_again_is_told_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    let eve = viewer(Some("eve"), "phone");
    let mut said = house.play("final", &eve).await;
    let mut asked = 1;
    while said.status == StatusCode::OK {
        said = house.play("final", &eve).await;
        asked += 1;
    }
    assert_eq!((said.status, said.problem()), (StatusCode::TOO_MANY_REQUESTS, "too-often"), "after {asked}");
    assert_eq!(house.play("final", &viewer(Some("ann"), "phone")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_match_that_has_not_begun_says_so_and_advice_is_pushed() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    let cup = |status: &str| json!({"id": "cup", "title": "The Cup", "status": status, "start_ms": 9_000_000_000_000_i64});
    house.put(&[("match", cup("scheduled"))]).await;
    let said = house.play("cup", &viewer(Some("ann"), "phone")).await;
    assert_eq!((said.problem(), &said.body["start_ms"]), ("not-begun", &json!(9_000_000_000_000_i64)));
    house.put(&[("match", cup("postponed"))]).await;
    assert_eq!(house.play("cup", &viewer(Some("ann"), "phone")).await.problem(), "postponed");

    let advice = json!({"refresh_s": {"card": 60}, "off": ["moments"], "back_off": {"base_ms": 1000, "cap_ms": 60000, "per_minute": 5}});
    assert_eq!(house.admin("PUT", "advice", advice.to_string()).await.status, StatusCode::OK);
    assert_eq!(house.play("final", &nobody()).await.body["advice"], advice);
    assert_eq!(house.ask("GET", "/v1/advice", &nobody(), HOME).await.body, advice);
    assert_eq!(house.admin("PUT", "advice", r#"{"off": ["a b"]}"#).await.problem(), "not-taken");
}

/// What is said at the most talkative level, of everything that goes right or wrong on the way in.
#[tokio::test]
async fn no_secret_token_or_address_reaches_the_log() {
    #[derive(Clone, Default)]
    struct Heard(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
    impl std::io::Write for Heard {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let heard = Heard::default();
    let writer = heard.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    // With one subscriber alone, whether a line is of interest is asked of the thread that comes by first, which may be
    // another test's; with two, of both.
    let deaf =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(std::io::sink).finish();
    let _deaf = tracing::Dispatch::new(deaf);
    let _listening = tracing::subscriber::set_default(subscriber);

    let folder = tempfile::tempdir().unwrap();
    let house =
        House::with(crate::Config { pass: "open-sesame".into(), ..config(folder.path()) }, false).await;
    house.sell().await;
    let ann = viewer(Some("ann@example.org"), "anns-phone");
    let mut tokens = Vec::new();
    let mut play = async || {
        let said = house.play("cup", &ann).await;
        tokens.extend(said.body["scores"]["token"].as_str().map(str::to_owned));
        tokens.extend(said.body["session"].as_str().map(str::to_owned));
        said.status
    };
    assert_eq!(play().await, StatusCode::PAYMENT_REQUIRED);
    house.buy(&["ann@example.org".into()]).await;
    assert_eq!(play().await, StatusCode::OK);
    house.kill(true);
    house.admin("PUT", "panic", r#"{"positive": "on", "note": "a trial"}"#).await;
    house.buy_in_vain("ann@example.org").await;
    assert_eq!(play().await, StatusCode::OK);
    assert_eq!(
        house.play("cup", &viewer(Some("ben@example.org"), "bens-phone")).await.body["provisional"],
        json!(true)
    );

    let log = String::from_utf8(heard.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("a lever was set"), "something is heard: {log}");
    assert_eq!(tokens.len(), 4);
    let secrets = ["open-sesame", "@example.org", "anns-phone", HOME].map(str::to_owned);
    for secret in secrets.iter().chain(&tokens) {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
}
