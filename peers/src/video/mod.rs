//! `bench video`: a match on air, measured one thing at a time.

mod collapse;
mod counting;
mod glass;
mod hour;
mod latency;
mod own;
mod recording;

use std::path::Path;
use std::time::Duration;

use loadgen::http::Client;

use crate::air::{Air, Picture};
use crate::figure::Figure;
use crate::machine;
use crate::nursery::Nursery;
use crate::taken::Taken;

/// What to measure, and on what picture.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Config {
    /// A smoke run: everything, but short, and the page with one player.
    #[arg(long)]
    quick: bool,
    /// Only these figures; repeat, or separate with commas.
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids())]
    only: Vec<String>,
    #[command(flatten)]
    picture: Picture,
}

/// The figures, in the order in which they are measured.
const IDS: [&str; 8] = [
    latency::PART_READY,
    own::CORES,
    latency::EDGE_ADD,
    glass::IDS[0],
    glass::IDS[1],
    glass::IDS[2],
    own::RSS,
    collapse::REQUESTS,
];

fn ids() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(IDS)
}

/// How long things are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    quick: bool,
    /// Parts that are listed before the first measurement, so that the start is not part of it: the origin
    /// remembers the ready times of the last 1,000.
    settle_parts: f64,
    /// Of ready times and cores.
    quiet: Duration,
    /// Rounds of the crowd at one edge; one a part, 0.32 s.
    edge_rounds: u32,
    /// Of each profile in each player, after [`Self::settle`].
    watch: Duration,
    /// A player's start-up.
    settle: Duration,
    /// Length of the window whose memory is measured.
    window: Duration,
    /// For how long the full window is looked at.
    full: Duration,
    /// Rounds of the crowd at three edges, for parts and for playlists each.
    collapse_rounds: u32,
}

impl Plan {
    fn new(quick: bool) -> Plan {
        let s = Duration::from_secs;
        let settle = s(10);
        if quick {
            let (quiet, watch, window, full) = (s(15), s(15), s(600), s(5));
            Plan {
                quick,
                settle_parts: 200.0,
                quiet,
                edge_rounds: 40,
                watch,
                settle,
                window,
                full,
                collapse_rounds: 8,
            }
        } else {
            let (quiet, watch, window, full) = (s(60), s(60), s(3_600), s(30));
            Plan {
                quick,
                settle_parts: 1_200.0,
                quiet,
                edge_rounds: 200,
                watch,
                settle,
                window,
                full,
                collapse_rounds: 40,
            }
        }
    }
}

/// Measures all that is asked for, one after the other; answers whether all of it could be measured.
pub(crate) async fn run(config: &Config, root: &Path, nursery: &Nursery, figures: &mut Vec<Figure>) -> bool {
    let plan = Plan::new(config.quick);
    println!("On {}", machine::machine());
    println!("Picture: {}{}", config.picture, if plan.quick { "; a quick run" } else { "" });
    match machine::load() {
        Some(load) if load > 0.5 => {
            println!("Others keep this machine busy (load {load}): the figures say less.\n")
        }
        _ => println!(),
    }
    let on = format!("on {}; {}", config.picture, machine::machine());
    let taken = Taken::new(&config.only, figures).on(on);
    let mut bench = Bench { root, nursery, plan, client: Client::default(), taken };
    match Air::start(nursery, &config.picture, &bench.client).await {
        Ok(air) => bench.all(air).await,
        Err(error) => bench.taken.fail("a match on air", &error),
    }
    !bench.taken.failed
}

/// What all measurements share.
struct Bench<'a> {
    root: &'a Path,
    nursery: &'a Nursery,
    plan: Plan,
    client: Client,
    taken: Taken<'a>,
}

impl Bench<'_> {
    async fn all(&mut self, air: Air) {
        if self.taken.wants(&[latency::PART_READY, own::CORES]) {
            let quiet = latency::quiet(&air, &self.client, &self.plan).await;
            self.taken.take(
                "ready times and cores",
                quiet.map(|quiet| vec![quiet.part_ready(), own::cores(&quiet)]),
            );
        }
        if self.taken.wants(&[latency::EDGE_ADD]) {
            let edge_add = latency::edge_add(&air, &self.plan).await;
            self.taken.take("the crowd at one edge", edge_add.map(|f| vec![f]));
        }
        for profile in glass::PROFILES {
            if self.taken.wants(&[profile.id]) {
                let glass = glass::glass(&air, profile, self.root, self.nursery, &self.plan).await;
                self.taken.take("the page", glass.map(|f| vec![f]));
            }
        }
        if self.taken.wants(&[own::RSS, collapse::REQUESTS])
            && let Err(error) = self.without_encoders(air).await
        {
            self.taken.fail("the long window", &error);
        }
    }

    /// What needs a long window and many clients is measured with recorded parts, so that encoders do not
    /// compete with two thousand clients for two cores.
    async fn without_encoders(&mut self, air: Air) -> anyhow::Result<()> {
        let recording = recording::record(&air, &self.client).await?;
        let pipelines = air.rss_bytes(&own::PIPELINES)?;
        air.check()?;
        drop(air);
        self.nursery.empty().await;
        let hour = hour::Hour::start(self.nursery, recording, self.plan.window, &self.client).await?;
        if self.taken.wants(&[own::RSS]) {
            let rss = own::rss(&hour, pipelines, &self.client, &self.plan).await;
            self.taken.take("memory", rss.map(|f| vec![f]));
        }
        if self.taken.wants(&[collapse::REQUESTS]) {
            let requests = collapse::requests(&hour, self.nursery, &self.client, &self.plan).await;
            self.taken.take("the crowd at three edges", requests.map(|f| vec![f]));
        }
        Ok(())
    }
}
