//! A provider: what it says of itself, its keys, and what we ask of it.

use std::sync::Arc;

use axum::body::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pass::KeySet;
use serde::Deserialize;
use tokio::sync::Mutex;

use super::fetch::{self, Failure, is_safe};
use super::flow::Flow;
use super::id_token::Expected;
use crate::identity::Error;
use crate::identity::config::Provider;
use crate::identity::limits::{OIDC_FRESH_MS, OIDC_PAUSE_MS, OIDC_STALE_MS};
use crate::identity::problem::Problem;
use crate::identity::secret::Secret;

/// A provider that we rely on.
pub(crate) struct Relying {
    config: Provider,
    secret: Option<String>,
    /// Held while it is asked: whoever comes meanwhile waits for that answer.
    about: Mutex<Kept<About>>,
    keys: Mutex<Kept<KeySet>>,
}

/// What a provider says of itself (OpenID Connect Discovery, 3).
#[derive(Clone, Debug, Deserialize)]
struct About {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// Something that was fetched, and when (UTC, milliseconds).
struct Kept<T> {
    value: Option<(Arc<T>, i64)>,
    /// When it was asked for last and that was in vain, or because something was missing in what is kept.
    missed_ms: Option<i64>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { value: None, missed_ms: None }
    }
}

impl<T> Kept<T> {
    /// What is kept, fetched anew when it is old or when `anew` is wanted (something is missing in it); but not sooner
    /// after a miss than a constant pause, whatever came of that. When it cannot be had, what is kept is good for a while.
    async fn get(
        &mut self,
        now_ms: i64,
        anew: bool,
        fetch: impl AsyncFnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let age = self.value.as_ref().map(|(_, at)| now_ms.saturating_sub(*at));
        let wanted = anew || age.is_none_or(|age| age >= OIDC_FRESH_MS);
        let paused = self.missed_ms.is_some_and(|at| now_ms.saturating_sub(at) < OIDC_PAUSE_MS);
        if wanted && !paused {
            let fetched = fetch().await;
            self.missed_ms = (anew || fetched.is_err()).then_some(now_ms);
            if let Ok(value) = fetched {
                self.value = Some((Arc::new(value), now_ms));
            }
        }
        let good = self.value.as_ref().filter(|(_, at)| now_ms.saturating_sub(*at) < OIDC_STALE_MS);
        good.map(|(value, _)| value.clone()).ok_or(Failure::Away)
    }
}

impl Relying {
    pub(crate) fn new(config: &Provider) -> Result<Relying, Error> {
        let read = |file: &std::path::PathBuf| {
            let text = std::fs::read_to_string(file);
            text.map(|text| text.trim().to_owned())
                .map_err(|error| Error::ProviderSecret(file.clone(), error))
        };
        let secret = config.secret.as_ref().map(read).transpose()?;
        Ok(Relying { config: config.clone(), secret, about: Mutex::default(), keys: Mutex::default() })
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    pub(super) fn issuer(&self) -> &str {
        &self.config.issuer
    }

    async fn about(&self, now_ms: i64) -> Result<Arc<About>, Problem> {
        let fetch = async || {
            let issuer = self.issuer().trim_end_matches('/');
            let about: About =
                read(&fetch::get(&format!("{issuer}/.well-known/openid-configuration")).await?)?;
            let urls = [&about.authorization_endpoint, &about.token_endpoint, &about.jwks_uri];
            // Discovery, 4.3: it must be who we asked for.
            if about.issuer != self.issuer() || !urls.into_iter().all(|url| is_safe(url)) {
                tracing::error!(provider = self.name(), "the provider says that it is another one");
                return Err(Failure::Refused);
            }
            Ok(about)
        };
        let about = self.about.lock().await.get(now_ms, false, fetch).await;
        about.map_err(|_| self.away())
    }

    async fn keys(&self, about: &About, anew: bool, now_ms: i64) -> Result<Arc<KeySet>, Problem> {
        let fetch = async || {
            let text = fetch::get(&about.jwks_uri).await?;
            let text = std::str::from_utf8(&text).map_err(|_| Failure::Refused)?;
            KeySet::from_jwks(text).map_err(|_| Failure::Refused)
        };
        let keys = self.keys.lock().await.get(now_ms, anew, fetch).await;
        keys.map_err(|_| self.away())
    }

    /// Where to send a viewer (OpenID Connect Core, 3.1.2.1).
    pub(super) async fn authorize(
        &self,
        flow: &Flow,
        secret: &Secret,
        back: &str,
        now_ms: i64,
    ) -> Result<String, Problem> {
        let about = self.about(now_ms).await?;
        let to = &about.authorization_endpoint;
        let query = form(&[
            ("response_type", "code"),
            ("client_id", &self.config.client_id),
            ("redirect_uri", back),
            ("scope", "openid"),
            ("state", &flow.state),
            ("nonce", &flow.nonce(secret)),
            ("code_challenge", &flow.challenge(secret)),
            ("code_challenge_method", "S256"),
        ]);
        Ok(format!("{to}{}{query}", if to.contains('?') { '&' } else { '?' }))
    }

    /// Who the provider says it is, for a code.
    pub(super) async fn subject(
        &self,
        flow: &Flow,
        secret: &Secret,
        code: &str,
        back: &str,
        now_ms: i64,
    ) -> Result<String, Problem> {
        #[derive(Deserialize)]
        struct Tokens {
            id_token: String,
        }
        let about = self.about(now_ms).await?;
        let verifier = flow.verifier(secret);
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", back),
            ("code_verifier", &verifier),
        ];
        // RFC 6749, 2.3.1: Basic is what a provider must take; some say that they only read the form.
        let id = &self.config.client_id;
        let methods = about.token_endpoint_auth_methods_supported.as_deref();
        let basic = methods.is_none_or(|all| all.iter().any(|one| one == "client_secret_basic"));
        let authorization = match &self.secret {
            Some(secret) if basic => {
                Some(format!("Basic {}", STANDARD.encode(format!("{}:{}", escape(id), escape(secret)))))
            }
            Some(secret) => {
                fields.extend([("client_id", id.as_str()), ("client_secret", secret.as_str())]);
                None
            }
            None => {
                fields.push(("client_id", id));
                None
            }
        };
        let refused = |why: &str| {
            tracing::warn!(provider = self.name(), why, "a sign-in by a provider failed");
            Problem::wrong("The provider did not sign you in. Please begin again.")
        };
        let answer = fetch::post(&about.token_endpoint, authorization.as_deref(), form(&fields)).await;
        let answer = answer.map_err(|failure| match failure {
            Failure::Away => self.away(),
            Failure::Refused => refused("it does not take the code"),
        })?;
        let tokens: Tokens = read(&answer).map_err(|_| refused("it gave no ID token"))?;
        let token = tokens.id_token.as_str();
        let mut checked = self.keys(&about, false, now_ms).await?.verify_signature(token);
        // It may have rotated its keys since we looked: one look more, and then it is a refusal.
        if checked == Err(pass::Error::Key) {
            checked = self.keys(&about, true, now_ms).await?.verify_signature(token);
        }
        let claims = checked.map_err(|error| refused(&error.to_string()))?;
        let expected = Expected { issuer: self.issuer(), client_id: id, nonce: &flow.nonce(secret) };
        expected.subject(&claims, now_ms / 1_000).map_err(refused)
    }

    fn away(&self) -> Problem {
        Problem::unavailable(
            "provider-unavailable",
            "The provider of your sign-in cannot be reached at the moment. Please try again, or sign in another way.",
        )
    }
}

fn read<T: serde::de::DeserializeOwned>(bytes: &Bytes) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|_| Failure::Refused)
}

/// `application/x-www-form-urlencoded`.
fn form(fields: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| format!("{name}={}", escape(value));
    fields.iter().map(pair).collect::<Vec<_>>().join("&")
}

/// Everything but what RFC 3986, 2.3 leaves as it is.
fn escape(text: &str) -> String {
    let byte = |b: u8| match b {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(b).to_string(),
        _ => format!("%{b:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test]
    async fn one_look_more_and_a_pause_that_never_grows() {
        let (mut kept, asked) = (Kept::<u32>::default(), Cell::new(0));
        let fails = async || {
            asked.set(asked.get() + 1);
            Err(Failure::Away)
        };
        // A provider that is away is asked once a pause, however often and however long.
        for round in 0..100 {
            let now = round * OIDC_PAUSE_MS;
            for later in [0, OIDC_PAUSE_MS / 2, OIDC_PAUSE_MS - 1] {
                assert!(kept.get(now + later, false, fails).await.is_err());
            }
            assert_eq!(asked.get(), round + 1);
        }
        // It is back: noticed with the next.
        let now = 100 * OIDC_PAUSE_MS;
        assert_eq!(*kept.get(now, false, async || Ok(1)).await.unwrap(), 1);
        // An unknown key is looked for at once, and not again within the pause.
        let later = now;
        assert_eq!(*kept.get(later, true, async || Ok(2)).await.unwrap(), 2);
        assert_eq!(*kept.get(later, true, async || Ok(3)).await.unwrap(), 2);
        // When it cannot be had, what is kept is good for a day.
        assert_eq!(*kept.get(later + OIDC_STALE_MS - 1, false, fails).await.unwrap(), 2);
        assert!(kept.get(later + OIDC_STALE_MS + OIDC_PAUSE_MS, false, fails).await.is_err());
    }

    #[test]
    fn a_form_is_one() {
        assert_eq!(form(&[("a", "x y&z=/ü"), ("b", "")]), "a=x%20y%26z%3D%2F%C3%BC&b=");
    }
}
