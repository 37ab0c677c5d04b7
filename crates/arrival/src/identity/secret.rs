//! Random names and secrets, and what is derived from them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};
use store::Digest;
use subtle::ConstantTimeEq;

use super::Error;

/// So many random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| Error::Random)?;
    Ok(bytes)
}

/// A random name of 128 bits.
pub(crate) fn name() -> Result<String, Error> {
    random::<16>().map(encode)
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

pub(crate) fn digest(bytes: impl AsRef<[u8]>) -> Digest {
    let mut out = [0; 32];
    out.copy_from_slice(digest::digest(&digest::SHA256, bytes.as_ref()).as_ref());
    Digest(out)
}

/// HMAC-SHA-256 of parts that cannot run into each other.
pub(crate) fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut out = [0; 32];
    out.copy_from_slice(context.sign().as_ref());
    out
}

/// Compared in a time that says nothing of where they differ.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// The door's own secret, of which all its processes have the same.
pub(crate) struct Secret(pub(crate) [u8; 32]);

impl Secret {
    /// The token by which a device without an account is itself again. It holds no data and opens nothing but the
    /// device's own name, so nothing is kept of it and it does not rotate: five million arrivals write nothing.
    pub(crate) fn device_token(&self, device: &str) -> String {
        format!("d1.{device}.{}", encode(mac(&self.0, &[b"device", device.as_bytes()])))
    }

    /// The device that this token names.
    pub(crate) fn device(&self, token: &str) -> Option<String> {
        let (device, proof) = token.strip_prefix("d1.")?.split_once('.')?;
        // Only names that we made have a proof, so its form need not be looked at.
        let proof: [u8; 32] = decode(proof)?;
        same(&proof, &mac(&self.0, &[b"device", device.as_bytes()])).then(|| device.to_owned())
    }

    pub(crate) fn derive(&self, parts: &[&[u8]]) -> [u8; 32] {
        mac(&self.0, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_token_is_for_its_device() {
        let (ours, other) = (Secret([1; 32]), Secret([2; 32]));
        let token = ours.device_token("abc");
        assert_eq!(ours.device(&token).as_deref(), Some("abc"));
        assert_eq!(other.device(&token), None);
        for bad in ["", "d1", "d1..", "d1.abc", "d1.abc.", &token.replace("abc", "abd"), &token[1..]] {
            assert_eq!(ours.device(bad), None, "{bad}");
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(mac(b"k", &[b"ab", b"c"]), mac(b"k", &[b"a", b"bc"]));
    }
}
