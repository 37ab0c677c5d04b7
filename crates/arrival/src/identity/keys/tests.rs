use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use pass::{Claims, LEEWAY_S, Pinned};

use super::plan::{AFTER_MS, AHEAD_MS, EVERY_MS};
use super::*;
use crate::identity::limits::TOKEN_LIFE_S;

const T: i64 = 1_800_000_000_000;
const MINUTE: i64 = 60_000;

fn clock(at: &Arc<AtomicI64>) -> Clock {
    let at = at.clone();
    Arc::new(move || at.load(Ordering::SeqCst))
}

fn open(path: &Path, at: &Arc<AtomicI64>) -> Ring {
    Ring::open(path, Algorithm::Eddsa, clock(at)).unwrap()
}

fn token(ring: &Ring, now_ms: i64) -> String {
    by(ring.keys().signer(), now_ms)
}

fn by(signer: &Signer, now_ms: i64) -> String {
    let exp = now_ms / 1_000 + TOKEN_LIFE_S;
    signer.sign(&Claims { sub: "v".into(), exp, ..Claims::default() }).unwrap()
}

/// An edge that trusts the folder's pin.
fn edge(path: &Path) -> Pinned {
    let trust = std::fs::read_to_string(path.join("pin.json")).unwrap();
    Pinned::new(KeySet::from_jwks(&trust).unwrap())
}

#[test]
fn private_files_are_private_and_a_second_process_signs_alike() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let (one, two) = (open(folder.path(), &at), open(folder.path(), &at));
    assert_eq!(one.keys().signer().id(), two.keys().signer().id());
    assert_eq!(one.secret().unwrap().0, two.secret().unwrap().0);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let public = ["jwks.json", "pin.json", "pin.jws"].contains(&name.as_str());
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if public { 0o644 } else { 0o600 }, "{name}");
    }
    let mode = std::fs::metadata(folder.path()).unwrap().permissions().mode();
    assert!(mode & 0o700 == 0o700, "{mode:o}");
}

#[test]
fn an_rsa_key_is_made_and_signs() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let ring = Ring::open(folder.path(), Algorithm::Rs256, clock(&at)).unwrap();
    assert!(ring.keys().jwks.contains("RS256"), "{}", ring.keys().jwks);
    assert!(ring.keys().set.verify(&token(&ring, T), T / 1_000).is_ok());
    // And a quick one beside it, for what is signed at each play.
    let keys = ring.keys();
    assert_ne!(keys.quick().id(), keys.signer().id());
    assert_eq!(keys.quick().jwk()["alg"], "EdDSA");
    assert!(keys.set.verify(&by(keys.quick(), T), T / 1_000).is_ok());
}

#[test]
fn a_quick_key_that_comes_later_signs_when_everybody_knows_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let main = open(folder.path(), &at).keys().signer().id().to_owned();
    at.fetch_add(MINUTE, Ordering::SeqCst);
    // The folder has a key that signs, so none is made but the quick one.
    let ring = Ring::open(folder.path(), Algorithm::Rs256, clock(&at)).unwrap();
    assert_eq!(ring.folder.names(Series::Quick).unwrap().len(), 1);
    assert_eq!(ring.keys().quick().id(), main);
    at.fetch_add(AHEAD_MS, Ordering::SeqCst);
    ring.look().unwrap();
    let quick = ring.keys().quick().id().to_owned();
    assert_ne!(quick, main);
    assert_eq!(ring.keys().signer().id(), main);
    // Back again: its tokens hold, and it signs no more.
    let eddsa = open(folder.path(), &at).keys();
    assert_eq!(eddsa.quick().id(), main);
    let now = at.load(Ordering::SeqCst);
    assert!(eddsa.set.verify(&by(ring.keys().quick(), now), now / 1_000).is_ok());
}

/// Two months: two issuers that share a folder, one edge that fetches the set each hour and one that lives on each
/// pin for a whole day. Every token holds everywhere, to its last second.
#[test]
fn keys_rotate_without_one_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let issuers = [open(folder.path(), &at), open(folder.path(), &at)];
    let mut pinned = edge(folder.path());
    let mut fetched = issuers[0].keys().set.clone();
    let mut names = std::collections::BTreeSet::new();
    let day = 24 * 60;
    for minute in (0..64 * day).step_by(60) {
        let now = T + minute * MINUTE;
        at.store(now, Ordering::SeqCst);
        issuers[0].look().unwrap();
        // The second looks only once in two hours: it is busy.
        if minute % 120 == 0 {
            issuers[1].look().unwrap();
        }
        // The pin of a day is taken just before a key is published, which is the worst moment.
        if minute == 0 || (minute + 60) % day == 0 {
            pinned.offer(issuers[0].keys().pin.as_ref().unwrap(), now / 1_000).unwrap();
        }
        for (n, issuer) in issuers.iter().enumerate() {
            names.insert(issuer.keys().signer().id().to_owned());
            let token = token(issuer, now);
            let then = now / 1_000 + TOKEN_LIFE_S + LEEWAY_S - 1;
            let known = pinned.keys(now / 1_000).unwrap_or_else(|| panic!("no pin in minute {minute}"));
            let sets = [&fetched, known, &issuers[0].keys().set, &issuers[1].keys().set];
            for (which, set) in sets.into_iter().enumerate() {
                let verified = set.verify(&token, then);
                assert!(verified.is_ok(), "issuer {n}, minute {minute}, set {which}: {verified:?}");
            }
        }
        fetched = issuers[0].keys().set.clone();
    }
    assert_eq!(names.len(), 3, "it did rotate");
    let left = issuers[0].folder.names(Series::Main).unwrap();
    assert!(left.len() <= 2, "old keys are gone: {left:?}");
}

/// Four threads sign and verify as fast as they can while keys come and go for three months.
#[test]
fn keys_rotate_under_load() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let ring = open(folder.path(), &at);
    let (over, checked) = (AtomicBool::new(false), AtomicI64::new(0));
    let mut signers = std::collections::BTreeSet::new();
    // Time stands still while a token is in somebody's hand, or months would pass between two lines of a thread that
    // the machine has put aside. The keys are looked after meanwhile.
    let time = RwLock::new(());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let _still = time.read().unwrap();
                    let now = at.load(Ordering::SeqCst);
                    let token = token(&ring, now);
                    if ring.keys().set.verify(&token, now / 1_000).is_err() {
                        over.store(true, Ordering::SeqCst);
                        panic!("a good token was refused");
                    }
                    checked.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        // Between the days on which a key comes and another goes nothing happens.
        let steps = -2..AHEAD_MS / AFTER_MS + 6;
        for now in (1..=3).flat_map(|month| steps.clone().map(move |n| T + month * EVERY_MS + n * AFTER_MS)) {
            {
                let _nobody = time.write().unwrap();
                at.store(now, Ordering::SeqCst);
            }
            ring.look().unwrap();
            signers.insert(ring.keys().signer().id().to_owned());
            let enough = checked.load(Ordering::SeqCst) + 20;
            while checked.load(Ordering::SeqCst) < enough && !over.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
        over.store(true, Ordering::SeqCst);
    });
    assert_eq!(signers.len(), 4, "it did rotate");
    assert!(checked.load(Ordering::SeqCst) > 1_000);
}

/// The issuer that publishes is down for an hour, and a day. The edge that has its pin goes on, one that is restarted
/// meanwhile has it from the file, and after a day both refuse.
#[test]
fn the_issuer_is_down_and_edges_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let ring = open(folder.path(), &at);
    let mut running = edge(folder.path());
    running.offer(ring.keys().pin.as_ref().unwrap(), T / 1_000).unwrap();
    // From here on nobody looks after the keys and nothing is published. Tokens come from another door, which has a
    // copy of the keys.
    let other = ring.keys();
    drop(ring);
    for hours in [1, 23] {
        let now_s = T / 1_000 + hours * 3_600;
        let claims = Claims { sub: "v".into(), exp: now_s + TOKEN_LIFE_S, ..Claims::default() };
        let token = other.signer().sign(&claims).unwrap();
        let mut restarted = edge(folder.path());
        let file = std::fs::read_to_string(folder.path().join("pin.jws")).unwrap();
        restarted.offer(&file, now_s).unwrap();
        for edge in [&running, &restarted] {
            assert_eq!(edge.keys(now_s).unwrap().verify(&token, now_s).unwrap().sub, "v", "after {hours} h");
            let forged = Signer::generate(other.signer().id()).unwrap().sign(&claims).unwrap();
            assert!(edge.keys(now_s).unwrap().verify(&forged, now_s).is_err());
        }
    }
    assert!(running.keys(T / 1_000 + 25 * 3_600).is_none());
    // It comes back after a month: an old key still signs until all know the new one.
    let late = T + 2 * EVERY_MS;
    at.store(late, Ordering::SeqCst);
    let ring = open(folder.path(), &at);
    assert_eq!(ring.keys().signer().id(), other.signer().id());
    at.store(late + AHEAD_MS, Ordering::SeqCst);
    ring.look().unwrap();
    assert_ne!(ring.keys().signer().id(), other.signer().id());
}

#[test]
fn a_pin_whose_key_is_kept_elsewhere_is_not_made_here() {
    let folder = tempfile::tempdir().unwrap();
    let at = Arc::new(AtomicI64::new(T));
    let jwks = open(folder.path(), &at).keys().jwks.clone();
    let taken = folder.path().join("pin.key");
    let der = std::fs::read(&taken).unwrap();
    std::fs::remove_file(&taken).unwrap();
    std::fs::remove_file(folder.path().join("pin.jws")).unwrap();
    let ring = open(folder.path(), &at);
    assert!(ring.keys().pin.is_none() && !taken.exists());
    // Whoever has it signs, and what they leave is served.
    let pin = pass::pin(&Signer::from_pkcs8("pin", &der).unwrap(), &jwks, T / 1_000).unwrap();
    std::fs::write(folder.path().join("pin.jws"), &pin).unwrap();
    ring.look().unwrap();
    assert_eq!(ring.keys().pin.as_ref(), Some(&pin));
    edge(folder.path()).offer(&pin, T / 1_000).unwrap();
}
