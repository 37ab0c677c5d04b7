use pass::{KeySet, Pinned};

use super::*;

#[tokio::test]
async fn a_device_is_itself_again() {
    let door = Door::new();
    let first = door.ask("POST", "/device", "", Value::Null).await;
    assert_eq!(first.status, StatusCode::OK, "{}", first.body);
    let device = first.text("device").to_owned();
    let me = door.ask("GET", "/me", first.text("token"), Value::Null).await;
    assert_eq!((me.status, &me.body), (StatusCode::OK, &json!({ "device": device, "provisional": false })));

    // A day later its token is over, and the device's own is not.
    door.later(24 * 3_600_000);
    let over = door.ask("GET", "/me", first.text("token"), Value::Null).await;
    assert_eq!(over.status, StatusCode::UNAUTHORIZED);
    let body = json!({ "device_token": first.text("device_token") });
    let again = door.ask("POST", "/refresh", "", body.clone()).await;
    assert_eq!((again.status, again.text("device")), (StatusCode::OK, device.as_str()));
    assert_eq!(door.ask("POST", "/device", "", body).await.text("device"), device);
    // Nobody else can be it.
    let forged = json!({ "device_token": format!("d1.{device}.AAAA") });
    assert_eq!(door.ask("POST", "/refresh", "", forged.clone()).await.status, StatusCode::UNAUTHORIZED);
    assert_ne!(door.ask("POST", "/device", "", forged).await.text("device"), device);
}

/// Five million of them are no work for the store.
#[tokio::test]
async fn devices_need_no_store() {
    let door = Door::new();
    door.store.go();
    let first = door.ask("POST", "/device", "", Value::Null).await;
    assert_eq!(first.status, StatusCode::OK);
    assert_eq!(door.ask("GET", "/me", first.text("token"), Value::Null).await.status, StatusCode::OK);
    let body = json!({ "device_token": first.text("device_token") });
    assert_eq!(door.ask("POST", "/refresh", "", body).await.status, StatusCode::OK);
    assert_eq!(door.store.asked(), 0);
}

#[tokio::test]
async fn edges_find_the_keys_and_the_pin() {
    let door = Door::new();
    let get = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let answer = door.app.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert!(answer.headers()["cache-control"].to_str().unwrap().contains("max-age"));
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
        String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    };
    let token = door.ask("POST", "/device", "", Value::Null).await.text("token").to_owned();
    let set = KeySet::from_jwks(&get("/.well-known/jwks.json").await).unwrap();
    assert!(set.verify(&token, T / 1_000).unwrap().sub.starts_with("device:"));
    let trust = std::fs::read_to_string(door.folder.path().join("keys/pin.json")).unwrap();
    let mut edge = Pinned::new(KeySet::from_jwks(&trust).unwrap());
    edge.offer(&get("/.well-known/jwks.pin").await, T / 1_000).unwrap();
    assert!(edge.keys(T / 1_000).unwrap().verify(&token, T / 1_000).is_ok());
}
