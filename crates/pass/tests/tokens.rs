//! Tokens that hold, and all the ways in which one does not.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pass::{Claims, Error, KeySet, LEEWAY_S, Signer, TOKEN_BYTES_MAX};
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

fn claims() -> Claims {
    Claims {
        sub: "v1".into(),
        exp: NOW + 900,
        country: Some("IN".into()),
        matches: Some(vec!["demo".into()]),
        ..Claims::default()
    }
}

fn signers() -> [Signer; 2] {
    [Signer::generate("ed").unwrap(), Signer::from_pkcs8("rsa", include_bytes!("data/rsa2048.pk8")).unwrap()]
}

fn keys(signer: &Signer) -> KeySet {
    KeySet::from_jwks(&signer.jwks()).unwrap()
}

/// The same token with another header.
fn headed(token: &str, header: Value) -> String {
    let (_, rest) = token.split_once('.').unwrap();
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header.to_string()))
}

#[test]
fn what_was_signed_is_read() {
    for signer in signers() {
        let token = signer.sign(&claims()).unwrap();
        assert_eq!(keys(&signer).verify(&token, NOW), Ok(claims()));
    }
}

#[test]
fn both_ends_have_their_moment() {
    for signer in signers() {
        let keys = keys(&signer);
        let token = signer.sign(&claims()).unwrap();
        assert!(keys.verify(&token, claims().exp + LEEWAY_S - 1).is_ok());
        assert_eq!(keys.verify(&token, claims().exp + LEEWAY_S), Err(Error::Expired));
        let later = signer.sign_json(&json!({ "sub": "v", "exp": NOW + 900, "nbf": NOW + 60 })).unwrap();
        assert_eq!(keys.verify(&later, NOW), Err(Error::Early));
        assert!(keys.verify(&later, NOW + 60 - LEEWAY_S).is_ok());
    }
}

#[test]
fn a_key_is_for_its_own_algorithm_only() {
    let [ed, rsa] = signers();
    for (signer, other) in [(&ed, &rsa), (&rsa, &ed)] {
        let token = signer.sign(&claims()).unwrap();
        assert_eq!(keys(other).verify(&token, NOW), Err(Error::Key));
        for algorithm in ["none", "None", "HS256", "RS384", "PS256", "ES256", ""] {
            let forged = headed(&token, json!({ "alg": algorithm }));
            assert_eq!(keys(signer).verify(&forged, NOW), Err(Error::Algorithm), "{algorithm}");
        }
    }
    // The public key as the secret of an HMAC is the classic; here it is only an algorithm that nobody knows. And
    // the other known algorithm finds no key.
    let token = rsa.sign(&claims()).unwrap();
    assert_eq!(
        keys(&rsa).verify(&headed(&token, json!({ "alg": "EdDSA", "kid": "rsa" })), NOW),
        Err(Error::Key)
    );
    let crit = headed(&token, json!({ "alg": "RS256", "kid": "rsa", "crit": ["b64"], "b64": false }));
    assert_eq!(keys(&rsa).verify(&crit, NOW), Err(Error::Algorithm));
}

#[test]
fn a_key_is_found_by_its_name() {
    let [ed, _] = signers();
    let token = ed.sign(&claims()).unwrap();
    assert_eq!(keys(&Signer::generate("other").unwrap()).verify(&token, NOW), Err(Error::Key));
    assert_eq!(keys(&Signer::generate("ed").unwrap()).verify(&token, NOW), Err(Error::Signature));
    // Nameless tokens only where there is no choice.
    let one: Value = serde_json::from_str(&ed.jwks()).unwrap();
    let two: Value = serde_json::from_str(&Signer::generate("two").unwrap().jwks()).unwrap();
    let both = KeySet::from_jwks(&json!({ "keys": [one["keys"][0], two["keys"][0]] }).to_string()).unwrap();
    assert!(both.verify(&token, NOW).is_ok());
    let nameless = headed(&token, json!({ "alg": "EdDSA" }));
    assert_eq!(both.verify(&nameless, NOW), Err(Error::Key));
    assert_eq!(keys(&ed).verify(&nameless, NOW), Err(Error::Signature), "the header is signed too");
}

#[test]
fn claims_have_their_types() {
    let [ed, _] = signers();
    let keys = keys(&ed);
    for bad in [
        json!({ "sub": "v" }),
        json!({ "sub": "v", "exp": "never" }),
        json!({ "sub": "v", "exp": null }),
        json!({ "sub": "v", "exp": 1e300 }),
        json!({ "exp": NOW + 1 }),
        json!({ "sub": 1, "exp": NOW + 1 }),
        json!({ "sub": "v", "exp": NOW + 1, "nbf": "1" }),
        json!({ "sub": "v", "exp": NOW + 1, "nbf": null }),
        json!({ "sub": "v", "exp": NOW + 1, "country": "in" }),
        json!({ "sub": "v", "exp": NOW + 1, "country": 91 }),
        json!({ "sub": "v", "exp": NOW + 1, "matches": "demo" }),
        json!({ "sub": "v", "exp": NOW + 1, "matches": vec!["m"; 65] }),
        json!({ "sub": "v".repeat(257), "exp": NOW + 1 }),
        json!({ "sub": "v", "exp": NOW + 1, "dev": "d".repeat(257) }),
        json!({ "sub": "v", "exp": NOW + 1, "prf": 1 }),
        json!({ "sub": "v", "exp": NOW + 1, "prv": "yes" }),
        json!({ "sub": "v", "exp": NOW + 1, "prv": null }),
        json!([]),
    ] {
        assert_eq!(keys.verify(&ed.sign_json(&bad).unwrap(), NOW), Err(Error::Claims), "{bad}");
    }
    let real =
        ed.sign_json(&json!({ "sub": "v", "exp": NOW as f64 + 1.5, "iat": NOW, "aud": ["x"] })).unwrap();
    assert_eq!(keys.verify(&real, NOW).unwrap().exp, NOW + 1);
}

#[test]
fn bounds_come_first() {
    let [ed, _] = signers();
    assert_eq!(keys(&ed).verify(&"a".repeat(TOKEN_BYTES_MAX + 1), NOW), Err(Error::Large));
    assert_eq!(keys(&ed).verify("a.b", NOW), Err(Error::Form));
    for bad in ["", "{}", r#"{"keys":[]}"#, r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#] {
        assert_eq!(KeySet::from_jwks(bad).unwrap_err(), Error::KeySet, "{bad}");
    }
    let small = json!({ "keys": [{ "kty": "RSA", "n": URL_SAFE_NO_PAD.encode([255; 128]), "e": "AQAB" }] });
    assert_eq!(KeySet::from_jwks(&small.to_string()).unwrap_err(), Error::KeySet);
    let mut set: Value = serde_json::from_str(&ed.jwks()).unwrap();
    set["keys"][0]["use"] = "enc".into();
    assert_eq!(KeySet::from_jwks(&set.to_string()).unwrap_err(), Error::KeySet);
}

proptest! {
    /// No byte of a token can be another.
    #[test]
    fn any_change_is_noticed(at in 0_usize..10_000, to in "[A-Za-z0-9_.-]") {
        let ed = Signer::generate("ed").unwrap();
        let token = ed.sign(&claims()).unwrap();
        let at = at % token.len();
        let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
        prop_assume!(changed != token);
        prop_assert!(keys(&ed).verify(&changed, NOW).is_err());
    }
}
