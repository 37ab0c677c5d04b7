//! Passes of other issuers: Akamai EdgeAuth, made by Akamai's own library, and RFC 9246.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pass::edge_auth::EdgeAuthKey;
use pass::{Ask, Document, Gate, LEEWAY_S, Refusal};
use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};

const NOW: i64 = 1_800_000_000;

fn verdict(gate: &Gate, token: &str, ask: &Ask<'_>) -> Result<(), Refusal> {
    gate.open(token, ask)?.admits(ask)
}

fn key(salt: Option<&str>, escape_early: bool) -> EdgeAuthKey {
    let key = "52a152a152a152a152a152a152a1aabbccddeeff".into();
    EdgeAuthKey { key, salt: salt.map(str::to_owned), escape_early }
}

fn akamai(keys: &[EdgeAuthKey]) -> Gate {
    Gate::new(&Document { edge_auth: keys.to_vec(), ..Document::default() }).unwrap()
}

/// What PyPI `akamai-edgeauth` 0.3.2 made: a line each with a name, whether it has a salt, whether it escapes, and it.
const MADE: &str = include_str!("data/edgeauth.txt");

#[test]
fn tokens_of_akamais_library_open() {
    let mut count = 0;
    for line in MADE.lines() {
        let [name, salt, early, token] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let gate = akamai(&[key((salt == "salt").then_some("pepper"), early == "early")]);
        let client = Some("192.0.2.7".parse().unwrap());
        let ask = |path| Ask { client, ..Ask::get(path, NOW) };
        let (yes, no) = match name {
            "url" => ("/final/v.m3u8", "/final/w.m3u8"),
            _ => ("/final/r1/v.m3u8", "/other/r1/v.m3u8"),
        };
        let escaped = token.replace('%', "%25").replace('/', "%2F").replace('*', "%2a");
        for spelling in [token.to_owned(), format!("hdnts={token}"), escaped] {
            assert_eq!(verdict(&gate, &spelling, &ask(yes)), Ok(()), "{name} {spelling}");
        }
        // Of what is signed with its path, another path is another signature.
        let wrong = if name == "url" { Refusal::Forged } else { Refusal::WrongPath };
        assert_eq!(verdict(&gate, token, &ask(no)), Err(wrong), "{name}");
        let opened = gate.open(token, &ask(yes)).unwrap();
        assert_eq!(opened.admits(&ask(no)), Err(Refusal::WrongPath), "{name}");
        assert_eq!(
            opened.admits(&Ask { now_s: 1_900_000_000 + LEEWAY_S, ..ask(yes) }),
            Err(Refusal::Expired)
        );
        if name == "full" {
            assert_eq!(opened.admits(&Ask { client: None, ..ask(yes) }), Err(Refusal::WrongNetwork));
            assert_eq!(opened.admits(&Ask { now_s: 1_699_999_990, ..ask(yes) }), Err(Refusal::NotYet));
            assert_eq!(opened.session(), Some("session+1"));
        }
        let other = EdgeAuthKey { key: "00".repeat(20), ..key(None, false) };
        assert_eq!(verdict(&akamai(&[other]), token, &ask(yes)), Err(Refusal::Forged), "{name}");
        let cut = &token[..token.len() - 1];
        assert_eq!(verdict(&gate, cut, &ask(yes)), Err(Refusal::Malformed), "{name}");
        count += 1;
    }
    assert_eq!(count, 6);
}

/// Who may choose what stands in a field, may not choose the fields.
#[test]
fn what_is_hidden_by_an_escape_stays_hidden() {
    let text = "exp=1900000000~acl=/free/*~data=%7eacl=/*";
    let key_bytes = [0x52, 0xa1].repeat(7).into_iter().chain([0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff]);
    let hmac = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key_bytes.collect::<Vec<u8>>());
    let tag: String =
        ring::hmac::sign(&hmac, text.as_bytes()).as_ref().iter().map(|b| format!("{b:02x}")).collect();
    let (gate, token) = (akamai(&[key(None, true)]), format!("{text}~hmac={tag}"));
    assert_eq!(verdict(&gate, &token, &Ask::get("/free/x", NOW)), Ok(()));
    assert_eq!(verdict(&gate, &token, &Ask::get("/paid/x", NOW)), Err(Refusal::WrongPath));
}

#[test]
fn without_keys_nothing_opens() {
    let gate = akamai(&[key(None, false)]);
    let ask = Ask::get("/x", NOW);
    assert_eq!(verdict(&gate, "a.b.c", &ask), Err(Refusal::Malformed));
    assert_eq!(verdict(&gate, "2D3RhA", &ask), Err(Refusal::Malformed));
    let pavilion = Gate::new(&Document::generate("pavilion", "k").unwrap()).unwrap();
    let made = MADE.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(verdict(&pavilion, made, &ask), Err(Refusal::UnknownKey));
}

const SECRET: [u8; 32] = [7; 32];

struct Es256(EcdsaKeyPair);

impl Es256 {
    fn new() -> Es256 {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Es256(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    fn jwk(&self) -> Value {
        let point = self.0.public_key().as_ref();
        let part = |part: &[u8]| URL_SAFE_NO_PAD.encode(part);
        json!({ "kty": "EC", "crv": "P-256", "kid": "es", "x": part(&point[1..33]), "y": part(&point[33..]) })
    }
}

fn oct() -> Value {
    json!({ "kty": "oct", "kid": "hs", "alg": "HS256", "k": URL_SAFE_NO_PAD.encode(SECRET) })
}

fn signing(jwks: &[Value]) -> Gate {
    let document = json!({
        "audience": "edge",
        "uri_signing": [{ "issuer": "uCDN", "jwks": { "keys": jwks } }],
    });
    Gate::from_json(&document.to_string()).unwrap()
}

fn message(header: &Value, claims: &Value) -> String {
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims.to_string()))
}

fn hs256(header: &Value, claims: &Value) -> String {
    let message = message(header, claims);
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &SECRET);
    let tag = ring::hmac::sign(&key, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(tag))
}

fn said() -> Value {
    json!({ "iss": "uCDN", "exp": NOW + 9, "cdniuc": "regex:https://edge\\.example/final/.*" })
}

fn at(path: &str) -> Ask<'_> {
    Ask { host: Some("edge.example"), query: "_HLS_msn=1&URISigningPackage=x", ..Ask::get(path, NOW) }
}

fn of(mut claims: Value, more: Value) -> Result<(), Refusal> {
    for (name, value) in more.as_object().unwrap() {
        claims[name] = value.clone();
    }
    verdict(
        &signing(&[oct()]),
        &hs256(&json!({ "alg": "HS256", "kid": "hs" }), &claims),
        &at("/final/v.m3u8"),
    )
}

#[test]
fn a_signed_address_is_that_address() {
    // RFC 9246, 2.1.10: the hash is of the address without the token.
    let uri = "https://edge.example/final/v.m3u8?_HLS_msn=1";
    let hash = ring::digest::digest(&ring::digest::SHA256, uri.as_bytes());
    let hash = format!("hash:sha-256;{}", URL_SAFE_NO_PAD.encode(hash));
    let token = hs256(&json!({ "alg": "HS256" }), &json!({ "iss": "uCDN", "exp": NOW + 9, "cdniuc": hash }));
    let gate = signing(&[oct()]);
    assert_eq!(verdict(&gate, &token, &at("/final/v.m3u8")), Ok(()));
    assert_eq!(verdict(&gate, &format!("URISigningPackage={token}"), &at("/final/v.m3u8")), Ok(()));
    assert_eq!(verdict(&gate, &token, &at("/final/w.m3u8")), Err(Refusal::WrongPath));
    assert_eq!(
        verdict(&gate, &token, &Ask { host: Some("other"), ..at("/final/v.m3u8") }),
        Err(Refusal::WrongPath)
    );
    assert_eq!(
        verdict(&gate, &token, &Ask { scheme: Some("http"), ..at("/final/v.m3u8") }),
        Err(Refusal::WrongPath)
    );
    assert_eq!(verdict(&gate, &token, &Ask { host: None, ..at("/final/v.m3u8") }), Err(Refusal::Unsupported));
}

#[test]
fn claims_are_kept_to() {
    for (more, is) in [
        (json!({}), Ok(())),
        (json!({ "cdniuc": "regex:edge" }), Err(Refusal::WrongPath)),
        (json!({ "cdniuc": "regex:(" }), Err(Refusal::Unsupported)),
        (json!({ "cdniuc": format!("regex:{}", "a".repeat(300)) }), Err(Refusal::Unsupported)),
        (json!({ "cdniuc": "hash:md5;AAAA" }), Err(Refusal::Unsupported)),
        (json!({ "cdniuc": 1 }), Err(Refusal::Malformed)),
        (json!({ "exp": NOW - LEEWAY_S }), Err(Refusal::Expired)),
        (json!({ "exp": "never" }), Err(Refusal::Malformed)),
        (json!({ "exp": null }), Err(Refusal::Malformed)),
        (json!({ "nbf": NOW + 60 }), Err(Refusal::NotYet)),
        (json!({ "iss": "another" }), Err(Refusal::WrongIssuer)),
        (json!({ "iss": null }), Err(Refusal::WrongIssuer)),
        (json!({ "aud": "edge" }), Ok(())),
        (json!({ "aud": ["a", "edge"] }), Ok(())),
        (json!({ "aud": "other" }), Err(Refusal::WrongIssuer)),
        (json!({ "aud": null }), Err(Refusal::WrongIssuer)),
        (json!({ "cdniv": 1 }), Ok(())),
        (json!({ "cdniv": 2 }), Err(Refusal::Unsupported)),
        (json!({ "cdniip": "encrypted" }), Err(Refusal::Unsupported)),
        (json!({ "cdnicrit": "exp,cdniuc" }), Ok(())),
        (json!({ "cdnicrit": "jti", "jti": "x" }), Err(Refusal::Unsupported)),
        (json!({ "cdnicrit": 1 }), Err(Refusal::Unsupported)),
        (json!({ "unknown": 1, "jti": "x" }), Ok(())),
    ] {
        assert_eq!(of(said(), more.clone()), is, "{more}");
    }
}

#[test]
fn a_key_is_for_its_own_algorithm_only() {
    let es = Es256::new();
    let gate = signing(&[oct(), es.jwk()]);
    let message = message(&json!({ "alg": "ES256", "kid": "es" }), &said());
    let signature = es.0.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
    let token = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature));
    assert_eq!(verdict(&gate, &token, &at("/final/v.m3u8")), Ok(()));
    assert_eq!(verdict(&signing(&[oct()]), &token, &at("/final/v.m3u8")), Err(Refusal::UnknownKey));
    assert_eq!(verdict(&signing(&[Es256::new().jwk()]), &token, &at("/final/v.m3u8")), Err(Refusal::Forged));
    for header in [
        json!({ "alg": "none" }),
        json!({ "alg": "HS512", "kid": "hs" }),
        json!({ "alg": "HS256", "kid": "es" }),
        json!({ "alg": "RS256", "kid": "hs" }),
    ] {
        let token = hs256(&header, &said());
        assert_eq!(verdict(&gate, &token, &at("/final/v.m3u8")), Err(Refusal::UnknownKey), "{header}");
    }
    let crit = hs256(&json!({ "alg": "HS256", "kid": "hs", "crit": ["b64"] }), &said());
    assert_eq!(verdict(&gate, &crit, &at("/final/v.m3u8")), Err(Refusal::Unsupported));
    for bad in [json!({ "kty": "oct", "k": "c2hvcnQ" }), json!({ "kty": "EC", "crv": "P-384" }), json!({})] {
        let document = json!({ "uri_signing": [{ "issuer": "u", "jwks": { "keys": [bad] } }] });
        assert!(Gate::from_json(&document.to_string()).is_err(), "{document}");
    }
}

proptest! {
    /// No letter of a token can be another; the case of the tag's hexadecimal says nothing.
    #[test]
    fn any_change_is_noticed(line in 0_usize..6, at: prop::sample::Index, to in "[a-z0-9~=/.*_-]") {
        let line: Vec<&str> = MADE.lines().nth(line).unwrap().split(' ').collect();
        let (token, gate) = (line[3], akamai(&[key((line[1] == "salt").then_some("pepper"), line[2] == "early")]));
        let at = at.index(token.len());
        let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
        prop_assume!(changed != token);
        let path = if line[0] == "url" { "/final/v.m3u8" } else { "/final/r1/v.m3u8" };
        let ask = Ask { client: Some("192.0.2.7".parse().unwrap()), ..Ask::get(path, NOW) };
        prop_assert!(verdict(&gate, &changed, &ask).is_err());
    }

    #[test]
    fn nothing_from_outside_panics(token in "[ -~]{0,80}", fields in "((st|exp|acl|ip|id|x)=[0-9/*%~.]{0,6}~){0,4}hmac=[0-9a-f]{0,64}") {
        let gates = [akamai(&[key(None, true)]), signing(&[oct()])];
        for token in [&token, &fields] {
            for gate in &gates {
                prop_assert!(verdict(gate, token, &at("/final/v.m3u8")).is_err());
            }
        }
    }
}
