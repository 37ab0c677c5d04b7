//! Connecting to an upstream: TCP, and TLS with HTTP/2 on offer for those that are named with `https`.

use std::error::Error as StdError;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tower_service::Service;

use crate::Error;
use crate::limits::{CONNECT_MAX, DIAL_MAX};

/// Connects, within [`DIAL_MAX`].
#[derive(Clone)]
pub(super) struct Dial(HttpsConnector<HttpConnector>);

impl Dial {
    /// One that trusts the authorities in that PEM file, or the public ones if there is none.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or holds anything but certificates of authorities.
    pub(super) fn new(authorities: Option<&Path>) -> Result<Dial, Error> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_MAX));
        tcp.enforce_http(false);
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider speaks the default versions")
            .with_root_certificates(authorities.map_or_else(|| Ok(public()), private)?)
            .with_no_client_auth();
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        Ok(Dial(https.enable_http1().enable_http2().wrap_connector(tcp)))
    }
}

/// The authorities that browsers trust, as they were when this was built.
fn public() -> RootCertStore {
    RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() }
}

fn private(path: &Path) -> Result<RootCertStore, Error> {
    let bad = |reason: String| Error::Tls(listen::tls::Error { path: path.to_owned(), reason });
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|e| bad(e.to_string()))? {
        let certificate = certificate.map_err(|e| bad(e.to_string()))?;
        roots.add(certificate).map_err(|e| bad(e.to_string()))?;
    }
    if roots.is_empty() {
        return Err(bad("there is no certificate in it".to_owned()));
    }
    Ok(roots)
}

type Boxed = Box<dyn StdError + Send + Sync>;

impl Service<Uri> for Dial {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = Boxed;
    type Future = BoxFuture<'static, Result<Self::Response, Boxed>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Boxed>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, upstream: Uri) -> Self::Future {
        let connecting = self.0.call(upstream);
        Box::pin(async move { timeout(DIAL_MAX, connecting).await? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_authority_is_said_in_one_sentence() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        let why = |text: Option<&str>| {
            if let Some(text) = text {
                std::fs::write(&path, text).unwrap();
            }
            Dial::new(Some(&path)).err().unwrap().to_string()
        };
        let begins = format!("cannot use {} for TLS: ", path.display());
        for text in [
            None,
            Some(""),
            Some("no PEM"),
            Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        ] {
            let why = why(text);
            assert!(why.starts_with(&begins) && why.len() > begins.len() && !why.contains('\n'), "{why}");
        }
        assert!(Dial::new(None).is_ok());
    }
}
