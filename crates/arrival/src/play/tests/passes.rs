//! Passes that play gives.

use super::*;

/// A door with passes, and an edge's admin port that fails at first; what that was told.
async fn with_passes(folder: &std::path::Path) -> (House, std::sync::Arc<std::sync::Mutex<Vec<Value>>>) {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (hearing, failures) = (told.clone(), std::sync::atomic::AtomicUsize::new(2));
    let failures = std::sync::Arc::new(failures);
    let take = async move |body: String| {
        if failures.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) > 0 {
            return StatusCode::SERVICE_UNAVAILABLE;
        }
        failures.store(0, std::sync::atomic::Ordering::SeqCst);
        hearing.lock().unwrap().push(serde_json::from_str(&body).unwrap());
        StatusCode::OK
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let edge = format!("http://{}", listener.local_addr().unwrap());
    let app = axum::Router::new().route("/admin/revoke", axum::routing::post(take));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let keys = folder.join("pass-keys.json");
    let document = pass::Document::generate("pavilion", "k1").unwrap();
    std::fs::write(&keys, serde_json::to_vec(&document).unwrap()).unwrap();
    let more =
        crate::Config { pass_keys: Some(keys), edge_admins: vec![edge.parse().unwrap()], ..config(folder) };
    (House::with(more, false).await, told)
}

/// What the licence endpoint would be told of the pass that play has given, of somebody in that country.
fn checked(house: &House, body: &Value, country: &str) -> Result<crate::play::Admitted, pass::Refusal> {
    let url = body["playlist"].as_str().unwrap();
    let (_, rest) = url.split_once("//").unwrap();
    let (_, rest) = rest.split_once('/').unwrap();
    let (token, path) = rest.split_at(rest.find('/').unwrap());
    let place = pass::Place { country: Some(country.into()), ..Default::default() };
    let now_s = crate::now_ms() / 1_000;
    house.door.passes.check(token, &pass::Ask { place: Some(&place), ..pass::Ask::get(path, now_s) })
}

#[tokio::test]
async fn everybody_gets_a_pass_of_their_own_which_ends_with_their_stream() {
    let folder = tempfile::tempdir().unwrap();
    let (house, told) = with_passes(folder.path()).await;
    house.sell().await;
    house.buy(&["ann".into()]).await;
    let ann = viewer(Some("ann"), "phone");
    let (one, other) = (house.play("cup", &ann).await.body, house.play("final", &nobody()).await.body);
    let admitted = checked(&house, &one, "IN").unwrap();
    assert_eq!(admitted.session.as_deref(), one["session"].as_str());
    assert!(admitted.renewed && admitted.until_s * 1_000 <= one["until_ms"].as_i64().unwrap());
    assert_eq!(checked(&house, &one, "GB"), Err(pass::Refusal::WrongCountry), "the right is India's");
    assert!(checked(&house, &other, "GB").is_ok(), "this one is everybody's");
    let bird = json!({ "playlist": one["playlist"].as_str().unwrap().replace("/main/", "/bird/") });
    assert!(checked(&house, &bird, "IN").is_ok(), "the plan has angles");
    let match_of_another =
        json!({ "playlist": one["playlist"].as_str().unwrap().replace("/cup/", "/final/") });
    assert_eq!(checked(&house, &match_of_another, "IN"), Err(pass::Refusal::WrongPath));

    let id = one["session"].as_str().unwrap();
    let said = house.ask("DELETE", &format!("/v1/streams/{id}"), &viewer(Some("ann"), "tv"), HOME).await;
    assert_eq!(said.status, StatusCode::NO_CONTENT);
    assert_eq!(checked(&house, &one, "IN"), Err(pass::Refusal::Revoked));
    assert!(checked(&house, &other, "IN").is_ok());
    until("the edge is told, though it failed at first", async || {
        told.lock().unwrap().iter().any(|said| said["sid"] == id && said["until"].is_i64())
    })
    .await;
}

#[tokio::test]
async fn who_is_in_the_dark_is_cut_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let (house, told) = with_passes(folder.path()).await;
    let inside = house.play("final", &nobody()).await.body;
    let outside = house.ask("POST", "/v1/matches/final/play", &nobody(), NOWHERE).await.body;
    assert_eq!((outside["playlist"].is_string(), told.lock().unwrap().len()), (true, 0));
    // Of whom nobody knows where they are, it is not known that they are outside.
    let area = json!({"id": "gb", "name": "Britain", "matches": ["final"], "areas": [{"country": "GB"}]});
    house.put(&[("blackout", area)]).await;
    until("who is nowhere is cut", async || {
        told.lock().unwrap().iter().any(|s| s["sid"] == outside["session"])
    })
    .await;
    assert!(checked(&house, &inside, "IN").is_ok());
    let placed = house.play("final", &nobody()).await.body;
    assert_eq!(
        checked(&house, &placed, "GB"),
        Err(pass::Refusal::WrongCountry),
        "from now on passes are placed"
    );
    assert!(placed["until_ms"].as_i64() < inside["until_ms"].as_i64(), "and the door is asked more often");

    let area = json!({"id": "in", "name": "India", "matches": ["final"], "areas": [{"country": "IN"}]});
    house.put(&[("blackout", area)]).await;
    for body in [&inside, &placed] {
        until("who is in India is cut", async || checked(&house, body, "IN") == Err(pass::Refusal::Revoked))
            .await;
    }
    assert_eq!(house.play("final", &nobody()).await.status, StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS);
}

#[tokio::test]
async fn a_player_that_takes_no_renewals_has_a_pass_for_the_whole_match_and_can_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (house, told) = with_passes(folder.path()).await;
    let play = |renews: &str| {
        let request = http::Request::builder().method("POST").uri("/v1/matches/final/play");
        house.send(request.header("pavilion-renews", renews))
    };
    let [long, short] = [play("no").await.body, play("yes").await.body];
    let (admitted, usual) = (checked(&house, &long, "IN").unwrap(), checked(&house, &short, "IN").unwrap());
    assert!(usual.renewed && !admitted.renewed);
    let hours = (admitted.until_s - crate::now_ms() / 1_000) as f64 / 3_600.0;
    assert!((3.9..=12.3).contains(&hours), "{hours} h");
    assert_eq!(long["until_ms"].as_i64().unwrap() / 1_000, admitted.until_s, "and it is told");
    let session = long["session"].as_str().unwrap();
    house.door.passes.revoke(session);
    assert_eq!(checked(&house, &long, "IN"), Err(pass::Refusal::Revoked));
    until("the edge is told for as long as it would be good", async || {
        let told = told.lock().unwrap();
        told.iter().any(|s| s["sid"] == session && s["until"].as_i64().unwrap() >= admitted.until_s)
    })
    .await;
}
