//! The score plane's doors: what is told in secret stays so, what is told over TLS is, what is long travels compressed.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use e2e::all::{Match, Options};
use e2e::process;
use e2e::program::Program;
use e2e::roles::free_tcp_port;
use e2e::scores::Plane;
use e2e::until;

/// A role starts, or looks at a file again, well within this.
const READY_MAX: Duration = Duration::from_secs(30);

/// What curl says, if it succeeds: status, the fields in lower case, the body.
fn curl(args: &[&str]) -> Option<(u16, String, Vec<u8>)> {
    let fixed = ["-sS", "--max-time", "20", "-D", "-"];
    let said = Command::new("curl").args(fixed).args(args).output().unwrap();
    let head = said.stdout.windows(4).position(|four| four == b"\r\n\r\n")?;
    let fields = String::from_utf8_lossy(&said.stdout[..head]).to_lowercase();
    let status = fields.split(' ').nth(1)?.parse().ok()?;
    said.status.success().then(|| (status, fields, said.stdout[head + 4..].to_vec()))
}

/// The value of a process's variable.
fn variable(pid: u32, name: &str) -> Option<String> {
    let all = String::from_utf8(std::fs::read(format!("/proc/{pid}/environ")).ok()?).ok()?;
    all.split('\0').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_stands_on_a_command_line() {
    let game = Match::launch(&Options { scores: true, ..Options::default() });
    let pids = until("all children", READY_MAX, async || {
        let text = std::fs::read(game.folder().join("ports.json")).ok()?;
        let ports: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let pids: Vec<u32> =
            ports["pids"].as_object()?.values().map(|pid| pid.as_u64().unwrap_or(0) as u32).collect();
        // Its own environment and command line stand there only after a child has become another program.
        let started = |pid: &u32| *pid != 0 && variable(*pid, "PAVILION_SUPERVISED").is_some();
        pids.iter().all(started).then_some(pids)
    })
    .await;
    let feeds = pids.iter().find_map(|pid| variable(*pid, "PAVILION_INGEST_FEED")).expect("ingest has feeds");
    let keys: Vec<&str> = feeds.split(',').map(|feed| feed.rsplit(':').next().unwrap()).collect();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.len() >= 32), "{} keys", keys.len());
    let provided = pids.iter().filter_map(|pid| variable(*pid, "PAVILION_FEED_KEY"));
    assert!(provided.eq(keys.iter().copied()), "each provider has its own");
    let everybody = process::descendants(std::process::id());
    assert!(pids.iter().all(|pid| everybody.contains(pid)));
    for pid in everybody {
        let shown = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let shown = String::from_utf8_lossy(&shown).replace('\0', " ");
        assert!(keys.iter().all(|key| !shown.contains(key)), "{shown}");
    }
}

/// A certificate of its own authority, written to `cert.pem` and `key.pem`, and for the client to `{name}.pem`.
fn certify(folder: &Path, name: &str) -> String {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let trusted = folder.join(format!("{name}.pem"));
    for (file, text) in [
        (&folder.join("key.pem"), made.signing_key.serialize_pem()),
        (&folder.join("cert.pem"), made.cert.pem()),
        (&trusted, made.cert.pem()),
    ] {
        std::fs::write(file, text).unwrap();
    }
    trusted.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_edge_speaks_tls_with_a_certificate_that_changes() {
    let folder = tempfile::tempdir().unwrap();
    let old = certify(folder.path(), "old");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let at = free_tcp_port();
    let listen = format!("127.0.0.1:{at}");
    let (cert, key, store) = (file("cert.pem"), file("key.pem"), file("store.db"));
    let args = ["--listen", &listen, "--store", &store, "--tls-cert", &cert, "--tls-key", &key];
    let _edge = Program::start(folder.path(), "fanout", &[&["fanout"], &args[..]].concat());
    let here = format!("localhost:{at}:127.0.0.1");
    let url = format!("https://localhost:{at}/v1/matches/none/card");
    let ask = |trusted: &str| curl(&["--resolve", &here, "--cacert", trusted, "--tlsv1.3", &url]);
    let (status, _, body) = until("an answer over TLS", READY_MAX, async || ask(&old)).await;
    assert_eq!(status, 404);
    assert!(String::from_utf8_lossy(&body).contains("There is no match 'none'"));
    let new = certify(folder.path(), "new");
    until("an answer under the new certificate", READY_MAX, async || ask(&new)).await;
    assert!(ask(&old).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_travels_compressed_through_the_edge() {
    let folder = tempfile::tempdir().unwrap();
    let mut plane = Plane::start(folder.path(), "final").await;
    // It has been played already.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let start = (now - 3_600_000).to_string();
    let _feed = plane.feed("push", "final", &["--start-ms", &start]);
    let url = plane.resource("final", "card");
    let ask = |accept: &str| curl(&["-H", &format!("Accept-Encoding: {accept}"), &url]);
    let plain = until("the whole card", READY_MAX, async || {
        let (_, _, body) = ask("identity")?;
        String::from_utf8_lossy(&body).contains("\"player_of_match\":[\"").then_some(body)
    })
    .await;
    for (accept, coding) in [("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("br;q=0, gzip", "gzip")] {
        let (status, fields, body) = ask(accept).unwrap();
        assert_eq!(status, 200, "{fields}");
        assert!(fields.contains(&format!("content-encoding: {coding}")), "{accept}: {fields}");
        assert!(fields.contains("vary: accept-encoding"), "{accept}: {fields}");
        assert!(body.len() * 3 < plain.len(), "{accept}: {} of {} bytes", body.len(), plain.len());
    }
    let unpacked = Command::new("curl").args(["-sS", "--compressed", &url]).output().unwrap();
    assert_eq!(unpacked.stdout, plain, "curl reads what it was given");
    let (_, fields, body) = ask("identity").unwrap();
    assert!(!fields.contains("content-encoding") && fields.contains("vary: accept-encoding"), "{fields}");
    assert_eq!(body, plain);
}
