//! `bench scores`: Pavilion's socket edge, a loop that only writes, and the servers of sockets that engineers know, on
//! one machine: what a delivery costs, what an idle socket costs, how late the last one is, how many fit.

pub(crate) mod audience;
pub(crate) mod bare;
mod crowd;
mod fanout;
mod held;
mod idle;
mod ingest;
mod pavilion;
mod payload;
mod product;
mod publish;
mod rig;

use std::path::Path;

use crate::figure::Figure;
use crate::machine;
use crate::nursery::Nursery;
use crate::taken::Taken;
use product::Peer;
use rig::Rig;

/// What to measure, and beside what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Config {
    /// A smoke run: everything, but short and with fewer sockets.
    #[arg(long)]
    quick: bool,
    /// Only these figures; repeat, or separate with commas.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids())]
    only: Vec<String>,
    /// Only Pavilion and the bare loop.
    #[arg(long)]
    alone: bool,
}

/// The figures, in the order in which they are measured.
const IDS: [&str; 6] =
    [fanout::DELIVERIES, fanout::FANOUT, idle::ID, ingest::PLAIN, ingest::COALESCED, held::ID];

fn ids() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(IDS)
}

/// How many, how often and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Of the fan-out, and of ingest to flush.
    sockets: usize,
    /// Of every product, in turn.
    rounds: usize,
    /// In a round.
    messages: usize,
    /// That are open and idle.
    idle: usize,
    /// Seconds of play of all matches.
    play_s: u64,
    /// Held at once, and by how many servers and as many processes of clients.
    held: usize,
    servers: usize,
}

impl Plan {
    const FULL: Plan = Plan {
        sockets: 18_000,
        rounds: 6,
        messages: 20,
        idle: 10_000,
        play_s: 30,
        held: 204_000,
        servers: 12,
    };
    const QUICK: Plan =
        Plan { sockets: 3_000, rounds: 2, messages: 6, idle: 3_000, play_s: 6, held: 12_000, servers: 3 };
}

/// Measures all that is asked for, one after the other; answers whether all of it could be measured.
pub(crate) async fn run(config: &Config, root: &Path, nursery: &Nursery, figures: &mut Vec<Figure>) -> bool {
    let plan = if config.quick { Plan::QUICK } else { Plan::FULL };
    println!("On {}{}", machine::machine(), if config.quick { "; a quick run" } else { "" });
    let peers = peers(config, root).await;
    match machine::load() {
        Some(load) if load > 0.5 => {
            println!("Others keep this machine busy (load {load}): the figures say less.\n")
        }
        _ => println!(),
    }
    let mut bench = Bench { taken: Taken::new(&config.only, figures) };
    match Rig::new(nursery, root, peers) {
        Ok(rig) => bench.all(&rig, &plan).await,
        Err(error) => bench.taken.fail("anything", &error),
    }
    !bench.taken.failed
}

/// Those that are installed; says which, and which are not.
async fn peers(config: &Config, root: &Path) -> Vec<Peer> {
    let mut peers = Vec::new();
    let mut said = Vec::new();
    for peer in Peer::ALL.into_iter().filter(|peer| !config.alone || *peer == Peer::Bare) {
        if peer.program(root).is_none() {
            println!(
                "{} is not installed, so it is no peer; scripts/setup.sh scores installs it",
                peer.name()
            );
            continue;
        }
        let version = peer.version(root).await.unwrap_or_else(|| "of unknown version".to_owned());
        said.push(format!("{} {version}", peer.name()));
        peers.push(peer);
    }
    println!("Peers: {}", said.join(", "));
    peers
}

struct Bench<'a> {
    taken: Taken<'a>,
}

impl Bench<'_> {
    async fn all(&mut self, rig: &Rig<'_>, plan: &Plan) {
        if self.taken.wants(&[fanout::DELIVERIES]) {
            let measured = fanout::deliveries(rig, plan).await;
            self.taken.take("deliveries", measured);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&[fanout::FANOUT]) {
            let measured = fanout::fanout(rig, plan).await;
            self.taken.take("the fan-out", measured);
            rig.nursery.empty().await;
        }
        if self.taken.wants(&[idle::ID]) {
            let measured = idle::measure(rig, plan).await;
            self.taken.take("idle sockets", measured);
            rig.nursery.empty().await;
        }
        for (id, coalesce_ms) in [(ingest::PLAIN, 0), (ingest::COALESCED, ingest::WINDOW_MS)] {
            if self.taken.wants(&[id]) {
                let measured = ingest::measure(rig, plan, id, coalesce_ms).await;
                self.taken.take("ingest to flush", measured);
                rig.nursery.empty().await;
            }
        }
        if self.taken.wants(&[held::ID]) {
            let measured = held::measure(rig, plan).await;
            self.taken.take("sockets held", measured);
        }
    }
}
