//! What an ID token must say (OpenID Connect Core, 3.1.3.7). Its signature has been checked.

use pass::LEEWAY_S;
use serde::Deserialize;

/// Longest subject (OpenID Connect Core, 2).
const SUBJECT_CHARS_MAX: usize = 255;

/// How old a token may be that was just fetched, in seconds: clocks of others are not ours.
const AGE_S_MAX: i64 = 600;

#[derive(Deserialize)]
struct Said {
    iss: String,
    sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: f64,
    iat: f64,
    nonce: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

/// Whom a token is expected to speak of, and to.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
}

impl Expected<'_> {
    /// The subject, if the token's claims are what they must be at that moment (UTC, seconds).
    pub(super) fn subject(&self, claims: &[u8], now_s: i64) -> Result<String, &'static str> {
        let said: Said =
            serde_json::from_slice(claims).map_err(|_| "claims are missing or not of their type")?;
        let several = matches!(&said.aud, Audience::Many(all) if all.len() > 1);
        let for_us = match &said.aud {
            Audience::One(one) => one == self.client_id,
            Audience::Many(all) => all.iter().any(|one| one == self.client_id),
        };
        let to_us = said.azp.as_deref().map_or(!several, |azp| azp == self.client_id);
        let now = now_s as f64;
        let checks = [
            (said.iss == self.issuer, "it is another issuer's"),
            (for_us && to_us, "it is for another client"),
            (now < said.exp + LEEWAY_S as f64, "it has expired"),
            ((now - said.iat).abs() <= AGE_S_MAX as f64, "it was issued at another time"),
            (said.nonce.as_deref() == Some(self.nonce), "it is of another sign-in"),
            ((1..=SUBJECT_CHARS_MAX).contains(&said.sub.len()), "its subject is no subject"),
        ];
        match checks.into_iter().find(|(good, _)| !good) {
            None => Ok(said.sub),
            Some((_, why)) => Err(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn every_claim_counts() {
        const NOW: i64 = 1_800_000_000;
        let expected = Expected { issuer: "https://id", client_id: "us", nonce: "n" };
        let good = json!({ "iss": "https://id", "sub": "s", "aud": "us", "exp": NOW + 60, "iat": NOW, "nonce": "n" });
        let with = |changes: Value| {
            let mut claims = good.clone();
            for (name, value) in changes.as_object().unwrap() {
                claims[name] = value.clone();
            }
            expected.subject(claims.to_string().as_bytes(), NOW)
        };
        for fine in [
            json!({}),
            json!({ "aud": ["us"] }),
            json!({ "aud": ["us", "them"], "azp": "us" }),
            json!({ "exp": NOW, "iat": NOW - 599 }),
        ] {
            assert_eq!(with(fine.clone()).as_deref(), Ok("s"), "{fine}");
        }
        for bad in [
            json!({ "iss": "https://id/" }),
            json!({ "aud": "them" }),
            json!({ "aud": [] }),
            json!({ "aud": ["us", "them"] }),
            json!({ "azp": "them" }),
            json!({ "exp": NOW - LEEWAY_S }),
            json!({ "exp": "never" }),
            json!({ "iat": NOW - 601 }),
            json!({ "iat": NOW + 601 }),
            json!({ "nonce": "m" }),
            json!({ "nonce": null }),
            json!({ "sub": "" }),
            json!({ "sub": "s".repeat(256) }),
            json!({ "sub": 1 }),
        ] {
            assert!(with(bad.clone()).is_err(), "{bad}");
        }
    }
}
