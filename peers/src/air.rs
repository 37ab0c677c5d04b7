//! A match on air with each role as a process of its own, wired as `pavilion run` wires them, so that the kernel
//! can say what each of them costs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use loadgen::http::Client;
use timeline::Utc;
use timeline::name::ProgrammePath;
use timeline::programme::Programme;

use crate::http::{get, json, until};
use crate::nursery::{Child, Nursery, free_port, free_udp_port};
use crate::proc;

/// The word that opens the edge until there are passes.
pub(crate) const PASS: &str = "open";
/// As `pavilion run`: nothing can come before the epoch.
const EPOCH_BACK_S: i64 = 60;
/// Speech is made and encoders start before there is a picture; a busy machine takes its time.
const ON_AIR_MAX: Duration = Duration::from_secs(120);
/// For a listener to open.
pub(crate) const LISTEN_MAX: Duration = Duration::from_secs(20);

/// What is put on air.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Picture {
    /// Size of the generated picture.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", env = "BENCH_SIZE")]
    pub(crate) size: stadium::Size,
    /// The bitrate ladder: height@kbps of each rung.
    #[arg(long, default_value = "720@2500,540@1400,360@800,234@400", env = "BENCH_LADDER")]
    pub(crate) ladder: String,
    /// x264's preset.
    #[arg(long, default_value = "superfast", env = "BENCH_PRESET")]
    pub(crate) preset: String,
}

impl std::fmt::Display for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, ladder {}, x264 {}, three languages", self.size, self.ladder, self.preset)
    }
}

/// A match on air.
pub(crate) struct Air {
    /// The origin's programme: `http://…/{match}/{run}/{programme}`.
    pub(crate) origin: String,
    /// The edge's, with the pass.
    pub(crate) edge: String,
    /// The page.
    pub(crate) app: String,
    /// The origin's metrics.
    pub(crate) metrics: String,
    /// As it was announced.
    pub(crate) programme: Programme,
    roles: BTreeMap<&'static str, Child>,
}

impl Air {
    /// Starts all roles and waits until both pipelines deliver every track.
    pub(crate) async fn start(nursery: &Nursery, picture: &Picture, client: &Client) -> anyhow::Result<Air> {
        let [app, edge, origin, shield, admin] =
            [free_port()?, free_port()?, free_port()?, free_port()?, free_port()?];
        let (srt, udp) = (free_udp_port()?, free_udp_port()?);
        let epoch = Utc((now().0 / 1_000_000 - EPOCH_BACK_S) * 1_000_000);
        let file = |name: &str| nursery.scratch().join(name).display().to_string();
        let (store, bought, journal) = (file("air.db"), file("entitlements.db"), file("provisional.journal"));
        let here = |port: u16| format!("127.0.0.1:{port}");
        let at = |port: u16| format!("http://127.0.0.1:{port}");

        let mut roles = BTreeMap::new();
        let mut start = |name: &'static str, line: String, more: &[&str]| -> anyhow::Result<()> {
            let words = line.split(' ').chain(more.iter().copied()).map(str::to_owned).collect::<Vec<_>>();
            roles.insert(name, nursery.role(name, &words)?);
            Ok(())
        };
        let (origin_at, shield_at, edge_at) = (here(origin), here(shield), here(edge));
        start(
            "origin",
            format!("origin --listen {origin_at} --admin {}", here(admin)),
            &["--store", &store],
        )?;
        start("shield", format!("edge --listen {shield_at} --upstream {}", at(origin)), &[])?;
        start("edge", format!("edge --listen {edge_at} --upstream {} --pass {PASS}", at(shield)), &[])?;
        start(
            "page",
            format!("arrival --listen {} --epoch {epoch} --edge :{edge} --pass {PASS}", here(app)),
            &["--store", &store, "--entitlements", &bought, "--journal", &journal],
        )?;
        for (name, letter, input) in [
            ("pipeline a", 'a', format!("srt://127.0.0.1:{srt}?mode=caller&latency=20")),
            ("pipeline b", 'b', format!("udp://127.0.0.1:{udp}")),
        ] {
            let line =
                format!("pipeline --name {letter} --epoch {epoch} --input {input} --origin {}", at(origin));
            let made = [
                "--clock",
                "utc",
                "--ladder",
                &picture.ladder,
                "--preset",
                &picture.preset,
                "--store",
                &store,
            ];
            start(name, line, &made)?;
        }
        start(
            "ground",
            format!("stadium --srt-port {srt} --udp {} --size {}", here(udp), picture.size),
            &[],
        )?;

        let path =
            ProgrammePath { r#match: "demo".parse()?, run: epoch.run().parse()?, programme: "main".parse()? };
        let base = format!("{}/{path}", at(origin));
        until("both pipelines deliver every track", ON_AIR_MAX, async || {
            roles.values().try_for_each(Child::check)?;
            let Ok(status) = json::<Status>(client, &format!("{base}/status.json")).await else {
                return Ok(None);
            };
            Ok(status.tracks.iter().all(|t| t.a.alive && t.b.alive).then_some(()))
        })
        .await?;
        // Until the first request the shield and the edge have no connection.
        let edge = format!("{}/{PASS}/{path}", at(edge));
        get(client, &format!("{edge}/hls/master.m3u8")).await?;
        let programme = json(client, &format!("{base}/programme.json")).await?;
        Ok(Air {
            origin: base,
            edge,
            app: at(app),
            metrics: format!("{}/metrics", at(admin)),
            programme,
            roles,
        })
    }

    /// An error when any role has ended.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.roles.values().try_for_each(Child::check)
    }

    /// Resident bytes of roles, together.
    pub(crate) fn rss_bytes(&self, names: &[&str]) -> anyhow::Result<u64> {
        names.iter().map(|name| proc::rss_bytes(self.pid(name)?)).sum()
    }

    /// Starts to count the cores that each role uses.
    pub(crate) fn cores(&self) -> anyhow::Result<Cores> {
        let pids = self.roles.iter().map(|(name, child)| (*name, child.pid()));
        Cores::start(pids)
    }

    fn pid(&self, name: &str) -> anyhow::Result<u32> {
        Ok(self.roles.get(name).with_context(|| format!("no role '{name}'"))?.pid())
    }
}

/// CPU time of processes over a while.
pub(crate) struct Cores {
    since: Instant,
    before: Vec<(&'static str, u32, f64)>,
}

impl Cores {
    /// Begins now.
    pub(crate) fn start(pids: impl IntoIterator<Item = (&'static str, u32)>) -> anyhow::Result<Cores> {
        let before = pids.into_iter().map(|(name, pid)| Ok((name, pid, proc::cpu_seconds(pid)?)));
        Ok(Cores { since: Instant::now(), before: before.collect::<anyhow::Result<_>>()? })
    }

    /// Cores that each used until now, without its children.
    pub(crate) fn used(&self) -> anyhow::Result<BTreeMap<&'static str, f64>> {
        let seconds = self.since.elapsed().as_secs_f64();
        let used = self
            .before
            .iter()
            .map(|(name, pid, before)| Ok((*name, (proc::cpu_seconds(*pid)? - before) / seconds)));
        used.collect()
    }
}

/// What the benches read of an origin's status.json.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Status {
    pub(crate) window_bytes: u64,
    pub(crate) part_ready: Ready,
    pub(crate) tracks: Vec<Track>,
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Ready {
    pub(crate) parts: u64,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Track {
    pub(crate) segments: u64,
    pub(crate) gaps_parts: u64,
    pub(crate) a: Pipeline,
    pub(crate) b: Pipeline,
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Pipeline {
    pub(crate) alive: bool,
}

/// The wall clock.
pub(crate) fn now() -> Utc {
    Utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64))
}
