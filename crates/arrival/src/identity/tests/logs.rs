//! What reaches the log, at its most talkative.

use std::io::Write;
use std::sync::Mutex;

use tracing_subscriber::fmt::MakeWriter;

use super::*;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Written;
    fn make_writer(&'a self) -> Written {
        self.clone()
    }
}

/// Everything that has a secret in it is done once, well and badly, with the store there and gone.
#[test]
fn no_secret_and_no_address_is_logged() {
    let written = Written::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(written.clone())
        .with_ansi(false)
        .finish();
    // While there is only one subscriber, an event that another test comes to first asks that of its own thread, which
    // has none, and is never heard again. So there are two.
    let _second = tracing::Dispatch::new(tracing_subscriber::fmt().with_writer(std::io::sink).finish());
    // One thread, so that this subscriber hears all of it.
    let secrets = tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(everything())
    });
    let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("an old refresh token was presented"), "it is heard: {log}");
    assert!(log.contains("a login could not be verified"), "{log}");
    for secret in secrets {
        assert!(secret.len() >= 4, "{secret}");
        assert!(!log.contains(&secret), "'{secret}' is in the log:\n{log}");
    }
}

async fn everything() -> Vec<String> {
    let door = Door::new();
    let mut secrets =
        vec![MALA.to_owned(), "mala".to_owned(), PASSWORD.to_owned(), "another horse".to_owned()];
    door.ask("POST", "/register", "", json!({ "email": MALA })).await;
    let code = door.code();
    secrets.push(code.clone());
    let body = json!({ "email": MALA, "code": code, "password": PASSWORD });
    let made = door.ask("POST", "/register/confirm", "", body).await;
    let mut keep = |answer: &Answer| {
        for name in ["token", "refresh_token", "device_token"] {
            if let Some(text) = answer.body[name].as_str() {
                // Its last part is the secret of it.
                secrets.push(text.rsplit('.').next().unwrap().to_owned());
            }
        }
    };
    keep(&made);
    keep(&door.login(MALA, PASSWORD).await);
    door.login(MALA, "wrong horse").await;
    keep(&door.refresh(made.text("refresh_token")).await);
    door.later(3_600_000);
    door.refresh(made.text("refresh_token")).await;
    let again = door.login(MALA, PASSWORD).await;
    keep(&again);
    let body = json!({ "current": PASSWORD, "new": "another horse" });
    assert_eq!(
        door.ask("PUT", "/me/password", again.text("token"), body).await.status,
        StatusCode::NO_CONTENT
    );
    door.ask("POST", "/login", "", json!({ "email": MALA, "password": 5 })).await;
    door.store.go();
    keep(&door.login(MALA, PASSWORD).await);
    keep(&door.refresh(again.text("refresh_token")).await);
    door.ask("GET", "/me", again.text("token"), Value::Null).await;
    secrets.push("wrong horse".to_owned());
    secrets
}
