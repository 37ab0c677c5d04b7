//! Checking access tokens, once each.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use pass::{Claims, KeySet, LEEWAY_S};
use store::Digest;

use super::limits::VERIFIED_MAX;
use super::secret;

/// What tokens say whose signature was found good, by their digest.
type Known = LruCache<Digest, Arc<Claims>>;

/// What is known, for as long as the key set is the same.
pub(crate) struct Verified {
    known: Mutex<(Arc<KeySet>, Known)>,
}

impl Verified {
    pub(crate) fn new(keys: Arc<KeySet>) -> Verified {
        let max = NonZeroUsize::new(VERIFIED_MAX).unwrap_or(NonZeroUsize::MIN);
        Verified { known: Mutex::new((keys, LruCache::new(max))) }
    }

    /// What a token says, if it holds at that moment (UTC, seconds).
    pub(crate) fn check(
        &self,
        keys: &Arc<KeySet>,
        token: &str,
        now_s: i64,
    ) -> Result<Arc<Claims>, pass::Error> {
        let digest = secret::digest(token);
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            // Another set may lack a key that was withdrawn.
            if !Arc::ptr_eq(&known.0, keys) {
                *known = (keys.clone(), LruCache::new(known.1.cap()));
            }
            if let Some(claims) = known.1.get(&digest) {
                let claims = claims.clone();
                return if now_s < claims.exp.saturating_add(LEEWAY_S) {
                    Ok(claims)
                } else {
                    known.1.pop(&digest);
                    Err(pass::Error::Expired)
                };
            }
        }
        let claims = Arc::new(keys.verify(token, now_s)?);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&known.0, keys) {
            known.1.put(digest, claims.clone());
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pass::Signer;

    #[test]
    fn what_is_remembered_still_ends() {
        let signer = Signer::generate("a").unwrap();
        let set = |signer: &Signer| Arc::new(KeySet::from_jwks(&signer.jwks()).unwrap());
        let keys = set(&signer);
        let verified = Verified::new(keys.clone());
        let token = signer.sign(&Claims { sub: "v".into(), exp: 1_000, ..Claims::default() }).unwrap();
        for now in [0, 0, 1_000 + LEEWAY_S - 1] {
            assert_eq!(verified.check(&keys, &token, now).unwrap().sub, "v");
        }
        for now in [1_000 + LEEWAY_S, 1_000 + LEEWAY_S] {
            assert_eq!(verified.check(&keys, &token, now), Err(pass::Error::Expired));
        }
        assert!(verified.check(&keys, &token, 0).is_ok());
        // A set without its key.
        let others = set(&Signer::generate("b").unwrap());
        assert_eq!(verified.check(&others, &token, 0), Err(pass::Error::Key));
    }
}
