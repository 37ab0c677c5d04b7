//! The command line: what it refuses, and how.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use e2e::program;

/// Nothing here waits for anybody.
const LIMIT: Duration = Duration::from_secs(20);

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn pavilion(args: &[&str]) -> Said {
    let said = program::output(args, LIMIT);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let said = Said { code: said.status.code(), out: text(&said.stdout), err: text(&said.stderr) };
    assert!(!said.err.contains("panicked"), "{args:?}: {}", said.err);
    said
}

/// Refused with this code, in words that contain `says`, and without a stack of causes over many lines.
fn refused(args: &[&str], code: i32, says: &str) {
    let said = pavilion(args);
    assert_eq!(said.code, Some(code), "{args:?}: {}", said.err);
    assert!(said.err.contains(says), "{args:?}: {}", said.err);
    assert!(said.out.is_empty(), "{args:?}: {}", said.out);
    // clap adds a usage and a hint; what we say ourselves is one sentence.
    let ours = said.err.lines().filter(|line| line.starts_with("pavilion: ")).count();
    assert!(
        ours == 1 && said.err.lines().count() == 1 || said.err.starts_with("error: "),
        "{args:?}: {}",
        said.err
    );
}

#[test]
fn wrong_words_are_usage_errors() {
    refused(&["fly"], 2, "unrecognized subcommand 'fly'");
    refused(&["run", "--prot", "1"], 2, "--port");
    refused(&["run", "--port", "70000"], 2, "70000");
    refused(&["run", "--port", "-1"], 2, "-1");
    refused(&["run", "--size", "641x360"], 2, "1280x720");
    refused(&["run", "--match", "A b"], 2, "is not a name");
    refused(&["pipeline", "--name", "c"], 2, "'c'");
    refused(&["pipeline", "--name", "a"], 2, "--epoch");
    refused(
        &["pipeline", "--name", "a", "--epoch", "tomorrow", "--input", "x", "--origin", "http://o:1"],
        2,
        "2026-11-29T14:00:00Z",
    );
    refused(&["edge", "--listen", "nowhere"], 2, "nowhere");
    refused(&["edge", "--upstream", "ftp://x"], 2, "ftp://x");
    for role in ["fanout", "snapshot"] {
        refused(&[role, "--shard", "nonsense"], 2, "host:port");
    }
    refused(&["ingest", "--feed", "bad"], 2, "ID:FORMAT:KEY");
    refused(&["console", "--role", "shard"], 2, "name=host:port");
    refused(&["completions", "cobol"], 2, "bash");
    assert_eq!(pavilion(&[]).code, Some(2));
}

#[test]
fn what_cannot_work_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let var = folder.path().join("var").display().to_string();
    let run = |more: &[&str], says: &str| {
        let args = [&["run", "--no-open", "--port", "0", "--var", &var], more].concat();
        refused(&args, 1, says);
    };
    run(&["--ladder", "720"], "720@2500,360@800");
    run(&["--input", "/no/such/file.ts"], "no such file");
    run(&["--window-s", "1"], "window_s");
    run(&["--log", "=="], "log filter");
    refused(&["run", "--no-open", "--port", "0", "--var", "/proc/nowhere"], 1, "/proc/nowhere");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let store = folder.path().join("s.db").display().to_string();
    refused(&["origin", "--listen", &at, "--store", &store], 1, "give another port");
    refused(&["end", "--epoch", "2026-11-29T14:00:00Z", "--origin", "http://127.0.0.1:1"], 1, "127.0.0.1:1");
    refused(&["loadgen", "ftp://x"], 1, "is not an http:// URL");
    refused(
        &[
            "pipeline",
            "--name",
            "a",
            "--epoch",
            "2026-11-29T14:00:00Z",
            "--input",
            "udp://127.0.0.1:0",
            "--origin",
            "o:1",
            "--store",
            &store,
        ],
        1,
        "is not an origin",
    );
    refused(
        &[
            "pipeline",
            "--name",
            "a",
            "--epoch",
            "2026-11-29T14:00:00Z",
            "--input",
            "x",
            "--origin",
            "http://o:1",
            "--store",
            "/proc/x/s.db",
        ],
        1,
        "/proc/x",
    );
}

#[test]
fn a_configuration_file_is_read_shown_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let write = |text: &str| {
        let file = folder.path().join("pavilion.toml");
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let file = write("[run]\nport = 0\nladder = \"360@800\"\n");
    let shown = pavilion(&["--config", &file, "config", "run", "--title", "Final"]);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let line = |name: &str| shown.out.lines().find(|l| l.starts_with(name)).unwrap().to_owned();
    assert!(line("ladder").contains("360@800") && line("ladder").contains(&file), "{}", shown.out);
    assert!(line("title").contains("Final") && line("title").contains("flag"), "{}", shown.out);
    assert!(line("preset").contains("default"), "{}", shown.out);

    for (text, says) in [
        ("[rnu]\n", "the roles are"),
        ("[run]\nprot = 1\n", "'prot'"),
        ("run = 1\n", "write [run]"),
        ("[run]\nport = {a = 1}\n", "must be a word"),
        ("[run\n", "pavilion.toml"),
    ] {
        refused(&["--config", &write(text), "run"], 2, says);
    }
    refused(&["--config", "/no/such.toml", "run"], 2, "/no/such.toml");
    refused(&["--config", &write("[run]\nport = \"many\"\n"), "run"], 2, "many");
    refused(&["config", "fly"], 1, "the roles are");
}

#[test]
fn it_helps() {
    let help = pavilion(&["--help"]);
    assert_eq!(help.code, Some(0));
    for role in [
        "run",
        "stadium",
        "pipeline",
        "origin",
        "edge",
        "arrival",
        "console",
        "loadgen",
        "end",
        "config",
        "completions",
    ] {
        assert!(help.out.contains(role), "{role}");
        assert_eq!(pavilion(&[role, "--help"]).code, Some(0), "{role}");
    }
    assert!(pavilion(&["--version"]).out.starts_with("pavilion "));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = pavilion(&["completions", shell]);
        assert!(
            script.code == Some(0) && script.out.contains("pavilion") && script.out.len() > 1_000,
            "{shell}"
        );
    }
}
