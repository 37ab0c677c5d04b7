//! Entries for fuzzing; not for use otherwise.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::cat::Claims;
use crate::edge_auth::EdgeAuthKey;
use crate::{Ask, Document, Gate, KeySet, Pinned, Signer};

static KEYS: LazyLock<Option<KeySet>> =
    LazyLock::new(|| KeySet::from_jwks(&Signer::generate("fuzz").ok()?.jwks()).ok());

/// A token from anyone, signed by no key of ours: never taken. The same bytes as a key set: whatever is read can be
/// asked.
pub fn token(text: &str) {
    if let Some(keys) = KEYS.as_ref() {
        assert!(keys.verify(text, 1_800_000_000).is_err());
        assert!(Pinned::new(keys.clone()).offer(text, 1_800_000_000).is_err());
    }
    if let Ok(keys) = KeySet::from_jwks(text) {
        let _ = keys.verify(text, 1_800_000_000);
    }
}

static GATE: LazyLock<Option<Gate>> = LazyLock::new(|| {
    let mut document = Document::generate("fuzz", "k").ok()?;
    let key = "00112233445566778899aabbccddeeff".to_owned();
    document.edge_auth = vec![EdgeAuthKey { key, salt: None, escape_early: true }];
    Gate::new(&document).ok()
});

/// A pass from anyone, as text or as a token's bytes: none of ours. The same bytes as a file of keys, and as the claims
/// of a Common Access Token that we signed: whatever they say, they can be asked, and say the same when they are signed
/// again.
pub fn pass(bytes: &[u8]) {
    let Some(gate) = GATE.as_ref() else { return };
    let ask = Ask { host: Some("h"), ..Ask::get("/m/r/p/v.m3u8", 1_800_000_000) };
    assert!(gate.open(&URL_SAFE_NO_PAD.encode(bytes), &ask).is_err());
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(gate.open(text, &ask).is_err());
        if let Ok(gate) = Gate::from_json(text) {
            let _ = gate.open("a.b.c", &ask);
        }
    }
    let Ok(claims) = Claims::read(bytes) else { return };
    let _ = claims.admits(&ask);
    assert!(Claims::read(&claims.write()).is_ok_and(|again| again == claims.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn token_holds(text in "[ -~]{0,60}") {
            token(&text);
        }

        #[test]
        fn passes_hold(bytes: Vec<u8>, text in "[ -~]{0,60}") {
            pass(&bytes);
            pass(text.as_bytes());
        }
    }
}
