//! `bench arrival`: the door. What a pass costs at the edge; what a play costs, a login, a page; and what becomes of a door
//! before which everybody stands at once.

pub(crate) mod load;
mod login;
pub(crate) mod naive;
mod overload;
mod play;
mod rig;
mod spikes;
mod storm;
mod tap;
mod viewers;

use std::path::Path;

use crate::air::Picture;
use crate::edge::passes;
use crate::figure::Figure;
use crate::machine;
use crate::nursery::Nursery;
use crate::taken::Taken;
use rig::Rig;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Config {
    /// A smoke run: everything, but short and with fewer clients.
    #[arg(long)]
    quick: bool,
    /// Only these figures; repeat, or separate with commas.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids())]
    only: Vec<String>,
    #[command(flatten)]
    picture: Picture,
}

/// The figures, in the order in which they are measured.
const IDS: [&str; 16] = [
    passes::IDS[0],
    passes::IDS[1],
    play::SQLITE[0],
    play::SQLITE[1],
    play::POSTGRES[0],
    play::POSTGRES[1],
    login::ID,
    spikes::IDS[0],
    spikes::IDS[1],
    overload::IDS[0],
    overload::IDS[1],
    overload::IDS[2],
    storm::IDS[0],
    storm::IDS[1],
    storm::IDS[2],
    tap::ID,
];

fn ids() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(IDS)
}

/// How many and how long; seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// Pairs of the edge's hits, and one of them.
    pairs: usize,
    pair_s: u64,
    /// Before anything of a door counts.
    warm_s: f64,
    play_s: f64,
    login_s: f64,
    spike_s: f64,
    /// Before and after the overload, and itself.
    calm_s: f64,
    overload_s: f64,
    /// Taps, within which time, and when it is over. Three processes share the clients, and every other one is known.
    storm_clients: usize,
    storm_s: f64,
    storm_until_s: f64,
    /// In the browser.
    taps: usize,
}

impl Plan {
    const FULL: Plan = Plan {
        quick: false,
        pairs: 7,
        pair_s: 3,
        warm_s: 10.0,
        play_s: 20.0,
        login_s: 10.0,
        spike_s: 10.0,
        calm_s: 10.0,
        overload_s: 60.0,
        storm_clients: 50_004,
        storm_s: 60.0,
        storm_until_s: 90.0,
        taps: 40,
    };
    /// The storm comes at the same pace.
    const QUICK: Plan = Plan {
        quick: true,
        pairs: 2,
        pair_s: 1,
        warm_s: 6.0,
        play_s: 4.0,
        login_s: 4.0,
        spike_s: 2.0,
        calm_s: 5.0,
        overload_s: 8.0,
        storm_clients: 16_668,
        storm_s: 20.0,
        storm_until_s: 35.0,
        taps: 8,
    };
}

/// Measures all that is asked for, one after the other; answers whether all of it could be measured.
pub(crate) async fn run(config: &Config, root: &Path, nursery: &Nursery, figures: &mut Vec<Figure>) -> bool {
    let plan = if config.quick { Plan::QUICK } else { Plan::FULL };
    println!("On {}{}", machine::machine(), if config.quick { "; a quick run" } else { "" });
    match machine::load() {
        Some(load) if load > 0.5 => {
            println!("Others keep this machine busy (load {load}): the figures say less.\n")
        }
        _ => println!(),
    }
    let mut bench = Bench { config, taken: Taken::new(&config.only, figures) };
    match Rig::new(nursery, root) {
        Ok(rig) => bench.all(&rig, &plan).await,
        Err(error) => bench.taken.fail("anything", &error),
    }
    !bench.taken.failed
}

struct Bench<'a> {
    config: &'a Config,
    taken: Taken<'a>,
}

impl Bench<'_> {
    async fn all(&mut self, rig: &Rig<'_>, plan: &Plan) {
        if self.taken.wants(&passes::IDS) {
            let measured = passes::measure(rig.nursery, rig.root, plan.pairs, plan.pair_s).await;
            self.taken.take("passes at the edge", measured);
            rig.nursery.empty().await;
        }
        for (ids, store, manner) in
            [(play::SQLITE, "SQLite", play::MANNER), (play::POSTGRES, "PostgreSQL", play::ON_POSTGRES)]
        {
            if self.taken.wants(&ids) {
                let measured = play::measure(rig, plan, ids, (store, manner)).await;
                self.taken.take("play", measured);
                rig.nursery.empty().await;
            }
        }
        if self.taken.wants(&[login::ID]) {
            let measured = login::measure(rig, plan).await;
            self.taken.take("logging in", measured);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&spikes::IDS) {
            let measured = spikes::measure(rig, plan).await;
            self.taken.take("spikes", measured);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&overload::IDS) {
            let measured = overload::measure(rig, plan).await;
            self.taken.take("overload", measured);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&storm::IDS) {
            let measured = storm::measure(rig, plan).await;
            self.taken.take("the storm", measured);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&[tap::ID]) {
            let measured = tap::measure(rig, &self.config.picture, plan).await;
            self.taken.take("a tap in the browser", measured);
        }
    }
}
