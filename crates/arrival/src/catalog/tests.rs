use http::StatusCode;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::House;

async fn house() -> (tempfile::TempDir, House) {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    (folder, house)
}

#[tokio::test]
async fn a_wrong_document_is_refused_in_one_sentence_and_changes_nothing() {
    let (_folder, house) = house().await;
    house.sell().await;
    let before = house.admin("GET", "catalog", "").await.body;
    let area = |area: Value| json!({"id": "x", "name": "x", "matches": ["cup"], "areas": [area]});
    for (kind, document, says) in [
        (
            "match",
            json!({"id": "x", "title": "x", "status": "lve", "start_ms": 1_796_000_000_000_i64}),
            "unknown variant `lve`",
        ),
        (
            "match",
            json!({"id": "x", "title": " ", "status": "live", "start_ms": 1_796_000_000_000_i64}),
            "title must be a line",
        ),
        (
            "match",
            json!({"id": "x", "title": "x", "status": "live", "start_ms": 1_796_000_000}),
            "milliseconds",
        ),
        (
            "match",
            json!({"id": "x", "title": "x", "status": "live", "start_ms": 1_796_000_000_000_i64, "sport": "chess"}),
            "'chess'",
        ),
        (
            "match",
            json!({"id": "x", "title": "x", "status": "live", "start_ms": 1_796_000_000_000_i64, "languages": ["xx"]}),
            "no language 'xx'",
        ),
        (
            "match",
            json!({"id": "x", "title": "x", "status": "live", "start_ms": 1_796_000_000_000_i64, "tittle": "x"}),
            "unknown field `tittle`",
        ),
        (
            "match",
            json!({"id": "y", "title": "x", "status": "live", "start_ms": 1_796_000_000_000_i64}),
            "its id says 'y'",
        ),
        ("plan", json!({"id": "x", "name": "x", "tier": 1, "devices": 0}), "devices must be"),
        ("product", json!({"id": "x", "name": "x", "plan": "platinum"}), "no plan 'platinum'"),
        ("programme", json!({"id": "x", "match": "cup", "programme": "main", "title": "x"}), "'cup-main'"),
        ("right", json!({"id": "x", "matches": ["nope"]}), "no match 'nope'"),
        ("right", json!({"id": "x", "matches": ["cup"], "countries": ["UK"]}), "'UK' is no country"),
        (
            "right",
            json!({"id": "x", "matches": ["cup"], "from_ms": 1_796_000_000_001_i64, "until_ms": 1_796_000_000_000_i64}),
            "before until_ms",
        ),
        ("blackout", json!({"id": "x", "name": "x", "matches": ["cup"], "areas": []}), "areas is empty"),
        ("blackout", area(json!({"country": "IN", "subdivisions": ["IN-TN"]})), "TN for IN-TN"),
        ("blackout", area(json!({"country": "IN", "polygon": [[0, 0], [1, 1]]})), "3 to 1024 corners"),
        ("blackout", area(json!({"country": "IN", "polygon": [[0, 0], [1, 1], [100, 0]]})), "latitude"),
        ("blackout", area(json!({"country": "FJ", "polygon": [[0, 179], [1, -179], [1, 0]]})), "date line"),
        ("language", json!({"id": "x", "name": "x\u{7}"}), "name must be a line"),
    ] {
        let said = house.admin("PUT", &format!("catalog/{kind}/x"), document.to_string()).await;
        assert_eq!(
            (said.status, said.problem()),
            (StatusCode::UNPROCESSABLE_ENTITY, "not-taken"),
            "{document}"
        );
        let detail = said.body["detail"].as_str().unwrap();
        assert!(
            detail.contains(says) && detail.starts_with(&format!("the {kind} 'x' is not taken")),
            "{detail}"
        );
    }
    for (path, status) in [
        ("catalog/plan/gold", 422),
        ("catalog/match/cup", 422),
        ("catalog/match/none", 404),
        ("catalog/cup/x", 404),
    ] {
        let said = house.admin("DELETE", path, "").await;
        assert_eq!(said.status.as_u16(), status, "{path}: {}", said.body);
    }
    assert_eq!(house.admin("GET", "catalog", "").await.body, before);
}

#[tokio::test]
async fn a_file_goes_out_and_comes_in_again_and_rubbish_does_not() {
    let (_folder, house) = house().await;
    house.sell().await;
    let file = house.admin("GET", "catalog", "").await.body;
    let (_other_folder, other) = self::house().await;
    let said = other.admin("PUT", "catalog?replace=true", file.to_string()).await;
    assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    assert_eq!(other.admin("GET", "catalog", "").await.body, file);
    let again = other.admin("PUT", "catalog?replace=true", file.to_string()).await.body;
    assert_eq!(again, json!({"put": 0, "removed": 0}), "what is the same is not written again");

    let mut twice = file.clone();
    let first = twice["documents"]["match"][0].clone();
    twice["documents"]["match"].as_array_mut().unwrap().push(first);
    let mut lost = file.clone();
    lost["documents"]["plan"] = json!([]);
    for (rubbish, says) in [
        (String::new(), "EOF"),
        ("\u{0}\u{1}".into(), "expected value"),
        ("[]".into(), "it has the form"),
        ("{}".into(), "missing field"),
        (r#"{"pavilion_catalog": 2, "documents": {}}"#.into(), "only 1 is known"),
        (r#"{"pavilion_catalog": 1, "documents": {"film": []}}"#.into(), "unknown variant `film`"),
        (r#"{"pavilion_catalog": 1, "documents": {"match": [1]}}"#.into(), "a match has no id"),
        (r#"{"pavilion_catalog": 1, "documents": {"match": [{"id": "x"}]}}"#.into(), "missing field `title`"),
        (twice.to_string(), "twice"),
        (lost.to_string(), "no plan"),
        (file.to_string()[..file.to_string().len() / 2].to_owned(), "EOF"),
    ] {
        let said = other.admin("PUT", "catalog?replace=true", rubbish).await;
        assert_eq!((said.status, said.problem()), (StatusCode::UNPROCESSABLE_ENTITY, "not-taken"), "{says}");
        assert!(said.body["detail"].as_str().unwrap().contains(says), "{says}: {}", said.body);
    }
    assert_eq!(other.admin("GET", "catalog", "").await.body, file, "nothing of it was taken");
    let dry = other
        .admin("PUT", "catalog?replace=true&dry=true", r#"{"pavilion_catalog": 1, "documents": {}}"#)
        .await;
    assert!(dry.body["removed"].as_u64().unwrap() > 10, "{}", dry.body);
    assert_eq!(other.admin("GET", "catalog", "").await.body, file, "a dry run does nothing");
}

#[tokio::test]
async fn changes_have_a_history_and_the_score_plane_is_told() {
    let (_folder, house) = house().await;
    house.sell().await;
    let scored = async || {
        let register = house.door.registers.get("match/cup").await.unwrap();
        register.map(|r| serde_json::from_str::<Value>(&r.value).unwrap())
    };
    assert_eq!(scored().await.unwrap()["countries"], json!(["IN"]));
    house.put(&[("right", json!({"id": "cup-ie", "matches": ["cup"], "countries": ["IE"]}))]).await;
    assert_eq!(scored().await.unwrap()["countries"], json!(["IE", "IN"]));
    house.put(&[("right", json!({"id": "cup-ie", "matches": ["cup"]}))]).await;
    assert_eq!(scored().await.unwrap()["countries"], Value::Null);

    let history = house.admin("GET", "history?max=2", "").await.body;
    assert_eq!(history.as_array().map(Vec::len), Some(2));
    assert_eq!((&history[0]["who"], &history[0]["what"]), (&json!("ada"), &json!("catalog/right/cup-ie")));
    assert_eq!(history[0]["before"]["countries"], json!(["IE"]));
    assert_eq!(history[0]["after"], json!({"id": "cup-ie", "matches": ["cup"]}));

    for path in [
        "right/cup-ie",
        "right/cup-in",
        "product/season",
        "programme/cup-main",
        "programme/cup-bird",
        "match/cup",
    ] {
        let said = house.admin("DELETE", &format!("catalog/{path}"), "").await;
        assert_eq!(said.status, StatusCode::NO_CONTENT, "{path}: {}", said.body);
    }
    assert_eq!(scored().await, None);
}

/// The teams of a match that is scored are known to the score plane before the door opens for the first time.
#[tokio::test]
async fn an_edit_takes_nothing_from_a_match_that_was_scored_before() {
    let folder = tempfile::tempdir().unwrap();
    let config = crate::testing::config(folder.path());
    let id = config.r#match.to_string();
    let teams = json!(["Salt Bay Herons", "Iron Bridge Foxes"]);
    let registers = config.store.registers().unwrap();
    let first = json!({"id": id, "title": "Final", "sport": "cricket", "teams": teams, "status": "live",
        "countries": null, "cadence_s": 20.0, "start_ms": 7});
    keep::write(&*registers, &format!("match/{id}"), Some(&first.to_string())).await.unwrap();
    let house = House::with(config, false).await;

    let mut edited = house.admin("GET", &format!("catalog/match/{id}"), "").await.body;
    assert_eq!(edited["teams"], teams);
    edited["title"] = json!("The final");
    house.put(&[("match", edited)]).await;
    let now = house.door.registers.get(&format!("match/{id}")).await.unwrap().unwrap();
    let now: Value = serde_json::from_str(&now.value).unwrap();
    assert_eq!((&now["title"], &now["teams"], &now["start_ms"]), (&json!("The final"), &teams, &json!(7)));
    assert_eq!(now["cadence_s"], json!(20.0));
}

#[tokio::test]
async fn a_blackout_can_be_set_with_the_database_gone_and_one_that_is_spoilt_still_holds() {
    let (folder, house) = house().await;
    house.sell().await;
    house.kill(true);
    let blackout =
        json!({"id": "b", "name": "Everywhere else", "matches": ["cup"], "areas": [{"country": "IE"}]});
    house.put(&[("blackout", blackout)]).await;
    assert!(house.door.keeper.copy().catalog.blackouts.contains_key("b"));

    // Somebody writes rubbish past us: whoever had a copy keeps what it knew; whoever comes new fears the worst.
    let key = "catalog/blackout/b";
    keep::write(&*house.door.registers, key, Some(r#"{"id": "b", "matches": ["cup"], "areas": 7}"#))
        .await
        .unwrap();
    house.door.keeper.refresh().await.unwrap();
    assert!(house.door.keeper.copy().catalog.blackouts.contains_key("b"));
    let new = House::open(folder.path(), false).await;
    assert!(new.door.keeper.copy().show("cup").unwrap().unreadable);
    assert!(!new.door.keeper.copy().show("final").unwrap().unreadable);
    assert_eq!(new.admin("DELETE", "catalog/blackout/b", "").await.status, StatusCode::NO_CONTENT);
    assert!(!new.door.keeper.copy().show("cup").unwrap().unreadable);
}

proptest! {
    /// Whatever bytes are said to be a file or a document, they are taken or refused; what is taken is good.
    #[test]
    fn rubbish_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[\\[\\]{}\":,a-z0-9 ]{0,80}") {
        for text in [&bytes[..], text.as_bytes()] {
            if let Ok(file) = File::read(text) {
                let _ = file.edits(&Catalog::default(), true);
            }
            for kind in Kind::ALL {
                let mut catalog = Catalog::default();
                if catalog.insert(kind, "x", &String::from_utf8_lossy(text)).is_ok() {
                    let _ = catalog.check(&Catalog::default(), |_, _| true);
                }
            }
        }
    }
}
