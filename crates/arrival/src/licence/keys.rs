//! Which keys a viewer is given.

use drm::licence::{Now, Policy, Refusal, Security, grant};
use drm::schedule::Length;
use drm::{Class, Key, Kid, Local, Schedule, Scope};
use http::Uri;
use timeline::name::ProgrammePath;
use timeline::{Grid, Utc};

use super::limits::{CLOCK_OFF_SEGMENTS, LICENCE_S};
use super::proxy::Servers;
use super::session::best;
use super::{Config, System};
use crate::Error;
use crate::play::Admitted;

/// What licences are made with.
pub(crate) struct Licences {
    master: Option<String>,
    clear: Length,
    period: Length,
    window_s: u64,
    software: Class,
    pub(super) servers: Servers,
}

/// One programme of an encrypted match, at an instant.
pub(super) struct On<'a> {
    pub(super) path: &'a ProgrammePath,
    pub(super) epoch: Utc,
    pub(super) grid: Grid,
    pub(super) utc: Utc,
}

impl Licences {
    /// Reads the secret.
    ///
    /// # Errors
    ///
    /// [`Error::Licences`]: a secret, a length or a URL that is none.
    pub(crate) fn open(config: &Config) -> Result<Licences, Error> {
        let bad = |why: String| Error::Licences(why);
        let (clear, period) = config.lengths()?;
        let master = config.licence_secret.as_ref().map(|file| {
            std::fs::read_to_string(file).map_err(|error| bad(format!("{}: {error}", file.display())))
        });
        let licences = Licences {
            master: master.transpose()?,
            clear,
            period,
            window_s: config.licence_window_s,
            software: config.licence_software.into(),
            servers: Servers::open(config)?,
        };
        if licences.master.is_some() {
            let token = || "check".parse().map_err(|_| bad(String::new()));
            licences.local(&ProgrammePath { r#match: token()?, run: token()?, programme: token()? })?;
        }
        Ok(licences)
    }

    /// The systems whose licences can be had here.
    pub(crate) fn systems(&self) -> impl Iterator<Item = System> {
        System::ALL.into_iter().filter(|system| match system {
            System::ClearKey => self.master.is_some(),
            other => self.server(*other).is_some(),
        })
    }

    pub(super) fn server(&self, system: System) -> Option<&Uri> {
        self.servers.of(system)
    }

    /// Lines of the best picture for which ClearKey players get keys; none: all.
    pub(crate) fn software_height_max(&self) -> Option<u16> {
        (self.software < Class::Hd).then_some(719)
    }

    /// What whoever has this pass may have. `until_ms`: when the right to show it ends.
    pub(super) fn policy(&self, admitted: &Admitted, until_ms: Option<i64>, now_ms: i64) -> Policy {
        let own_s = now_ms / 1_000 + LICENCE_S;
        let own_s = if admitted.renewed { own_s } else { own_s.min(admitted.until_s) };
        let ends_us = until_ms.map_or(i64::MAX, |ms| ms.saturating_mul(1_000));
        Policy {
            plan: best(admitted.session.as_deref()),
            software: self.software,
            expires_us: own_s.saturating_mul(1_000_000).min(ends_us),
        }
    }

    /// The keys that are given of those that are asked for, and those of the same periods that the viewer will need beside
    /// them: the sound's with the picture's, another size's when the network changes. One request is enough for a period.
    pub(super) fn grant(&self, on: &On<'_>, policy: &Policy, kids: &[Kid]) -> Result<Vec<Key>, Refusal> {
        let Ok(local) = self.local(on.path) else { return Err(Refusal::Unknown) };
        let schedule = Schedule::new(self.clear, self.period, &on.grid);
        let segment_s = on.grid.segment().seconds();
        let edge_msn = on.grid.position(on.utc.since(on.epoch)).map_or(0, |at| at.msn + CLOCK_OFF_SEGMENTS);
        let first_msn = edge_msn.saturating_sub((self.window_s as f64 / segment_s).ceil() as u64);
        let now = Now { utc: on.utc, first_msn, edge_msn };
        let scope = scope(on.path);
        let periods = schedule.needed(first_msn, edge_msn);
        let mut all = Vec::new();
        for kid in kids {
            let Some(period) = local.period_of(*kid, periods.clone()) else { continue };
            all.extend(Class::ALL.map(|class| scope.kid(class, period)));
        }
        all.sort_unstable();
        all.dedup();
        // Whoever asks for what they may not have is told so, also if they may have something else.
        grant(&local, &schedule, now, policy, Security::Software, kids)?;
        grant(&local, &schedule, now, policy, Security::Software, &all)
    }

    fn local(&self, path: &ProgrammePath) -> Result<Local, Error> {
        let bad = |why: String| Error::Licences(why);
        let master = self.master.as_deref().ok_or_else(|| bad("there is no secret".into()))?;
        Local::new(master, scope(path)).map_err(|error| bad(error.to_string()))
    }
}

fn scope(path: &ProgrammePath) -> Scope {
    Scope { r#match: path.r#match.clone(), programme: path.programme.clone() }
}
