//! Entries for fuzzing; not for use otherwise.

use std::sync::LazyLock;

use crate::{KeySet, Pinned, Signer};

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn token_holds(text in "[ -~]{0,60}") {
            token(&text);
        }
    }
}
