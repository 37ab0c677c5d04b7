//! Encryption of parts: which key is whose turn, and what the origin is told of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use cmaf::encrypt::{self, Defaults, Encryptor, Protected};
use cmaf::{Sample, writer};
use drm::schedule::Length;
use drm::{Class, Local, Provider, Schedule, Scheme, Scope, pssh};
use serde::{Deserialize, Serialize};
use timeline::name::{InitId, ProgrammePath};
use timeline::protection::{Next, Protection};
use timeline::{Grid, Utc};

use tokio::task::JoinSet;

use crate::speke::Speke;
use crate::{Error, package};

/// Settings of encryption; the same for both pipelines.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[group(skip)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Encrypt what is published: cbcs for all of today's devices, cenc for older ones.
    #[arg(long, value_enum, default_value_t = Mode::None)]
    pub drm: Mode,
    /// File with the master secret that keys are derived from; openssl rand -hex 32 writes one.
    #[arg(long, value_name = "FILE")]
    pub drm_secret: Option<PathBuf>,
    /// A key server that speaks SPEKE v2, instead of a file.
    #[arg(long, value_name = "URL", conflicts_with = "drm_secret")]
    pub drm_speke: Option<String>,
    /// A new key after so many segments (150) or seconds (300s, rounded up to whole segments); 0 is never.
    #[arg(long, value_name = "LENGTH", default_value = "0")]
    pub drm_period: String,
    /// Segments (or seconds, with s) since the epoch that stay in the clear.
    #[arg(long, value_name = "LENGTH", default_value = "0")]
    pub drm_clear_lead: String,
}

/// Whether and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// In the clear.
    #[default]
    None,
    /// AES-CBC, one block of ten.
    Cbcs,
    /// AES-CTR.
    Cenc,
}

impl Config {
    /// The same as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let mode = match self.drm {
            Mode::None => return Vec::new(),
            Mode::Cbcs => "cbcs",
            Mode::Cenc => "cenc",
        };
        let mut words = vec!["--drm", mode, "--drm-period", &self.drm_period];
        words.extend(["--drm-clear-lead", &self.drm_clear_lead]);
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if let Some(file) = &self.drm_secret {
            words.extend(["--drm-secret".to_owned(), file.display().to_string()]);
        }
        if let Some(url) = &self.drm_speke {
            words.extend(["--drm-speke".to_owned(), url.clone()]);
        }
        words
    }

    /// Whether anything is encrypted.
    pub fn is_on(&self) -> bool {
        self.drm != Mode::None
    }

    /// Whether keys are needed and nothing says where from.
    pub fn needs_secret(&self) -> bool {
        self.drm != Mode::None && self.drm_secret.is_none() && self.drm_speke.is_none()
    }

    /// Refuses what contradicts itself, and what is no length, secret or URL.
    ///
    /// # Errors
    /// With a sentence that says what to write.
    pub fn check(&self) -> Result<(), Error> {
        let token = || "check".parse().map_err(Error::Timeline);
        self.open(&ProgrammePath { r#match: token()?, run: token()?, programme: token()? }).map(|_| ())
    }

    /// Reads the secret. Nothing when all stays in the clear.
    pub(crate) fn open(&self, path: &ProgrammePath) -> Result<Option<Drm>, Error> {
        let length = |text: &str| text.parse::<Length>().map_err(|e| Error::Drm(e.to_string()));
        let (period, clear) = (length(&self.drm_period)?, length(&self.drm_clear_lead)?);
        let scheme = match self.drm {
            Mode::None => return Ok(None),
            Mode::Cbcs => Scheme::Cbcs,
            Mode::Cenc => Scheme::Cenc,
        };
        let scope = Scope { r#match: path.r#match.clone(), programme: path.programme.clone() };
        if let Some(url) = &self.drm_speke {
            let server = Speke::new(url, scope, scheme)?;
            let keys = server.held();
            return Ok(Some(Drm { scheme, period, clear, keys, server: Some(Arc::new(server)) }));
        }
        let Some(file) = &self.drm_secret else {
            let why = "--drm needs keys: name a file with a master secret by --drm-secret, or a server by --drm-speke";
            return Err(Error::Drm(why.into()));
        };
        let master =
            std::fs::read_to_string(file).map_err(|e| Error::Drm(format!("{}: {e}", file.display())))?;
        let local = Local::new(&master, scope).map_err(|e| Error::Drm(format!("{}: {e}", file.display())))?;
        Ok(Some(Drm { scheme, period, clear, keys: Arc::new(local), server: None }))
    }
}

/// Makes a master secret where there is none, for nobody else to read.
///
/// # Errors
/// When the file cannot be made.
pub fn make_secret(file: &Path) -> std::io::Result<()> {
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::fs::OpenOptionsExt;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    match made {
        Ok(mut file) => {
            let mut random = [0; 32];
            std::fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
            random.iter().try_for_each(|byte| write!(file, "{byte:02x}"))
        }
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(e),
    }
}

/// How a programme is encrypted.
#[derive(Clone)]
pub struct Drm {
    scheme: Scheme,
    period: Length,
    clear: Length,
    keys: Arc<dyn Provider>,
    server: Option<Arc<Speke>>,
}

impl Drm {
    /// With keys from somewhere else than a file.
    pub fn new(scheme: Scheme, period: Length, clear: Length, keys: Arc<dyn Provider>) -> Drm {
        Drm { scheme, period, clear, keys, server: None }
    }

    /// Has the keys that are needed now, and goes on having them, in a task of `tasks`.
    ///
    /// # Errors
    /// When a key server does not give the first ones.
    pub(crate) async fn start(&self, grid: Grid, epoch: Utc, tasks: &mut JoinSet<()>) -> Result<(), Error> {
        let Some(server) = self.server.clone() else { return Ok(()) };
        let schedule = self.schedule(&grid);
        server.begin(grid, epoch, schedule).await?;
        tasks.spawn(async move { server.keep(grid, epoch, schedule).await });
        Ok(())
    }

    /// Which segment has which key.
    pub fn schedule(&self, grid: &Grid) -> Schedule {
        Schedule::new(self.clear, self.period, grid)
    }

    /// For a track: its encryption and its init segment.
    ///
    /// # Errors
    /// When the track cannot be encrypted, or there is no key.
    pub fn track(
        &self,
        track: &cmaf::Track,
        class: Class,
        grid: &Grid,
    ) -> Result<(Protect, (InitId, Bytes)), package::Error> {
        let schedule = self.schedule(grid);
        // With keys that rotate the init segment names none, so that it is the same whenever a pipeline starts.
        let key = match schedule.period {
            Some(_) => None,
            None => Some(self.keys.key(class, 0)?),
        };
        let defaults = Defaults { scheme: self.scheme, key: key.map(|key| (key.kid, key.iv)) };
        let bytes = writer::protected_init(track, &defaults)?;
        let init = writer::init_id(&bytes);
        let encryptor = Encryptor::new(track, self.scheme)?;
        let (keys, video) = (self.keys.clone(), track.is_video());
        Ok((Protect { encryptor, schedule, keys, class, video, init }, (init, bytes)))
    }
}

impl fmt::Debug for Drm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drm").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// The encryption of one track.
pub struct Protect {
    encryptor: Encryptor,
    schedule: Schedule,
    keys: Arc<dyn Provider>,
    class: Class,
    video: bool,
    init: InitId,
}

impl Protect {
    /// Whether some segments stay in the clear.
    pub fn clears(&self) -> bool {
        self.schedule.clear > 0
    }

    /// An encrypted chunk, its init segment, and what is said of its key; nothing while the segment is to be in the
    /// clear. `time` is the decode time of the first sample.
    pub(crate) fn chunk(
        &self,
        lead: writer::Lead,
        sequence: u32,
        time: u64,
        msn: u64,
        samples: &[Sample],
    ) -> Result<Option<(Bytes, InitId, Protection)>, package::Error> {
        let Some(period) = self.schedule.period(msn) else { return Ok(None) };
        let key = self.keys.key(self.class, period)?;
        let scheme = self.encryptor.scheme();
        // A key that a key server has not said yet is the present one once more: nothing to announce.
        let next = self.schedule.announced(msn).and_then(|next| {
            let kid = self.keys.key(self.class, next).ok()?.kid;
            (kid != key.kid).then_some(Next { kid, msn: self.schedule.begins(next) })
        });
        let checksum = (scheme == Scheme::Cenc).then(|| key.checksum());
        let protection = Protection { scheme, kid: key.kid, checksum, next };
        let with = encrypt::Key { kid: key.kid, key: &key.secret.0, iv: key.iv };
        let mut at = time;
        let (mut encrypted, mut said) =
            (Vec::with_capacity(samples.len()), Vec::with_capacity(samples.len()));
        for sample in samples {
            let (sample, auxiliary) = self.encryptor.encrypt(&with, at, sample.clone())?;
            at += u64::from(sample.duration);
            encrypted.push(sample);
            said.push(auxiliary);
        }
        // Once a segment, for players that take their keys from the media.
        let pssh = if lead == writer::Lead::Segment { pssh::in_chunk(&protection) } else { Vec::new() };
        let named = self.schedule.period.map(|_| (key.kid, key.iv));
        let protected = Protected { scheme, key: named, samples: &said, pssh: &pssh };
        let bytes = writer::protected_chunk(lead, sequence, time, &encrypted, self.video, &protected)?;
        Ok(Some((bytes, self.init, protection)))
    }
}
