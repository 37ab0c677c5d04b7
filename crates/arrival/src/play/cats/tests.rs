use pass::{Document, Place, Secret};

use super::*;

const NOW_S: i64 = 1_800_000_000;
const LIST: &str = "/final/r1/main/hls/master.m3u8";

fn cats(document: &Document) -> (tempfile::TempDir, Cats) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    std::fs::write(&file, serde_json::to_vec(document).unwrap()).unwrap();
    let cats = Cats::open(file, 600, 3_600, Edges::default()).unwrap();
    (folder, cats)
}

fn grant() -> Grant {
    Grant {
        session: "s-1".into(),
        path: "/final/r1/".into(),
        programmes: Some(vec!["main".into()]),
        country: None,
        network: None,
        begin_s: NOW_S,
        end_s: NOW_S + 3_600,
        renewed: true,
    }
}

#[test]
fn a_pass_opens_what_was_granted_and_no_more() {
    let (_folder, cats) = cats(&Document::generate("pavilion", "k1").unwrap());
    let pass = cats.issue(&grant()).unwrap();
    let at = |path, now_s| cats.check(&pass, &Ask::get(path, now_s));
    let yes = Admitted { session: Some("s-1".into()), until_s: NOW_S + 600, renewed: true };
    assert_eq!(at(LIST, NOW_S), Ok(yes.clone()));
    for other in
        ["/final/r1/bird/hls/master.m3u8", "/final/r2/main/x", "/final/r1/main", "/semi/r1/main/x", "/"]
    {
        assert_eq!(at(other, NOW_S), Err(Refusal::WrongPath), "{other}");
    }
    assert_eq!(at(LIST, NOW_S + 602), Err(Refusal::Expired));
    assert_eq!(cats.check(&pass[..pass.len() - 4], &Ask::get(LIST, NOW_S)), Err(Refusal::Malformed));
    assert_eq!(cats.check("", &Ask::get(LIST, NOW_S)), Err(Refusal::Missing));

    let several = Grant { programmes: Some(vec!["main".into(), "bird-2".into()]), ..grant() };
    let whole = Grant { programmes: None, ..grant() };
    for (granted, bird) in [(several, Err(Refusal::WrongPath)), (whole, Ok(yes.clone()))] {
        let pass = cats.issue(&granted).unwrap();
        let at = |path| cats.check(&pass, &Ask::get(path, NOW_S));
        assert_eq!((at(LIST), at("/final/r1/bird-2/x")), (Ok(yes.clone()), Ok(yes.clone())));
        assert_eq!(at("/final/r1/bird/x"), bird);
        assert_eq!(at("/final/r2/main/x"), Err(Refusal::WrongPath));
    }
    let many = (0..80).map(|n| format!("angle-{n}")).collect();
    assert!(cats.issue(&Grant { programmes: Some(many), ..grant() }).is_err());
}

#[test]
fn it_is_bound_to_the_place() {
    let (_folder, cats) = cats(&Document::generate("pavilion", "k1").unwrap());
    let pass = cats.issue(&Grant { country: Some(*b"IN"), network: Some(5), ..grant() }).unwrap();
    let place =
        |country: &str, asn| Place { country: Some(country.into()), subdivision: None, asn: Some(asn) };
    for (place, says) in [
        (Some(place("IN", 5)), None),
        (Some(place("IE", 5)), Some(Refusal::WrongCountry)),
        (Some(place("IN", 6)), Some(Refusal::WrongNetwork)),
        (None, Some(Refusal::WrongCountry)),
    ] {
        let ask = Ask { place: place.as_ref(), ..Ask::get(LIST, NOW_S) };
        assert_eq!(cats.check(&pass, &ask).err(), says, "{place:?}");
    }
}

/// Whatever an edge renews, a pass is never good past the end that was granted; a provisional one is not renewed at all.
#[test]
fn renewals_end_with_the_grant() {
    let document = Document::generate("pavilion", "k1").unwrap();
    let (_folder, cats) = cats(&document);
    let edge = Gate::new(&document).unwrap();
    let mut ends = Vec::new();
    let mut pass = cats.issue(&grant()).unwrap();
    loop {
        let at_s = edge.open(&pass, &Ask::get(LIST, NOW_S)).unwrap().expires_s() - 1;
        ends.push(at_s + 1 - NOW_S);
        let opened = edge.open(&pass, &Ask::get(LIST, at_s)).unwrap();
        assert_eq!(opened.admits(&Ask::get(LIST, at_s)), Ok(()));
        match edge.renewed(&opened, [ends.len() as u8; 16], at_s) {
            Some(next) => pass = next,
            None => break,
        }
    }
    assert_eq!(ends, [600, 1_199, 1_798, 2_397, 2_996, 3_595, 3_600]);

    let provisional = Grant { renewed: false, end_s: NOW_S + 900, ..grant() };
    let pass = cats.issue(&provisional).unwrap();
    let opened = edge.open(&pass, &Ask::get(LIST, NOW_S)).unwrap();
    assert_eq!(edge.renewed(&opened, [1; 16], NOW_S + 899), None);
    let admitted = Admitted { session: Some("s-1".into()), until_s: NOW_S + 900, renewed: false };
    assert_eq!(cats.check(&pass, &Ask::get(LIST, NOW_S + 899)), Ok(admitted));
}

#[test]
fn a_session_that_was_ended_gets_nothing_more() {
    let (_folder, cats) = cats(&Document::generate("pavilion", "k1").unwrap());
    let now_s = crate::now_ms() / 1_000;
    let of = |session: &str| {
        let grant = Grant { session: session.into(), begin_s: now_s, end_s: now_s + 900, ..grant() };
        cats.issue(&grant).unwrap()
    };
    let (one, other) = (of("one"), of("other"));
    cats.revoke("one");
    assert_eq!(cats.check(&one, &Ask::get(LIST, now_s)), Err(Refusal::Revoked));
    assert!(cats.check(&other, &Ask::get(LIST, now_s)).is_ok());
}

#[tokio::test]
async fn new_keys_are_taken_and_what_is_none_is_not() {
    let mut document = Document::generate("pavilion", "k1").unwrap();
    let (folder, cats) = cats(&document);
    let file = folder.path().join("keys.json");
    document.keys = vec![Secret::generate("k2").unwrap()];
    let edge = Gate::new(&document).unwrap();
    assert!(edge.open(&cats.issue(&grant()).unwrap(), &Ask::get(LIST, NOW_S)).is_err());
    let changed = async {
        std::fs::write(&file, serde_json::to_vec(&document).unwrap()).unwrap();
        crate::testing::until("the new key", async || {
            edge.open(&cats.issue(&grant()).unwrap(), &Ask::get(LIST, NOW_S)).is_ok()
        })
        .await;
    };
    tokio::select! { () = cats.watch() => {}, () = changed => {} }
    std::fs::write(&file, "{").unwrap();
    assert!(edge.open(&cats.issue(&grant()).unwrap(), &Ask::get(LIST, NOW_S)).is_ok());
    assert!(matches!(Cats::open(file, 600, 3_600, Edges::default()), Err(Error::PassKeys { .. })));
}

#[test]
fn a_word_is_the_same_for_all() {
    let word = super::super::Word("open".into());
    assert_eq!(word.issue(&grant()).unwrap(), "open");
    assert!(word.check("open", &Ask::get(LIST, 0)).is_ok());
    assert_eq!(word.check("opem", &Ask::get(LIST, 0)), Err(Refusal::Malformed));
    assert_eq!(word.check("", &Ask::get(LIST, 0)), Err(Refusal::Missing));
}
