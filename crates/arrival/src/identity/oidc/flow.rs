//! A sign-in that is under way.

use crate::identity::Error;
use crate::identity::limits::OIDC_STATE_S;
use crate::identity::secret::{self, Secret, decode, encode, same};

/// The longest page to come back to, in bytes: the cookie must stay small.
const PAGE_BYTES_MAX: usize = 512;

/// What a browser takes along to the provider and back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    pub(super) provider: String,
    /// Random; all that is secret about this sign-in is derived from it.
    pub(super) state: String,
    /// UTC, seconds.
    pub(super) expires_s: i64,
    pub(super) device: String,
    /// To come back to.
    pub(super) page: String,
}

impl Flow {
    pub(super) fn begin(provider: &str, page: &str, device: &str, now_s: i64) -> Result<Flow, Error> {
        Ok(Flow {
            provider: provider.to_owned(),
            state: encode(secret::random::<32>()?),
            expires_s: now_s + OIDC_STATE_S,
            device: device.to_owned(),
            page: page.to_owned(),
        })
    }

    /// As a cookie's value.
    pub(super) fn write(&self, secret: &Secret) -> String {
        let Flow { provider, state, expires_s, device, page } = self;
        let text = format!("{provider}.{state}.{expires_s}.{device}.{}", encode(page));
        let proof = encode(secret.derive(&[b"oidc", text.as_bytes()]));
        format!("{text}.{proof}")
    }

    /// One that we wrote, and that is not over (UTC, seconds).
    pub(super) fn read(text: &str, secret: &Secret, now_s: i64) -> Option<Flow> {
        let (text, proof) = text.rsplit_once('.')?;
        if !same(&decode::<32>(proof)?, &secret.derive(&[b"oidc", text.as_bytes()])) {
            return None;
        }
        let mut parts = text.split('.');
        let mut next = || parts.next().map(str::to_owned);
        let (provider, state, expires, device, page) = (next()?, next()?, next()?, next()?, next()?);
        use base64::Engine;
        let page = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(page).ok()?;
        let expires_s: i64 = expires.parse().ok()?;
        let page = String::from_utf8(page).ok()?;
        (now_s < expires_s).then_some(Flow { provider, state, expires_s, device, page })
    }

    /// What the token must say again (OpenID Connect Core, 15.5.2).
    pub(super) fn nonce(&self, secret: &Secret) -> String {
        encode(secret.derive(&[b"oidc nonce", self.state.as_bytes()]))
    }

    /// What proves to the provider that who comes for the token sent the viewer (RFC 7636).
    pub(super) fn verifier(&self, secret: &Secret) -> String {
        encode(secret.derive(&[b"oidc verifier", self.state.as_bytes()]))
    }

    /// S256 of it.
    pub(super) fn challenge(&self, secret: &Secret) -> String {
        encode(secret::digest(self.verifier(secret)).0)
    }
}

/// A path of ours. `//x` and `/\x` are other hosts to a browser.
pub(super) fn is_page(page: &str) -> bool {
    let plain = page.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    page.len() <= PAGE_BYTES_MAX && page.starts_with('/') && !page.starts_with("//") && plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_wrote_is_read() {
        let secret = Secret([1; 32]);
        let flow = Flow::begin("club", "/watch/final?t=1", "d", 100).unwrap();
        let text = flow.write(&secret);
        assert_eq!(Flow::read(&text, &secret, 100), Some(flow.clone()));
        assert_eq!(Flow::read(&text, &secret, 100 + OIDC_STATE_S), None);
        assert_eq!(Flow::read(&text, &Secret([2; 32]), 100), None);
        for n in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[n] ^= 1;
            assert_eq!(Flow::read(&String::from_utf8_lossy(&other), &secret, 100), None, "byte {n}");
        }
        // What is derived is this sign-in's, and none is another.
        let other = Flow::begin("club", "/", "d", 100).unwrap();
        assert_ne!(flow.nonce(&secret), other.nonce(&secret));
        assert_ne!(flow.nonce(&secret), flow.verifier(&secret));
        assert_eq!(flow.verifier(&secret).len(), 43, "RFC 7636, 4.1");
    }

    #[test]
    fn one_comes_back_to_us_only() {
        for good in ["/", "/watch/final", "/watch/final?x=1#y"] {
            assert!(is_page(good), "{good}");
        }
        for bad in
            ["", "watch", "//evil.example", "/\\evil.example", "https://evil.example", "/a\r\nSet-Cookie: x"]
        {
            assert!(!is_page(bad), "{bad}");
        }
    }
}
