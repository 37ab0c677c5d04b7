//! `bench edge`: Pavilion's edge, a responder that does the least, and the four caches that engineers know, on one
//! machine, before one origin.

pub(crate) mod bare;
mod client;
mod cold;
mod drip;
mod expired;
mod hits;
mod idle;
mod late;
mod origin;
pub(crate) mod passes;
mod product;
mod rig;
mod storm;
mod suite;
mod table;
mod uncacheable;
mod wrk;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::figure::Figure;
use crate::nursery::Nursery;
use crate::taken::Taken;
use crate::{installed, machine};
use product::Product;
use rig::{Manner, Rig};

/// What to measure, and beside what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Config {
    /// A smoke run: everything, but short.
    #[arg(long)]
    quick: bool,
    /// Only these figures; repeat, or separate with commas.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids())]
    only: Vec<String>,
    /// Only Pavilion and the bare responder.
    #[arg(long)]
    alone: bool,
    /// Run http-cache-tests against peers too: minutes for each.
    #[arg(long)]
    peers_cache_tests: bool,
    /// A checkout of http-cache-tests, to be run instead of the npm package, which is older.
    #[arg(long, value_name = "DIR")]
    cache_tests: Option<PathBuf>,
}

/// The figures, in the order in which they are measured.
const IDS: [&str; 16] = [
    hits::PLAIN[0],
    hits::PLAIN[1],
    hits::TLS[0],
    hits::TLS[1],
    cold::SMALL[0],
    cold::SMALL[1],
    cold::LARGE,
    uncacheable::IDS[0],
    uncacheable::IDS[1],
    drip::JOIN,
    drip::LEAVES,
    expired::ID,
    late::ID,
    idle::ID,
    storm::ID,
    suite::ID,
];

fn ids() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(IDS)
}

/// How often and how long things are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// Of every product, in turn, for each cost of a hit.
    hit_rounds: usize,
    /// One of them.
    hit: Duration,
    /// Of what takes below a second.
    rounds: u32,
    /// Of what takes some seconds.
    slow_rounds: u32,
    /// Connections that are open and idle.
    idle_conns: usize,
    /// Segments that everybody comes for.
    storm_rounds: u32,
}

impl Plan {
    fn new(quick: bool) -> Plan {
        let s = Duration::from_secs;
        if quick {
            Plan {
                quick,
                hit_rounds: 1,
                hit: s(1),
                rounds: 2,
                slow_rounds: 1,
                idle_conns: 1_000,
                storm_rounds: 1,
            }
        } else {
            Plan {
                quick,
                hit_rounds: 7,
                hit: s(3),
                rounds: 10,
                slow_rounds: 5,
                idle_conns: 2_000,
                storm_rounds: 5,
            }
        }
    }
}

/// Measures all that is asked for, one after the other; answers whether all of it could be measured.
pub(crate) async fn run(config: &Config, root: &Path, nursery: &Nursery, figures: &mut Vec<Figure>) -> bool {
    let plan = Plan::new(config.quick);
    println!("On {}{}", machine::machine(), if plan.quick { "; a quick run" } else { "" });
    let mut bench = Bench { config, taken: Taken::new(&config.only, figures), plan };
    let products = bench.products().await;
    match machine::load() {
        Some(load) if load > 0.5 => {
            println!("Others keep this machine busy (load {load}): the figures say less.\n")
        }
        _ => println!(),
    }
    match Rig::new(nursery, root, products).await {
        Ok(rig) => bench.all(&rig).await,
        Err(error) => bench.taken.fail("an origin and a certificate", &error),
    }
    !bench.taken.failed
}

struct Bench<'a> {
    config: &'a Config,
    taken: Taken<'a>,
    plan: Plan,
}

impl Bench<'_> {
    /// Pavilion, and the peers that are installed; says which.
    async fn products(&self) -> Vec<Product> {
        let mut products = vec![Product::Pavilion];
        let mut said = Vec::new();
        for peer in Product::PEERS.into_iter().filter(|_| !self.config.alone) {
            if peer.program().is_none() {
                println!(
                    "{} is not installed, so it is no peer; scripts/setup.sh edge installs it",
                    peer.name()
                );
                continue;
            }
            let version = installed::version(peer.package()).await.unwrap_or_else(|| "of no package".into());
            said.push(format!("{} {version}", peer.name()));
            products.push(peer);
        }
        if !said.is_empty() {
            println!("Peers: {}", said.join(", "));
        }
        products
    }

    async fn all(&mut self, rig: &Rig<'_>) {
        let plan = self.plan;
        for (ids, tls) in [(hits::PLAIN, false), (hits::TLS, true)] {
            if self.taken.wants(&ids) {
                let costs = hits::measure(rig, &plan, tls).await;
                self.taken.take("the cost of hits", costs);
                rig.nursery.empty().await;
            }
        }
        let crowds = [
            cold::SMALL[0],
            cold::SMALL[1],
            cold::LARGE,
            uncacheable::IDS[0],
            uncacheable::IDS[1],
            drip::JOIN,
        ];
        if self.taken.wants(&crowds) || self.taken.wants(&[drip::LEAVES, expired::ID, late::ID]) {
            self.crowds(rig).await;
            rig.nursery.empty().await;
        }
        if self.taken.wants(&[idle::ID]) {
            let idle = idle::measure(rig, &plan).await;
            self.taken.take("idle connections", idle);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&[storm::ID]) {
            let storm = storm::measure(rig, &plan).await;
            self.taken.take("the storm", storm);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&[suite::ID]) {
            let with_peers = self.config.peers_cache_tests && !self.config.alone;
            let suite = suite::measure(rig, self.config.cache_tests.as_deref(), with_peers).await;
            self.taken.take("http-cache-tests", suite);
        }
    }

    /// What a few clients see, of all products in turn.
    async fn crowds(&mut self, rig: &Rig<'_>) {
        let plan = self.plan;
        let served = match rig.serve_all(Manner::default()).await {
            Ok(served) => served,
            Err(error) => return self.taken.fail("what clients see", &error),
        };
        if self.taken.wants(&cold::SMALL) {
            let figures = cold::small(rig, &served, &plan).await;
            self.taken.take("cold requests", Ok(figures));
        }
        if self.taken.wants(&[cold::LARGE]) {
            let figures = cold::large(rig, &served, &plan).await;
            self.taken.take("cold requests", Ok(figures));
        }
        if self.taken.wants(&uncacheable::IDS) {
            let figures = uncacheable::measure(rig, &served, &plan).await;
            self.taken.take("uncacheable answers", Ok(figures));
        }
        if self.taken.wants(&[drip::JOIN]) {
            let figures = drip::join(rig, &served, &plan).await;
            self.taken.take("the drip", Ok(figures));
        }
        if self.taken.wants(&[drip::LEAVES]) {
            let figures = drip::leaves(rig, &served, &plan).await;
            self.taken.take("the drip", Ok(figures));
        }
        if self.taken.wants(&[expired::ID]) {
            let figures = expired::measure(rig, &served, &plan).await;
            self.taken.take("expired objects", Ok(figures));
        }
        if self.taken.wants(&[late::ID]) {
            let figures = late::measure(rig, &served, &plan).await;
            self.taken.take("late objects", Ok(figures));
        }
    }
}
