//! Passes that other people's libraries make and open.

#![allow(clippy::unwrap_used, missing_docs)]

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use e2e::tools;
use pass::cat::{Claims, Match, Network, Part, Renewal};
use pass::edge_auth::EdgeAuthKey;
use pass::{Ask, Document, Gate, Place, Refusal, Secret};
use serde_json::Value;

const PATH: &str = "/final/r1/main/hls/master.m3u8";

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// The secret is the bytes 0 to 31, as in the scripts.
fn gate() -> Gate {
    let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8".to_owned();
    let key = "52a152a152a152a152a152a152a1aabbccddeeff".to_owned();
    let document = Document {
        issuers: vec!["pavilion".into()],
        keys: vec![Secret { kid: "k1".into(), secret, from: 0, until: None }],
        edge_auth: vec![EdgeAuthKey { key, salt: None, escape_early: true }],
        ..Document::default()
    };
    Gate::new(&document).unwrap()
}

#[test]
fn eyevinns_library_opens_ours_and_we_open_its() {
    let (gate, now_s) = (gate(), now_s());
    let claims = Claims {
        session: Some("session-1".into()),
        expires_s: now_s + 300,
        not_before_s: Some(now_s),
        uri: vec![(Part::Path, Match::Prefix("/final/".into()))],
        // An address; of a prefix it wants the zero bytes that RFC 9164 leaves out.
        networks: Some(vec![Network::Prefix("192.0.2.7".parse().unwrap(), 32)]),
        renewal: Some(Renewal { add_s: 300, window_s: 120 }),
        ..Claims::default()
    };
    let ours = gate.sign(&claims, now_s).unwrap();
    let expired = gate.sign(&Claims { expires_s: now_s - 60, ..claims.clone() }, now_s).unwrap();
    let forged = format!("{}{}", &ours[..ours.len() - 1], if ours.ends_with('A') { 'Q' } else { 'A' });
    let open = |token: &str, paths: &[&str]| -> Vec<Value> {
        serde_json::from_slice(&tools::node("passes.mjs", &[&["open", token], paths].concat())).unwrap()
    };
    let verdicts = open(&ours, &[PATH, "/semi/x"]);
    assert_eq!(verdicts[0]["error"], Value::Null, "{verdicts:?}");
    assert_eq!(verdicts[0]["claims"]["sub"], "session-1");
    assert_eq!(verdicts[0]["claims"]["catnip"], serde_json::json!(["192.0.2.7"]));
    assert_eq!(verdicts[0]["claims"]["catr"]["deadline"], 120);
    for refused in [&verdicts[1], &open(&expired, &[PATH])[0], &open(&forged, &[PATH])[0]] {
        assert!(refused["error"].is_string(), "{refused}");
    }

    let its: String = serde_json::from_slice(&tools::node("passes.mjs", &["make"])).unwrap();
    let place = |country: &str| Place { country: Some(country.into()), ..Place::default() };
    let (ireland, britain) = (place("IE"), place("GB"));
    let ask =
        Ask { client: Some("2001:db8::7".parse().unwrap()), place: Some(&ireland), ..Ask::get(PATH, now_s) };
    let opened = gate.open(&its, &ask).unwrap();
    assert_eq!(opened.admits(&ask), Ok(()));
    for (ask, why) in [
        (Ask { path: "/semi/x", ..ask }, Refusal::WrongPath),
        // It takes this one; we do not.
        (Ask { place: Some(&britain), ..ask }, Refusal::WrongCountry),
        (Ask { client: Some(IpAddr::from([198, 51, 100, 7])), ..ask }, Refusal::WrongNetwork),
        (Ask { method: "PUT", ..ask }, Refusal::WrongMethod),
        (Ask { now_s: 2_000_000_010, ..ask }, Refusal::Expired),
    ] {
        assert_eq!(opened.admits(&ask), Err(why));
    }
}

#[test]
fn we_open_what_akamais_library_makes() {
    let python = tools::python();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/foreign/passes.py");
    let tokens: Vec<String> = serde_json::from_value(tools::json(python, &[script])).unwrap();
    assert_eq!(tokens.len(), 3);
    for token in tokens {
        let ask = Ask::get(PATH, now_s());
        let opened = gate().open(&token, &ask).unwrap_or_else(|why| panic!("{token}: {why}"));
        assert_eq!(opened.admits(&ask), Ok(()), "{token}");
        assert_eq!(opened.admits(&Ask { path: "/other/x", ..ask }), Err(Refusal::WrongPath), "{token}");
    }
}

/// The recipe for workers says of each pass what the edge says.
#[test]
fn the_recipe_decides_as_we_do() {
    let (gate, now_s) = (gate(), now_s());
    let secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let claims = Claims {
        session: Some("session-1".into()),
        expires_s: now_s + 300,
        not_before_s: Some(now_s),
        uri: vec![(Part::Path, Match::Prefix("/final/".into()))],
        countries: Some(vec!["IE".into()]),
        renewal: Some(Renewal { add_s: 300, window_s: 120 }),
        ..Claims::default()
    };
    let token = gate.sign(&claims, now_s).unwrap();
    let changed = |at: usize| {
        let to = if token.as_bytes()[at] == b'A' { "B" } else { "A" };
        format!("{}{to}{}", &token[..at], &token[at + 1..])
    };
    let scheme = Claims { uri: vec![(Part::Scheme, Match::Exact("https".into()))], ..claims.clone() };
    let tokens = [
        token.clone(),
        changed(30),
        changed(token.len() - 3),
        token[..80].to_owned(),
        "open".to_owned(),
        gate.sign(&scheme, now_s).unwrap(),
        gate.sign(&Claims { issuer: "other".into(), ..claims.clone() }, now_s).unwrap(),
    ];
    let asks = [
        (PATH, "IE", now_s),
        ("/semi/x", "IE", now_s),
        (PATH, "GB", now_s),
        (PATH, "", now_s),
        (PATH, "IE", now_s + 302),
        (PATH, "IE", now_s - 3),
    ];
    for token in tokens {
        let words: Vec<String> = asks
            .iter()
            .flat_map(|(path, country, at)| [(*path).into(), (*country).into(), at.to_string()])
            .collect();
        let mut args = vec![token.as_str(), secret];
        args.extend(words.iter().map(String::as_str));
        let its: Vec<Option<String>> = serde_json::from_slice(&tools::node("recipe.mjs", &args)).unwrap();
        let ours = asks.map(|(path, country, at)| {
            let place = Place { country: (!country.is_empty()).then(|| country.into()), ..Place::default() };
            let ask = Ask { place: Some(&place), ..Ask::get(path, at) };
            gate.open(&token, &ask).and_then(|pass| pass.admits(&ask)).err().map(|why| why.label().to_owned())
        });
        assert_eq!(its, ours, "{token}");
    }
}
