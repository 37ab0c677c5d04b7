//! A pinned key set: who may pin, for how long, and what an edge does with the next one.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use pass::{Claims, Error, KeySet, LEEWAY_S, PIN_LIFE_S, Pinned, Signer, pin};
use serde_json::json;

const NOW: i64 = 1_800_000_000;

fn edge(pinner: &Signer) -> Pinned {
    Pinned::new(KeySet::from_jwks(&pinner.jwks()).unwrap())
}

#[test]
fn an_edge_alone_verifies_for_a_day_and_no_longer() {
    let (pinner, issuer) = (Signer::generate("pin").unwrap(), Signer::generate("k1").unwrap());
    let mut edge = edge(&pinner);
    assert!(edge.keys(NOW).is_none());
    edge.offer(&pin(&pinner, &issuer.jwks(), NOW).unwrap(), NOW).unwrap();
    for later in [0, 3_600, PIN_LIFE_S + LEEWAY_S - 1] {
        let now = NOW + later;
        let token = issuer.sign(&Claims { sub: "v".into(), exp: now + 900, ..Claims::default() }).unwrap();
        assert_eq!(edge.keys(now).unwrap().verify(&token, now).unwrap().sub, "v");
    }
    assert!(edge.keys(NOW + PIN_LIFE_S + LEEWAY_S).is_none());
}

#[test]
fn only_the_pins_key_pins() {
    let (pinner, issuer) = (Signer::generate("pin").unwrap(), Signer::generate("pin").unwrap());
    let mut edge = edge(&pinner);
    assert_eq!(edge.offer(&pin(&issuer, &issuer.jwks(), NOW).unwrap(), NOW), Err(Error::Signature));
    // What the right key signed as something else is no pin, whatever it says.
    let set: serde_json::Value = serde_json::from_str(&issuer.jwks()).unwrap();
    let other = pinner.sign_json(&json!({ "iat": NOW, "exp": NOW + 60, "jwks": set })).unwrap();
    assert_eq!(edge.offer(&other, NOW), Err(Error::Form));
    for bad in ["", "..", "a.b.c", &"a".repeat(200_000)] {
        assert!(edge.offer(bad, NOW).is_err());
    }
    assert!(edge.keys(NOW).is_none());
}

#[test]
fn an_older_pin_never_replaces_a_newer_one() {
    let pinner = Signer::generate("pin").unwrap();
    let [old, new] = ["old", "new"].map(|id| Signer::generate(id).unwrap());
    let mut edge = edge(&pinner);
    let [yesterday, today] =
        [(&old, NOW - 3_600), (&new, NOW)].map(|(key, at)| pin(&pinner, &key.jwks(), at).unwrap());
    edge.offer(&today, NOW).unwrap();
    assert_eq!(edge.offer(&yesterday, NOW), Err(Error::Expired));
    edge.offer(&today, NOW).unwrap();
    let token = new.sign(&Claims { sub: "v".into(), exp: NOW + 900, ..Claims::default() }).unwrap();
    assert!(edge.keys(NOW).unwrap().verify(&token, NOW).is_ok());
    // Nor does one from the future, or one that is over.
    let tomorrow = pin(&pinner, &old.jwks(), NOW + 60).unwrap();
    assert_eq!(edge.offer(&tomorrow, NOW), Err(Error::Early));
    assert_eq!(edge.offer(&today, NOW + PIN_LIFE_S + LEEWAY_S), Err(Error::Expired));
    assert!(pin(&pinner, r#"{"keys":[]}"#, NOW).is_err());
}
