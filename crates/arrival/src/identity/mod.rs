//! Who somebody is: devices, accounts, sessions, and the tokens by which everybody else believes it.
//!
//! A **device** without an account is a name and a proof of it; nothing is kept of it. An **account** is kept in
//! [`store::Accounts`] and comes by e-mail and password, or by an OpenID Connect provider. A **session** is an account
//! on a device: a family of refresh tokens that rotate. All of them get access tokens (JWT) of a quarter of an hour,
//! which edges check alone against a key set that is published ahead, and pinned for a day.
//!
//! When accounts cannot be reached, whoever signs in or refreshes gets a *provisional* token, which names the device
//! and nobody; everything else fails politely.

mod api;
mod clock;
mod config;
mod http;
mod keys;
mod limits;
mod mail;
mod oidc;
mod password;
mod problem;
mod rate;
mod secret;
mod session;
mod verified;
mod viewer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pass::{Claims, Signer};
use store::{Accounts, Session};
use tokio_util::sync::CancellationToken;

use self::keys::{Keys, Ring};
use self::limits::{KEYS_EVERY_S, SWEEP_EVERY_S, SWEEP_MAX, TOKEN_LIFE_S};
use self::mail::Spool;
use self::oidc::Relying;
use self::password::Pool;
use self::rate::Rates;
use self::secret::Secret;
use self::verified::Verified;

pub(crate) use self::api::router;
pub use self::clock::Clock;
pub use self::config::{Algorithm, Config, Provider};
pub use self::problem::Problem;
pub use self::viewer::Viewer;

/// Why identity cannot begin, or cannot go on with something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store of accounts failed, or has too much to do.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A file of the folder of keys.
    #[error("{}: {}; the keys are in this folder, which must be ours", .0.display(), .1)]
    Key(PathBuf, std::io::Error),
    /// A key that cannot sign, or a set that cannot be read.
    #[error("a key cannot be used: {0}")]
    Signing(#[from] pass::Error),
    /// The folder has no key, though one was made.
    #[error("the folder of keys has none")]
    NoKey,
    /// The system has no randomness.
    #[error("the system gives no random bytes")]
    Random,
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A mail could not be left.
    #[error("{}: {}; mails wait in this folder", .0.display(), .1)]
    Mail(PathBuf, std::io::Error),
    /// A public URL that cannot be read.
    #[error("'{0}' is no URL to reach us by; write https://tv.example, without a path")]
    PublicUrl(String),
    /// An algorithm that is not known.
    #[error("'{0}' is not known; write rs256 or eddsa")]
    Algorithm(String),
    /// A provider that cannot be read.
    #[error(
        "'{0}' is no provider; write name=https://issuer.example,client-id or with ,file-of-the-secret behind it"
    )]
    Provider(String),
    /// The file of a provider's secret.
    #[error("{}: {}; it should hold our secret at an identity provider", .0.display(), .1)]
    ProviderSecret(PathBuf, std::io::Error),
}

/// Everything that knows who somebody is. Clones share it.
#[derive(Clone)]
pub struct Identity(Arc<Inner>);

struct Inner {
    config: Config,
    clock: Clock,
    ring: Ring,
    secret: Secret,
    accounts: Arc<dyn Accounts>,
    passwords: Pool,
    rates: Rates,
    verified: Verified,
    spool: Spool,
    providers: Vec<Relying>,
}

impl Identity {
    /// Opens what the configuration names, and makes what is missing. Slow the first time: a key must be found.
    ///
    /// # Errors
    ///
    /// What cannot be opened or made.
    pub fn open(config: Config) -> Result<Identity, Error> {
        let accounts = config.accounts.accounts()?;
        Identity::with(config, accounts, clock::system())
    }

    /// The same on another store and another clock.
    ///
    /// # Errors
    ///
    /// What cannot be opened or made.
    pub fn with(config: Config, accounts: Arc<dyn Accounts>, clock: Clock) -> Result<Identity, Error> {
        let ring = Ring::open(&config.keys, config.token_algorithm, clock.clone())?;
        let threads = match config.hash_threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        let providers = config.oidc.iter().map(Relying::new).collect::<Result<_, _>>()?;
        Ok(Identity(Arc::new(Inner {
            secret: ring.secret()?,
            verified: Verified::new(ring.keys().set.clone()),
            ring,
            accounts,
            passwords: Pool::start(threads)?,
            rates: Rates::new(),
            spool: Spool::open(&config.mail)?,
            providers,
            clock,
            config,
        })))
    }

    /// Keeps the keys and the store in order until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut keys = tokio::time::interval(Duration::from_secs(KEYS_EVERY_S));
        let mut sweep = tokio::time::interval(Duration::from_secs(SWEEP_EVERY_S));
        loop {
            tokio::select! {
                () = shutdown.cancelled() => return,
                _ = keys.tick() => {
                    let this = self.clone();
                    let looked = tokio::task::spawn_blocking(move || this.look_after_keys()).await;
                    if let Ok(Err(error)) = looked {
                        tracing::error!(%error, "the keys could not be looked after; they stay as they are");
                    }
                }
                _ = sweep.tick() => match self.accounts().sweep(self.now_ms(), SWEEP_MAX).await {
                    // More is left: at once again.
                    Ok(gone) if gone >= SWEEP_MAX => sweep.reset_immediately(),
                    Ok(_) => {}
                    Err(error) => tracing::warn!(%error, "old sessions could not be swept"),
                },
            }
        }
    }

    /// One look after the keys, as [`Identity::run`] has them looked after. It blocks.
    ///
    /// # Errors
    ///
    /// What could not be done; the keys stay as they are.
    pub fn look_after_keys(&self) -> Result<(), Error> {
        self.0.ring.look()
    }

    /// Hashes of passwords that were made so far: what the dear part of signing in costs.
    pub fn hashes(&self) -> u64 {
        self.0.passwords.done()
    }

    /// What a token says, if it is one of ours and holds now.
    ///
    /// # Errors
    ///
    /// Why it is not taken.
    pub fn verify(&self, token: &str) -> Result<Arc<Claims>, pass::Error> {
        self.0.verified.check(&self.keys().set, token, self.now_ms() / 1_000)
    }

    /// A token for the score plane that says what a viewer's own does, and where they are.
    ///
    /// # Errors
    ///
    /// No token can be made.
    pub fn token_for(&self, viewer: &Viewer, country: Option<&str>) -> Result<String, Error> {
        let mut claims = self.of_device(&viewer.device, viewer.provisional);
        if let Some(account) = &viewer.account {
            claims.sub.clone_from(account);
        }
        claims.prf.clone_from(&viewer.profile);
        claims.country = country.map(str::to_owned);
        self.sign_with(self.keys().quick(), claims)
    }

    /// Signs what is given. For how long a token is good is not the caller's.
    fn sign(&self, claims: Claims) -> Result<String, Error> {
        self.sign_with(self.keys().signer(), claims)
    }

    fn sign_with(&self, signer: &Signer, claims: Claims) -> Result<String, Error> {
        let iss = self.0.config.public_url.clone().unwrap_or_else(|| "pavilion".to_owned());
        let exp = self.now_ms() / 1_000 + TOKEN_LIFE_S;
        Ok(signer.sign(&Claims { iss: Some(iss), exp, ..claims })?)
    }

    fn of_device(&self, device: &str, provisional: bool) -> Claims {
        Claims {
            sub: format!("device:{device}"),
            dev: Some(device.to_owned()),
            prv: provisional,
            ..Claims::default()
        }
    }

    fn of_session(&self, session: &Session) -> Claims {
        Claims {
            sub: session.account.clone(),
            sid: Some(session.id.clone()),
            dev: Some(session.device.clone()),
            prf: session.profile.clone(),
            ..Claims::default()
        }
    }

    /// Viewers come by TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.config().is_secure()
    }

    fn config(&self) -> &Config {
        &self.0.config
    }

    fn accounts(&self) -> &dyn Accounts {
        &*self.0.accounts
    }

    fn keys(&self) -> Arc<Keys> {
        self.0.ring.keys()
    }

    fn now_ms(&self) -> i64 {
        (self.0.clock)()
    }
}

#[cfg(test)]
mod tests;

/// An identity in a folder, for tests of those who need one.
#[cfg(test)]
pub(crate) fn for_tests(folder: &std::path::Path, public_url: Option<&str>) -> Identity {
    tests::identity(folder, |config| config.public_url = public_url.map(str::to_owned)).0
}
