//! What the door's handlers share, and how it is put together.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use store::{Entitlements, Registers};
use tokio_util::sync::CancellationToken;

use crate::catalog::{Keeper, keep_stopped, seed};
use crate::entitlement::limits::CHECK_MAX_MS;
use crate::entitlement::{Cache, Checker, follow};
use crate::identity::Identity;
use crate::licence::Licences;
use crate::panic::limits::PROVISIONAL_MS;
use crate::panic::{self, Panic};
use crate::play::{Advice, Cats, Edges, Passes, Present, Word};
use crate::shed::Shed;
use crate::slots::Slots;
use crate::whereabouts::Whereabouts;
use crate::{Config, Error};

/// How often levers are read, and a part of the slots is looked through: all of them once a minute.
const LEVERS_EVERY: Duration = Duration::from_secs(1);

/// In so many of these times all who are present are looked at, also when the catalog has not changed: a million of them
/// take two seconds.
const DARK_EVERY: usize = 60;

/// Where the advice stands in the registers.
pub(crate) const ADVICE: &str = "lever/advice";

/// Everything.
pub(crate) struct Door {
    pub(crate) config: Config,
    pub(crate) identity: Identity,
    pub(crate) passes: Arc<dyn Passes>,
    pub(crate) registers: Arc<dyn Registers>,
    pub(crate) entitlements: Arc<dyn Entitlements>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) checker: Arc<Checker>,
    pub(crate) panic: Arc<Panic>,
    pub(crate) slots: Slots,
    pub(crate) licences: Arc<Licences>,
    pub(crate) shed: Shed,
    pub(crate) places: Whereabouts,
    /// Empty where nobody has a pass of their own.
    pub(crate) present: Present,
    advice: RwLock<Advice>,
    /// Who reads the levers: what was read before a change must not be taken for what stands after it.
    reading: tokio::sync::Mutex<()>,
}

/// What a door stands on.
pub(crate) struct Stores {
    pub(crate) registers: Arc<dyn Registers>,
    pub(crate) entitlements: Arc<dyn Entitlements>,
    /// The longest that a viewer waits for a check.
    pub(crate) patience: Duration,
}

impl Stores {
    /// Those of the configuration.
    pub(crate) fn open(config: &Config) -> Result<Stores, Error> {
        if let Some(folder) = config.journal.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|why| Error::Journal { file: config.journal.clone(), why })?;
        }
        Ok(Stores {
            registers: config.store.registers()?,
            entitlements: config.entitlements.entitlements()?,
            patience: Duration::from_millis(CHECK_MAX_MS as u64),
        })
    }
}

/// Who makes passes, as the configuration says. New keys are taken until `shutdown`.
fn passes(config: &Config, shutdown: &CancellationToken) -> Result<Arc<dyn Passes>, Error> {
    let Some(keys) = &config.pass_keys else { return Ok(Arc::new(Word(config.pass.clone()))) };
    let edges = Edges::start(&config.edge_admins, shutdown)?;
    let longest_s = config.pass_renewed.max((PROVISIONAL_MS / 1_000) as u32);
    let cats = Arc::new(Cats::open(keys.clone(), config.pass_life, longest_s, edges)?);
    let (watched, shutdown) = (cats.clone(), shutdown.clone());
    tokio::spawn(async move { shutdown.run_until_cancelled(watched.watch()).await });
    Ok(cats)
}

impl Door {
    /// Puts it together, and begins what goes on beside the requests, until `shutdown`.
    pub(crate) async fn open(
        config: Config,
        stores: Stores,
        identity: Identity,
        shutdown: CancellationToken,
    ) -> Result<Arc<Door>, Error> {
        let Stores { registers, entitlements, patience } = stores;
        let places = Whereabouts::open(&config.places)?;
        let panic = Arc::new(Panic::open(&config.journal)?);
        let keeper = Keeper::follow(registers.clone(), entitlements.clone(), shutdown.clone()).await?;
        seed(&keeper, &config, crate::now_ms()).await?;
        let checker =
            Checker::start(entitlements.clone(), Cache::default(), panic.clone(), patience, shutdown.clone());
        let door = Arc::new(Door {
            identity,
            passes: passes(&config, &shutdown)?,
            registers,
            entitlements,
            keeper,
            checker,
            panic,
            slots: Slots::default(),
            licences: Arc::new(Licences::open(&config.licences)?),
            shed: Shed::new(config.per_address, crate::now_ms()),
            places,
            present: Present::default(),
            advice: RwLock::default(),
            reading: tokio::sync::Mutex::new(()),
            config,
        });
        door.follow_levers().await;
        tokio::spawn(panic::run(
            door.panic.clone(),
            door.checker.clone(),
            door.keeper.clone(),
            shutdown.clone(),
        ));
        if !door.config.no_copy {
            tokio::spawn(follow(door.checker.clone(), shutdown.clone()));
        }
        let tending = door.clone();
        tokio::spawn(async move {
            let (mut n, mut seen) = (0, tending.keeper.copy());
            while !keep_stopped(&shutdown, LEVERS_EVERY).await {
                tending.follow_levers().await;
                tending.slots.sweep(n, crate::now_ms());
                tending.present.sweep(n, crate::now_ms());
                n += 1;
                let copy = tending.keeper.copy();
                // What was planned when they were already there begins without a change.
                if !Arc::ptr_eq(&copy, &seen) || n.is_multiple_of(DARK_EVERY) {
                    seen = copy;
                    tending.cut_dark().await;
                }
            }
        });
        Ok(door)
    }

    /// Ends those who may not see their match any more where they are.
    async fn cut_dark(self: &Arc<Door>) {
        let door = self.clone();
        let look = move || door.present.take_dark(&door.keeper.copy(), &door.places, crate::now_ms());
        let dark = tokio::task::spawn_blocking(look).await.unwrap_or_default();
        if !dark.is_empty() {
            tracing::info!(sessions = dark.len(), "it has gone dark where they are");
        }
        dark.iter().for_each(|session| self.passes.revoke(session));
    }

    /// Reads what operators have set. What cannot be read stays as it is.
    pub(crate) async fn follow_levers(&self) {
        let _one_at_a_time = self.reading.lock().await;
        if let Err(error) = self.panic.follow(&*self.registers).await {
            tracing::warn!(%error, "the levers are not fresh");
            return;
        }
        match self.registers.get(ADVICE).await {
            Ok(register) => {
                let advice = register.map(|r| serde_json::from_str(&r.value)).transpose();
                match advice {
                    Ok(advice) => {
                        *self.advice.write().unwrap_or_else(PoisonError::into_inner) =
                            advice.unwrap_or_default();
                    }
                    Err(error) => tracing::error!(%error, "the advice cannot be read"),
                }
            }
            Err(error) => tracing::warn!(%error, "the levers are not fresh"),
        }
    }

    /// What operators advise when nothing is the matter.
    pub(crate) fn calm_advice(&self) -> Advice {
        self.advice.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What clients are advised to do now.
    pub(crate) fn advice(&self) -> Advice {
        self.calm_advice().under(self.shed.pressure().value())
    }
}
