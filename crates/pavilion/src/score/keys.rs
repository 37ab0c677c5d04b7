//! The keys that a socket edge checks tokens with: from files or URLs, plain or pinned.
//!
//! The edge never asks anybody about a token. A key is published a day before it signs, so the looks are rare; one that
//! fails is made once more at once, and then again at its usual time, never later and later.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use axum::body::Bytes;
use axum::http::Uri;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use pass::{KeySet, PIN_BYTES_MAX, Pinned};
use tokio::sync::watch;

/// How often a file is looked at, and a URL: a new key is there for a day before the first token that it signs, but one
/// that was withdrawn should be gone soon.
const FILE_EVERY: Duration = Duration::from_secs(2);
const URL_EVERY: Duration = Duration::from_secs(60);

/// The longest wait for a URL.
const ANSWER_MAX: Duration = Duration::from_secs(3);

/// Where a key set is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    Url(Uri),
}

impl FromStr for Source {
    type Err = axum::http::uri::InvalidUri;
    fn from_str(s: &str) -> Result<Source, Self::Err> {
        let is_url = s.starts_with("http://") || s.starts_with("https://");
        if is_url { s.parse().map(Source::Url) } else { Ok(Source::File(s.into())) }
    }
}

impl Source {
    async fn read(&self) -> anyhow::Result<String> {
        match self {
            Source::File(file) => {
                tokio::fs::read_to_string(file).await.with_context(|| format!("reading {}", file.display()))
            }
            Source::Url(url) => fetch(url).await.with_context(|| format!("fetching {url}")),
        }
    }
}

async fn fetch(url: &Uri) -> anyhow::Result<String> {
    static CLIENT: LazyLock<Client<HttpsConnector<HttpConnector>, Empty<Bytes>>> = LazyLock::new(|| {
        let https = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().build();
        Client::builder(TokioExecutor::new()).build(https)
    });
    let whole = async {
        let answer = CLIENT.get(url.clone()).await?;
        if !answer.status().is_success() {
            bail!("it answers {}", answer.status());
        }
        let body = Limited::new(answer.into_body(), PIN_BYTES_MAX).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!(error))?;
        Ok(String::from_utf8(body.to_bytes().into())?)
    };
    tokio::time::timeout(ANSWER_MAX, whole).await.context("it does not answer")?
}

/// What is known.
struct Known {
    sources: Vec<Source>,
    /// With trust: pins only.
    pinned: Option<Pinned>,
    keys: Arc<KeySet>,
}

impl Known {
    /// Takes the first that can be had and is good.
    async fn look(&mut self) -> anyhow::Result<()> {
        let mut failed = None;
        for source in &self.sources {
            match source.read().await.and_then(|text| take(&mut self.pinned, &text)) {
                Ok(Some(keys)) => {
                    self.keys = keys;
                    return Ok(());
                }
                Ok(None) => return Ok(()),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| anyhow::anyhow!("there is nowhere to look for keys")))
    }

    /// What tokens are checked with now: of a pin that is over, nothing.
    fn now(&self) -> Arc<KeySet> {
        match &self.pinned {
            None => self.keys.clone(),
            Some(pinned) => pinned.keys(now_s()).cloned().unwrap_or_default(),
        }
    }
}

/// Reads a plain set, or offers a pin to what is trusted.
fn take(pinned: &mut Option<Pinned>, text: &str) -> anyhow::Result<Option<Arc<KeySet>>> {
    match pinned {
        None => Ok(Some(Arc::new(KeySet::from_jwks(text)?))),
        Some(pinned) => Ok(pinned.offer(text, now_s()).map(|()| None)?),
    }
}

/// Looks for keys, and then again and again. It must find some the first time.
pub(crate) async fn follow(
    sources: Vec<Source>,
    pinned_by: Option<&Path>,
) -> anyhow::Result<watch::Receiver<Arc<KeySet>>> {
    let trust = |file: &Path| -> anyhow::Result<Pinned> {
        let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let trust =
            KeySet::from_jwks(&text).with_context(|| format!("{} is not a key set", file.display()))?;
        Ok(Pinned::new(trust))
    };
    let every = match sources.first() {
        Some(Source::Url(_)) => URL_EVERY,
        _ => FILE_EVERY,
    };
    let mut known = Known { sources, pinned: pinned_by.map(trust).transpose()?, keys: Arc::default() };
    known.look().await?;
    let (tell, keys) = watch::channel(known.now());
    tokio::spawn(async move {
        while !tell.is_closed() {
            // Edges that began together do not ask together.
            tokio::time::sleep(every.mul_f64(0.5 + 0.5 * fastrand::f64())).await;
            let mut looked = known.look().await;
            if looked.is_err() {
                looked = known.look().await;
            }
            if let Err(error) = looked {
                tracing::warn!("{error:#}; the keys stay as they are");
            }
            tell.send_replace(known.now());
        }
    });
    Ok(keys)
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use pass::{Claims, Signer, pin};

    /// The issuer is away and the edge is started: it has what a file says, if the right key pinned it.
    #[tokio::test]
    async fn an_edge_begins_with_a_pin_from_a_file() {
        let folder = std::env::temp_dir().join(format!("pavilion-keys-{:016x}", fastrand::u64(..)));
        std::fs::create_dir_all(&folder).unwrap();
        let (pinner, issuer) = (Signer::generate("pin").unwrap(), Signer::generate("k").unwrap());
        let (trust, copy) = (folder.join("pin.json"), folder.join("pin.jws"));
        std::fs::write(&trust, pinner.jwks()).unwrap();
        std::fs::write(&copy, pin(&pinner, &issuer.jwks(), now_s()).unwrap()).unwrap();
        // Nobody listens on port 1.
        let sources = || vec!["http://127.0.0.1:1/x".parse().unwrap(), Source::File(copy.clone())];
        let keys = follow(sources(), Some(&trust)).await.unwrap();
        let claims = Claims { sub: "v".into(), exp: now_s() + 60, ..Claims::default() };
        assert!(keys.borrow().verify(&issuer.sign(&claims).unwrap(), now_s()).is_ok());

        // A plain set is no pin, nor is one that somebody else signed.
        for other in [issuer.jwks(), pin(&issuer, &issuer.jwks(), now_s()).unwrap()] {
            std::fs::write(&copy, other).unwrap();
            assert!(follow(sources(), Some(&trust)).await.is_err());
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
