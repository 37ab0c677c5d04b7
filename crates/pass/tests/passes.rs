//! Passes that open, and all the ways in which one does not.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pass::cat::{Claims, Match, Network, Part, Renewal, SESSION_S_MAX};
use pass::{Ask, Document, Gate, LEEWAY_S, PASS_BYTES_MAX, Place, Refusal, Secret};
use proptest::prelude::*;

const NOW: i64 = 1_800_000_000;
const PATH: &str = "/final/r1/main/hls/master.m3u8";

/// The bytes 0 to 31, which the foreign tools had too.
fn document() -> Document {
    let secret = URL_SAFE_NO_PAD.encode((0..32).collect::<Vec<u8>>());
    let key = Secret { kid: "k1".into(), secret, from: 0, until: None };
    Document { issuers: vec!["pavilion".into()], keys: vec![key], ..Document::default() }
}

fn gate() -> Gate {
    Gate::new(&document()).unwrap()
}

fn claims() -> Claims {
    Claims {
        issuer: "pavilion".into(),
        session: Some("session-1".into()),
        expires_s: 2_000_000_000,
        not_before_s: Some(1_700_000_000),
        issued_s: Some(1_700_000_000),
        id: Some(b"one".to_vec()),
        uri: vec![(Part::Path, Match::Prefix("/final/".into()))],
        methods: Some(vec!["GET".into(), "HEAD".into()]),
        renewal: Some(Renewal { add_s: 300, window_s: 120 }),
        ..Claims::default()
    }
}

fn verdict(gate: &Gate, token: &str, ask: &Ask<'_>) -> Result<(), Refusal> {
    gate.open(token, ask)?.admits(ask)
}

fn of(claims: &Claims, ask: &Ask<'_>) -> Result<(), Refusal> {
    let gate = gate();
    verdict(&gate, &gate.sign(claims, NOW).unwrap(), ask)
}

#[test]
fn what_was_signed_opens() {
    let gate = gate();
    let place = Place { country: Some("US".into()), subdivision: Some("CA".into()), asn: Some(64_512) };
    let ask = Ask { client: Some("192.0.2.9".parse().unwrap()), place: Some(&place), ..Ask::get(PATH, NOW) };
    let bound = Claims {
        countries: Some(vec!["IE".into(), "us-ca".into()]),
        networks: Some(vec![Network::Asn(1), Network::Prefix("192.0.2.0".parse().unwrap(), 24)]),
        audience: vec!["edge".into()],
        ..claims()
    };
    let ours = Gate::new(&Document { audience: Some("edge".into()), ..document() }).unwrap();
    let token = ours.sign(&bound, NOW).unwrap();
    assert!(token.len() < 400, "{}", token.len());
    let opened = ours.open(&token, &ask).unwrap();
    assert_eq!(opened.admits(&ask), Ok(()));
    assert_eq!(
        (opened.session(), opened.expires_s(), opened.is_placed()),
        (Some("session-1"), 2_000_000_000, true)
    );
    assert_eq!(verdict(&gate, &token, &ask), Err(Refusal::WrongIssuer), "it is for somebody else");
}

#[test]
fn each_bound_has_its_reason() {
    let get = |path| Ask::get(path, NOW);
    let place = Place { country: Some("GB".into()), ..Place::default() };
    let here = Ask { place: Some(&place), client: Some("198.51.100.1".parse().unwrap()), ..get(PATH) };
    let unbound = Claims { uri: Vec::new(), ..claims() };
    let countries =
        |list: &[&str]| Claims { countries: Some(list.iter().map(|c| (*c).into()).collect()), ..claims() };
    let networks = |list: &[Network]| Claims { networks: Some(list.to_vec()), ..claims() };
    let uri = |part, is| Claims { uri: vec![(part, is)], ..claims() };
    for (claims, ask, verdict) in [
        (claims(), get(PATH), Ok(())),
        (claims(), get("/final/"), Ok(())),
        (claims(), get("/finale/x"), Err(Refusal::WrongPath)),
        (claims(), get("/"), Err(Refusal::WrongPath)),
        (unbound, get("/anything"), Ok(())),
        (claims(), Ask { method: "POST", ..get(PATH) }, Err(Refusal::WrongMethod)),
        (Claims { expires_s: NOW - LEEWAY_S + 1, ..claims() }, get(PATH), Ok(())),
        (Claims { expires_s: NOW - LEEWAY_S, ..claims() }, get(PATH), Err(Refusal::Expired)),
        (Claims { not_before_s: Some(NOW + LEEWAY_S), ..claims() }, get(PATH), Ok(())),
        (Claims { not_before_s: Some(NOW + LEEWAY_S + 1), ..claims() }, get(PATH), Err(Refusal::NotYet)),
        (Claims { issuer: "other".into(), ..claims() }, get(PATH), Err(Refusal::WrongIssuer)),
        (countries(&["IE", "GB"]), here, Ok(())),
        (countries(&["IE"]), here, Err(Refusal::WrongCountry)),
        (countries(&["GB-SCT"]), here, Err(Refusal::WrongCountry)),
        (countries(&[]), here, Err(Refusal::WrongCountry)),
        // Where nobody knows where they are, nobody is anywhere.
        (countries(&["IE"]), get(PATH), Err(Refusal::WrongCountry)),
        (networks(&[Network::Prefix("198.51.100.0".parse().unwrap(), 24)]), here, Ok(())),
        (networks(&[Network::Prefix("198.51.101.0".parse().unwrap(), 24)]), here, Err(Refusal::WrongNetwork)),
        (networks(&[Network::Asn(5)]), here, Err(Refusal::WrongNetwork)),
        (networks(&[Network::Asn(5)]), get(PATH), Err(Refusal::WrongNetwork)),
        (uri(Part::Extension, Match::Exact(".m3u8".into())), get(PATH), Ok(())),
        (
            uri(Part::Host, Match::Exact("edge.example".into())),
            Ask { host: Some("EDGE.example:443"), ..get(PATH) },
            Ok(()),
        ),
        // Neither is known here, and the issuer meant it to count.
        (uri(Part::Host, Match::Exact("edge.example".into())), get(PATH), Err(Refusal::Unsupported)),
        (uri(Part::Scheme, Match::Exact("https".into())), get(PATH), Err(Refusal::Unsupported)),
    ] {
        assert_eq!(of(&claims, &ask), verdict, "{claims:?} {ask:?}");
    }
    // All conditions count, not the first of each part alone.
    let both = Claims {
        uri: vec![
            (Part::Path, Match::Prefix("/final/".into())),
            (Part::Path, Match::Suffix(".m3u8".into())),
            (Part::Stem, Match::regex("^(master|v[0-9])$").unwrap()),
        ],
        ..claims()
    };
    assert_eq!(of(&both, &get(PATH)), Ok(()));
    assert_eq!(of(&both, &get("/final/r1/main/v1/1a.m4s")), Err(Refusal::WrongPath));
    assert_eq!(of(&both, &get("/final/r1/main/hls/a.m3u8")), Err(Refusal::WrongPath));
}

#[test]
fn keys_overlap_and_retire() {
    let mut document = document();
    document.keys[0].until = Some(NOW + 100);
    let mut next = Secret::generate("k2").unwrap();
    next.from = NOW;
    document.keys.push(next);
    let gate = Gate::new(&document).unwrap();
    let at = |now_s| Ask::get(PATH, now_s);
    let (old, new) = (gate.sign(&claims(), NOW - 1).unwrap(), gate.sign(&claims(), NOW).unwrap());
    let only_new = Gate::new(&Document { keys: document.keys[1..].to_vec(), ..document.clone() }).unwrap();
    assert_eq!(verdict(&only_new, &old, &at(NOW)), Err(Refusal::UnknownKey));
    assert_eq!(verdict(&only_new, &new, &at(NOW)), Ok(()));
    for (now_s, of_old, of_new) in [
        (NOW - 100, Ok(()), Err(Refusal::UnknownKey)),
        (NOW - 1, Ok(()), Ok(())),
        (NOW + 99, Ok(()), Ok(())),
        (NOW + 100, Err(Refusal::UnknownKey), Ok(())),
    ] {
        assert_eq!(verdict(&gate, &old, &at(now_s)), of_old, "{now_s}");
        assert_eq!(verdict(&gate, &new, &at(now_s)), of_new, "{now_s}");
    }
    let mut forged = document.clone();
    forged.keys[1] = Secret { from: 0, ..Secret::generate("k2").unwrap() };
    assert_eq!(verdict(&Gate::new(&forged).unwrap(), &new, &at(NOW)), Err(Refusal::Forged));
}

#[test]
fn a_pass_is_renewed_in_its_last_seconds_and_not_for_ever() {
    let gate = gate();
    let renewed = |claims: &Claims, now_s| {
        let ask = Ask::get(PATH, now_s);
        let pass = gate.open(&gate.sign(claims, now_s).unwrap(), &ask).unwrap();
        assert_eq!(pass.admits(&ask), Ok(()));
        let next = gate.renewed(&pass, [7; 16], now_s);
        assert!(pass.is_due(now_s) || next.is_none());
        next.map(|next| gate.open(&next, &ask).unwrap().expires_s())
    };
    let claims = Claims { expires_s: NOW + 300, not_before_s: Some(NOW), ..claims() };
    assert_eq!(renewed(&claims, NOW + 179), None);
    assert_eq!(renewed(&claims, NOW + 180), Some(NOW + 480));
    assert_eq!(renewed(&claims, NOW + 301), Some(NOW + 601), "late by less than clocks are apart");
    let last = Claims { expires_s: NOW + SESSION_S_MAX - 10, ..claims.clone() };
    assert_eq!(renewed(&last, NOW + SESSION_S_MAX - 60), Some(NOW + SESSION_S_MAX));
    let over = Claims { expires_s: NOW + SESSION_S_MAX, ..claims.clone() };
    assert_eq!(renewed(&over, NOW + SESSION_S_MAX - 60), None);
    for never in [
        Claims { renewal: None, ..claims.clone() },
        Claims { not_before_s: None, ..claims.clone() },
        Claims { once: true, ..claims.clone() },
    ] {
        assert_eq!(renewed(&never, NOW + 200), None, "{never:?}");
    }
}

/// A token with any header and claims, for what no issuer of ours would write.
fn token(protected: &[u8], unprotected: &[u8], claims: &[u8]) -> String {
    let bytes = |b: &[u8]| match b.len() as u8 {
        length @ 0..24 => [&[0x40 | length], b].concat(),
        length => [&[0x58, length], b].concat(),
    };
    let (protected, claims) = (bytes(protected), bytes(claims));
    let message = [b"\x84\x64MAC0", &protected[..], &[0x40], &claims].concat();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &(0..32).collect::<Vec<u8>>());
    let tag = bytes(ring::hmac::sign(&key, &message).as_ref());
    URL_SAFE_NO_PAD.encode([&[0xd8, 61, 0xd1, 0x84], &protected[..], unprotected, &claims, &tag].concat())
}

/// `{1: 5, 4: 'k1'}`; `{1: "pavilion", 4: NOW + 9}` and what more is given.
const HEADER: &[u8] = b"\xa2\x01\x05\x04\x42k1";
fn body(more: u8, claims: &[u8]) -> Vec<u8> {
    let exp = (NOW as u32 + 9).to_be_bytes();
    [&[0xa2 + more][..], b"\x01\x68pavilion\x04\x1a", &exp[..], claims].concat()
}

#[test]
fn what_is_not_understood_is_not_taken() {
    let gate = gate();
    let verdict = |token: &str| verdict(&gate, token, &Ask::get(PATH, NOW));
    let with = |more, claims: &[u8]| verdict(&token(HEADER, b"\xa0", &body(more, claims)));
    assert_eq!(with(0, b""), Ok(()));
    for (what, claims, is) in [
        ("catv 1", &b"\x19\x01\x36\x01"[..], Ok(())),
        ("catv 2", b"\x19\x01\x36\x02", Err(Refusal::Unsupported)),
        ("catreplay 0", b"\x19\x01\x34\x00", Ok(())),
        ("catreplay 1 without cti", b"\x19\x01\x34\x01", Err(Refusal::Malformed)),
        ("catreplay 2", b"\x19\x01\x34\x02", Err(Refusal::Unsupported)),
        ("catpor", b"\x19\x01\x35\x81\x01", Err(Refusal::Unsupported)),
        ("catalpn", b"\x19\x01\x3a\x81\x42h2", Err(Refusal::Unsupported)),
        ("cath", b"\x19\x01\x3b\xa0", Err(Refusal::Unsupported)),
        ("geohash", b"\x19\x01\x1a\x63abc", Err(Refusal::Unsupported)),
        ("cnf", b"\x08\xa0", Err(Refusal::Unsupported)),
        ("catifdata", b"\x19\x01\x40\x63abc", Ok(())),
        ("catif", b"\x19\x01\x42\xa1\x04\x83\x19\x01\x2e\xa0\x60", Ok(())),
        ("one of one's own", b"\x20\x01", Err(Refusal::Unsupported)),
        ("a name", b"\x63abc\x01", Err(Refusal::Unsupported)),
        ("exp twice", b"\x04\x1a\xff\xff\xff\xff", Err(Refusal::Malformed)),
        ("catu, an unknown part", b"\x19\x01\x38\xa1\x09\xa1\x00\x60", Err(Refusal::Unsupported)),
        ("catu, an unknown match", b"\x19\x01\x38\xa1\x03\xa1\x05\x60", Err(Refusal::Unsupported)),
        ("catu, flags", b"\x19\x01\x38\xa1\x03\xa1\x04\x82\x61a\x61i", Err(Refusal::Unsupported)),
        ("catu, no text", b"\x19\x01\x38\xa1\x03\xa1\x00\x01", Err(Refusal::Malformed)),
        ("catr without its time", b"\x19\x01\x43\xa1\x00\x02", Err(Refusal::Malformed)),
        ("catr by cookie", b"\x19\x01\x43\xa2\x00\x01\x01\x18\x3c", Ok(())),
        ("nbf of another type", b"\x05\x61a", Err(Refusal::Malformed)),
        ("sub of another type", b"\x02\x01", Err(Refusal::Malformed)),
    ] {
        assert_eq!(with(1, claims), is, "{what}");
    }
    let open = |protected: &[u8], unprotected: &[u8]| verdict(&token(protected, unprotected, &body(0, b"")));
    for (what, protected, unprotected, is) in [
        ("kid outside", &b"\xa1\x01\x05"[..], &b"\xa1\x04\x42k1"[..], Ok(())),
        ("no kid, one key", b"\xa1\x01\x05", b"\xa0", Ok(())),
        ("kid twice", HEADER, b"\xa1\x04\x42k1", Err(Refusal::Malformed)),
        ("another kid", b"\xa2\x01\x05\x04\x42k2", b"\xa0", Err(Refusal::UnknownKey)),
        ("HMAC 256/64", b"\xa2\x01\x04\x04\x42k1", b"\xa0", Err(Refusal::Unsupported)),
        ("no algorithm", b"\xa1\x04\x42k1", b"\xa0", Err(Refusal::Unsupported)),
        ("algorithm outside", b"\xa1\x04\x42k1", b"\xa1\x01\x05", Err(Refusal::Malformed)),
        ("crit", b"\xa3\x01\x05\x02\x81\x01\x04\x42k1", b"\xa0", Err(Refusal::Unsupported)),
        ("typ", b"\xa3\x01\x05\x10\x61a\x04\x42k1", b"\xa0", Ok(())),
        ("more outside", HEADER, b"\xa1\x05\x41a", Err(Refusal::Unsupported)),
    ] {
        assert_eq!(open(protected, unprotected), is, "{what}");
    }
    let no_exp = token(HEADER, b"\xa0", b"\xa1\x01\x68pavilion");
    assert_eq!(verdict(&no_exp), Err(Refusal::Malformed));
    let no_iss = token(HEADER, b"\xa0", b"\xa1\x04\x1a\xff\xff\xff\xff");
    assert_eq!(verdict(&no_iss), Err(Refusal::WrongIssuer));
}

#[test]
fn bounds_come_first() {
    let gate = gate();
    let verdict = |token: &str| verdict(&gate, token, &Ask::get(PATH, NOW));
    assert_eq!(verdict(""), Err(Refusal::Missing));
    assert_eq!(verdict(&"A".repeat(PASS_BYTES_MAX + 4)), Err(Refusal::Malformed));
    assert_eq!(verdict("open"), Err(Refusal::Malformed));
    let wide = Claims { methods: Some(vec!["M".repeat(200); 20]), ..claims() };
    assert!(gate.sign(&wide, NOW).is_err(), "no edge would read it");
    for bad in
        ["", "{}", r#"{"keys": []}"#, r#"{"issuers": ["a"], "keys": [{"kid": "k", "secret": "c2hvcnQ"}]}"#]
    {
        assert!(Gate::from_json(bad).is_err(), "{bad}");
    }
    let text = serde_json::to_string(&document()).unwrap();
    assert!(Gate::from_json(&text).is_ok());
    let secret = &document().keys[0].secret;
    let wrong = Gate::from_json(&text.replace("issuers", "issurers")).unwrap_err().to_string();
    assert!(
        !wrong.contains(secret.as_str()) && !format!("{:?} {:?}", document(), gate).contains(secret.as_str())
    );
}

/// Tokens that others made from the same claims and secret open here; ours is the one that both opened
/// (`common-access-token` 0.2.7 and `@eyevinn/cat` 0.16.4; `tests/tests/passes.rs` asks the latter again).
#[test]
fn others_tokens_open_and_ours_is_the_one_that_they_opened() {
    let gate = gate();
    let place = Place { country: Some("IE".into()), ..Place::default() };
    for (name, token) in [
        ("common-access-token, kid inside", include_str!("data/rust-cat-inside.txt")),
        ("common-access-token, kid outside", include_str!("data/rust-cat-outside.txt")),
        ("@eyevinn/cat", include_str!("data/node-cat.txt")),
    ] {
        let ask = Ask { place: Some(&place), ..Ask::get(PATH, NOW) };
        let opened = gate.open(token.trim(), &ask).unwrap_or_else(|why| panic!("{name}: {why:?}"));
        assert_eq!(opened.admits(&ask), Ok(()), "{name}");
        assert_eq!(opened.admits(&Ask::get("/other", NOW)), Err(Refusal::WrongPath), "{name}");
        let elsewhere = Place { country: Some("GB".into()), ..Place::default() };
        assert_eq!(
            opened.admits(&Ask { place: Some(&elsewhere), ..ask }),
            Err(Refusal::WrongCountry),
            "{name}"
        );
        assert_eq!(opened.session(), Some("session-1"), "{name}");
        assert!(!opened.is_due(1_999_999_879) && opened.is_due(1_999_999_880), "{name}");
    }
    assert_eq!(gate.sign(&claims(), NOW).unwrap(), include_str!("data/ours.txt").trim());
}

proptest! {
    /// No bit of a token can be another.
    #[test]
    fn any_bit_that_is_flipped_is_noticed(at: prop::sample::Index, bit in 0_u32..8) {
        let gate = gate();
        let token = gate.sign(&claims(), NOW).unwrap();
        let mut bytes = URL_SAFE_NO_PAD.decode(&token).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let changed = URL_SAFE_NO_PAD.encode(&bytes);
        prop_assert!(verdict(&gate, &changed, &Ask::get(PATH, NOW)).is_err());
    }

    /// Nor a letter of its text; and none may be missing.
    #[test]
    fn any_letter_that_is_changed_is_noticed(at: prop::sample::Index, to in "[A-Za-z0-9_=.~-]") {
        let gate = gate();
        let token = gate.sign(&claims(), NOW).unwrap();
        let at = at.index(token.len());
        prop_assert!(verdict(&gate, &token[..at], &Ask::get(PATH, NOW)).is_err());
        let changed = format!("{}{to}{}", &token[..at], &token[at + 1..]);
        prop_assume!(changed != token);
        prop_assert!(verdict(&gate, &changed, &Ask::get(PATH, NOW)).is_err());
    }

    /// What an issuer says is what an edge reads.
    #[test]
    fn claims_come_back(
        session in prop::option::of("[a-z0-9-]{1,20}"),
        audience in prop::collection::vec("[a-z]{1,5}", 0..3),
        expires_s in NOW..NOW + 100_000,
        networks in prop::option::of(prop::collection::vec(any::<u32>().prop_map(Network::Asn), 0..4)),
        prefix in "/[a-z]{0,8}/",
        countries in prop::option::of(prop::collection::vec("[A-Z]{2}", 0..4)),
        once: bool,
    ) {
        let claims = Claims {
            session: session.clone(),
            audience: audience.clone(),
            expires_s,
            networks: networks.clone(),
            uri: vec![(Part::Path, Match::Prefix(prefix.clone()))],
            countries: countries.clone(),
            id: Some(b"x".to_vec()),
            once,
            ..Claims::default()
        };
        let document = Document { audience: audience.first().cloned(), ..document() };
        let gate = Gate::new(&document).unwrap();
        let place = Place {
            country: countries.iter().flatten().next().map(|c| c.as_str().into()),
            subdivision: None,
            asn: networks.iter().flatten().next().map(|n| match n { Network::Asn(n) => *n, _ => 0 }),
        };
        let path = format!("{prefix}x");
        let ask = Ask { place: Some(&place), ..Ask::get(&path, NOW) };
        let opened = gate.open(&gate.sign(&claims, NOW).unwrap(), &ask).unwrap();
        prop_assert_eq!(opened.session(), session.as_deref());
        prop_assert_eq!(opened.expires_s(), expires_s);
        prop_assert_eq!(opened.once(), once.then_some(&b"x"[..]));
        let expected = match () {
            () if countries.as_ref().is_some_and(Vec::is_empty) => Err(Refusal::WrongCountry),
            () if networks.as_ref().is_some_and(Vec::is_empty) => Err(Refusal::WrongNetwork),
            () => Ok(()),
        };
        prop_assert_eq!(opened.admits(&ask), expected);
    }

    #[test]
    fn nothing_from_outside_panics(token in "[ -~]{0,120}", bytes: Vec<u8>) {
        let gate = gate();
        for token in [token, URL_SAFE_NO_PAD.encode(bytes)] {
            prop_assert!(verdict(&gate, &token, &Ask::get(PATH, NOW)).is_err());
        }
    }
}
