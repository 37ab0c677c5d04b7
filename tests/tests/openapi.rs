//! The interface is what its description says: `schemathesis` asks `pavilion arrival` whatever the description allows and
//! what it forbids, as nobody and as somebody. Meanwhile everything that is logged is kept, and no secret is in it.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use e2e::roles::{arrival, free_tcp_port};
use e2e::setting;
use e2e::tools::schemathesis;
use e2e::web::Web;
use http::{Method, StatusCode};
use serde_json::{Value, json};

/// Requests of each operation that are drawn; what the description's limits suggest comes in addition.
const EXAMPLES: usize = 10;
/// Of the drawing; the same each time, so that a failure comes again.
const SEED: &str = "5";
const EMAIL: &str = "asha.raman@example.org";
const PASSWORD: &str = "a battery of correct horses";

/// All that a status, a body and a head can be held against. Not among them: `positive_data_acceptance`, since a name that
/// is well formed need not be anybody's; `ignored_auth`, since every operation may be asked without a token, and says
/// itself whether that will do (tokens that are none are in `arrival::security`); those of links between operations,
/// of which the description has none.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_headers_conformance,response_schema_conformance,negative_data_rejection,\
                      missing_required_header,unsupported_method,allow_header_conformance";

/// Runs it, and panics with what it found.
fn check(app: &str, folder: &Path, more: &[&str]) {
    let description = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.yaml");
    let examples = setting("OPENAPI_EXAMPLES", EXAMPLES).to_string();
    let mut command = schemathesis();
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemathesis.toml");
    command
        .arg("--config-file")
        .arg(settings)
        .arg("--no-color")
        .arg("run")
        .arg(description)
        .args(["--url", app, "--checks", CHECKS]);
    command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", &examples, "--seed", SEED]);
    // One at a time: whoever asks much at once is told to come again, which is right and no finding.
    command.args(["--no-shrink", "--continue-on-failure", "--workers", "1", "--generation-database", "none"]);
    let ran = command.args(more).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}\n{said}{}", ran.status, String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("passed"), "it did something: {said}");
}

/// The code in the only mail, which is taken.
fn code(folder: &Path) -> String {
    let mails: Vec<_> = std::fs::read_dir(folder.join("mail/new")).unwrap().collect();
    assert_eq!(mails.len(), 1);
    let mail = std::fs::read_to_string(mails.into_iter().next().unwrap().unwrap().path()).unwrap();
    mail.lines().find_map(|line| line.strip_prefix("    ")).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_is_as_it_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_tcp_port();
    let app = format!("http://127.0.0.1:{port}");
    let more = ["--per-address", "1000000", "--token-algorithm", "eddsa", "--log", "trace"];
    let arrival = arrival(folder.path(), port, &more).await;
    let web = Web::default();
    let ask = async |method: Method, path: &str, token: &str, body: Value| {
        web.json(method, &format!("{app}{path}"), token, &body).await
    };
    let (status, _) = ask(Method::POST, "/v1/identity/register", "", json!({ "email": EMAIL })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let code = code(folder.path());
    let confirm = json!({ "email": EMAIL, "code": code, "password": PASSWORD });
    let (status, made) = ask(Method::POST, "/v1/identity/register/confirm", "", confirm).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    let word = |from: &Value, name: &str| from[name].as_str().unwrap().to_owned();
    let (token, refresh) = (word(&made, "token"), word(&made, "refresh_token"));
    let wrong = json!({ "email": EMAIL, "password": "an ounce of wrong horses" });
    assert_eq!(ask(Method::POST, "/v1/identity/login", "", wrong).await.0, StatusCode::UNAUTHORIZED);
    let login = json!({ "email": EMAIL, "password": PASSWORD });
    let (_, other) = ask(Method::POST, "/v1/identity/login", "", login).await;
    let (status, played) = ask(Method::POST, "/v1/matches/demo/play", &token, json!({})).await;
    assert_eq!(status, StatusCode::OK, "{played}");
    let (status, next) =
        ask(Method::POST, "/v1/identity/refresh", "", json!({ "refresh_token": refresh })).await;
    assert_eq!(status, StatusCode::OK, "{next}");
    let cut = &token[..token.len() - 9];
    assert_eq!(ask(Method::GET, "/v1/identity/me", cut, Value::Null).await.0, StatusCode::UNAUTHORIZED);

    let bearer = format!("Authorization: Bearer {token}");
    tokio::task::block_in_place(|| {
        check(&app, folder.path(), &[]);
        // What is another thing for somebody. But logging out, and signing out the one device that it learns of from the
        // list: the rest would be asked as nobody again.
        let own = "^/v1/(identity/(me|profiles|sessions)|matches/|streams)";
        let so = ["--header", &bearer, "--include-path-regex", own, "--exclude-operation-id", "endSession"];
        check(&app, folder.path(), &so);
    });
    let (status, me) = ask(Method::GET, "/v1/identity/me", &token, Value::Null).await;
    assert_eq!((status, &me["email"]), (StatusCode::OK, &json!(EMAIL)), "it was somebody to the end");

    let log = arrival.log();
    assert!(log.contains("a signing key was made"), "it is heard: {log}");
    let tokens = [&made, &other, &next].into_iter().flat_map(|who| {
        ["token", "refresh_token", "device_token"]
            .map(|name| who[name].as_str().unwrap_or_default().to_owned())
    });
    let play = [word(&played["scores"], "token"), word(&played, "session")];
    // The last part of a token is the secret of it.
    let tokens = tokens.chain(play).filter_map(|token| token.rsplit('.').next().map(str::to_owned));
    let words = [EMAIL, "asha.raman", PASSWORD, "an ounce of wrong horses", &code].map(str::to_owned);
    for secret in tokens.chain(words).filter(|word| !word.is_empty()) {
        let line = log.lines().find(|line| line.contains(&secret));
        assert_eq!(line, None, "{secret}");
    }
}
