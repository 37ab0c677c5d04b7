//! TLS 1.3 for a public listener: resumption by tickets, and certificates that may change while it is open.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::time::sleep;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::ring::{self, Ticketer};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{ServerConfig, version};
use tracing::{info, warn};

/// How often the files of the certificate are looked at: they change every few weeks, and whoever changed them
/// wants to see it.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// A certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {path} for TLS: {reason}")]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// A certificate chain and its key, both in PEM files, as they were when they were last good.
#[derive(Debug)]
pub struct Certificate {
    cert: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, holds no such thing, or a key that does not belong to the certificate.
    pub fn read(cert: &Path, key: &Path) -> Result<Arc<Certificate>, Error> {
        let provider = Arc::new(ring::default_provider());
        let current = RwLock::new(Arc::new(load(cert, key, &provider)?));
        Ok(Arc::new(Certificate { cert: cert.to_owned(), key: key.to_owned(), provider, current }))
    }

    /// TLS 1.3 with it, and one of these protocols above.
    ///
    /// # Errors
    ///
    /// The system has no randomness for the keys of tickets.
    pub fn config(self: &Arc<Self>, alpn: &[&[u8]]) -> Result<ServerConfig, Error> {
        let bad = |reason: String| Error { path: self.cert.clone(), reason };
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&version::TLS13])
            .map_err(|e| bad(e.to_string()))?
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = alpn.iter().map(|protocol| protocol.to_vec()).collect();
        // Tickets are sealed for the client to keep, so that a million sessions cost no memory here.
        config.ticketer = Ticketer::new().map_err(|e| bad(e.to_string()))?;
        Ok(config)
    }

    /// Looks from time to time whether the files have changed, for ever. What is not good is not taken.
    pub async fn watch(&self) {
        let mut seen = self.stamp().await;
        loop {
            sleep(LOOK_EVERY).await;
            let stamp = self.stamp().await;
            if stamp == seen {
                continue;
            }
            seen = stamp;
            match load(&self.cert, &self.key, &self.provider) {
                Ok(new) => {
                    *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
                    info!(cert = %self.cert.display(), "the certificate has changed");
                }
                Err(error) => warn!("the certificate stays as it was: {error}"),
            }
        }
    }

    /// What changes when a file does.
    async fn stamp(&self) -> [Option<(SystemTime, u64)>; 2] {
        let mut stamp = [None; 2];
        for (stamp, path) in stamp.iter_mut().zip([&self.cert, &self.key]) {
            let of = tokio::fs::metadata(path).await.ok();
            *stamp = of.and_then(|of| Some((of.modified().ok()?, of.len())));
        }
        stamp
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn load(cert: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey, Error> {
    let bad = |path: &Path, reason: String| Error { path: path.to_owned(), reason };
    let chain: Vec<_> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|e| bad(cert, e.to_string()))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|e| bad(key, e.to_string()))?;
    CertifiedKey::from_der(chain, private, provider).map_err(|e| bad(cert, e.to_string()))
}
