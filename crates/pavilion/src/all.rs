//! All of it on one machine: servers in this process; the ground and both pipelines as children, each of which
//! can be killed without the picture stopping.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use serde_json::json;
use store::Sqlite;
use timeline::Utc;
use timeline::name::Token;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::child::Child;
use crate::letters::Agreed;
use crate::score::plane::{CLUB, Plane, Reserved};
use crate::{admin, child, passes, roles};

/// A child is asked to end, and ended after that.
pub(crate) const CHILD_END_MAX: Duration = Duration::from_secs(4);
/// The epoch of a match put on air now lies this far back, so that nothing can come before it.
const EPOCH_BACK_S: i64 = 60;
/// SRT's retransmission delay on loopback, where nothing is lost.
const LOOPBACK_SRT_MS: u32 = 20;
/// How often the first picture is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Settings of `pavilion run`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Config {
    /// The first of ten ports: +0 page, +1 video edge, +2 scores, +5 origin, +6 shield, +7 feeds, +8 shard, +9 console and metrics.
    /// 0: any free ones.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Put this feed on air instead of the generated ground: a file, srt://, udp://, rtmp://, https://
    #[arg(long, value_name = "URL")]
    input: Option<String>,
    /// Start a file again when it ends.
    #[arg(long = "loop")]
    r#loop: bool,
    /// The match, as it stands in URLs.
    #[arg(long, default_value = "demo")]
    r#match: Token,
    /// The match, for people.
    #[arg(long, default_value = "Demo match")]
    title: String,
    /// Size of the generated picture.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720")]
    size: stadium::Size,
    /// The bitrate ladder: height@kbps of each rung.
    #[arg(long, default_value = "720@2500,540@1400,360@800,234@400")]
    ladder: String,
    /// x264's preset.
    #[arg(long, default_value = "superfast")]
    preset: String,
    /// Folder for the store and for ports.json, which tells other programs where everything is.
    #[arg(long, default_value = "var")]
    var: PathBuf,
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
    /// Without scores: only the picture.
    #[arg(long)]
    no_scores: bool,
    /// Open the edge with this word for everybody, as players of other makers and measurements may want it. Without it
    /// everybody gets a pass of their own, made with the keys in the folder of --var.
    #[arg(long, value_name = "WORD")]
    pass: Option<String>,
    /// How long a pass is good before the edge renews it.
    #[arg(long, value_name = "SECONDS", default_value_t = arrival::PASS_LIFE_S.0, value_parser = clap::value_parser!(u32).range(3..=86_400))]
    pass_life: u32,
    /// How long the edge renews a pass before the player must ask to play again.
    #[arg(long, value_name = "SECONDS", default_value_t = arrival::PASS_LIFE_S.1, value_parser = clap::value_parser!(u32).range(3..=43_200))]
    pass_renewed: u32,
    /// Where viewers are.
    #[command(flatten)]
    places: arrival::whereabouts::Files,
    #[command(flatten)]
    origin: origin::Config,
    /// Without a file for the secret, one is made in the folder of --var.
    #[command(flatten)]
    drm: pipeline::protect::Config,
}

struct Listeners {
    app: TcpListener,
    edge: TcpListener,
    origin: TcpListener,
    shield: TcpListener,
    admin: TcpListener,
}

impl Listeners {
    async fn open(port: u16) -> anyhow::Result<Listeners> {
        let at = |host: Ipv4Addr, offset: u16| {
            let port = if port == 0 { 0 } else { port.saturating_add(offset) };
            roles::listen(SocketAddr::from((host, port)))
        };
        let (public, own) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::LOCALHOST);
        Ok(Listeners {
            app: at(public, 0).await?,
            edge: at(public, 1).await?,
            origin: at(own, 5).await?,
            shield: at(own, 6).await?,
            admin: at(own, 9).await?,
        })
    }
}

fn port(listener: &TcpListener) -> anyhow::Result<u16> {
    Ok(listener.local_addr()?.port())
}

pub(crate) async fn run(mut config: Config, shutdown: CancellationToken) -> anyhow::Result<()> {
    // Whatever can be refused is refused before anything starts.
    let _: pipeline::plan::Ladder = config.ladder.parse()?;
    config.origin.check()?;
    if let Some(input) = &config.input {
        stadium::check(input, config.r#loop).await?;
    }
    std::fs::create_dir_all(&config.var)
        .with_context(|| format!("making the folder {}", config.var.display()))?;
    if config.drm.needs_secret() {
        let file = config.var.join("drm-secret");
        pipeline::protect::make_secret(&file).with_context(|| format!("making {}", file.display()))?;
        config.drm.drm_secret = Some(file);
    }
    config.drm.check()?;
    let pass_keys = match config.pass {
        Some(_) => None,
        None => Some(config.var.join("pass-keys.json")),
    };
    if let Some(file) = &pass_keys {
        passes::make_keys(file)?;
    }
    let store = config.var.join("pavilion.db");
    let listeners = Listeners::open(config.port).await?;
    let (app, edge) = (port(&listeners.app)?, port(&listeners.edge)?);
    let (origin, shield, console) =
        (port(&listeners.origin)?, port(&listeners.shield)?, port(&listeners.admin)?);

    let who = arrival::identity::Config {
        accounts: config.var.join("accounts.db").into(),
        keys: config.var.join("keys"),
        mail: config.var.join("mail"),
        ..arrival::identity::Config::default()
    };
    let keys = who.keys.clone();
    let identity = roles::identity(who).await?;
    let plane = if config.no_scores { None } else { Some(Plane::new(config.port, &config.var, &keys)?) };
    let code = match &plane {
        Some(plane) => {
            let registers = Sqlite::open(&store)?;
            Some(
                plane
                    .fill(&registers, config.r#match.as_str(), &config.title, config.input.is_none())
                    .await?,
            )
        }
        None => None,
    };

    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
    let epoch = Utc((now - EPOCH_BACK_S) * 1_000_000);
    let letters = Arc::new(Agreed(Sqlite::open(&store)?));
    let recorded = admin::record()?;

    let mut servers = JoinSet::new();
    let stop = shutdown.clone();
    let origin_config = config.origin.clone();
    servers.spawn(async move { Ok(origin::serve(origin_config, listeners.origin, letters, stop).await?) });
    let tier = |upstream: u16| -> anyhow::Result<edge::Config> {
        Ok(edge::Config {
            upstream: vec![format!("http://127.0.0.1:{upstream}").parse()?],
            ..edge::Config::default()
        })
    };
    let guarded = edge::Config {
        pass: config.pass.as_deref().map(str::parse).transpose()?,
        pass_keys: pass_keys.clone(),
        ..tier(shield)?
    };
    let mut tiers = Vec::new();
    for (listener, tier) in [(listeners.shield, tier(origin)?), (listeners.edge, guarded)] {
        let server = edge::Server::open(&tier, listener).await?;
        passes::place(&server.edge(), &config.places)?;
        tiers.push(server.edge());
        let stop = shutdown.clone();
        servers.spawn(async move {
            server.run(stop, CancellationToken::new()).await;
            anyhow::Ok(())
        });
    }
    let arrival = arrival::Config {
        r#match: config.r#match.clone(),
        title: config.title.clone(),
        programme: "main".parse()?,
        epoch,
        edge: format!(":{edge}").parse()?,
        pass: config.pass.clone().unwrap_or_default(),
        pass_keys,
        pass_life: config.pass_life,
        pass_renewed: config.pass_renewed,
        edge_admins: vec![format!("http://127.0.0.1:{console}").parse()?],
        bind_networks: false,
        scores: plane.as_ref().map(|plane| arrival::Edge::Port(plane.public().0)),
        feeds: plane.as_ref().map(|plane| arrival::Edge::Port(plane.public().1)),
        sport: plane.as_ref().map(|_| "cricket".to_owned()),
        scored: match &plane {
            Some(_) => vec![format!("{CLUB}:cricket:Club match").parse()?],
            None => Vec::new(),
        },
        store: store.clone().into(),
        entitlements: config.var.join("entitlements.db").into(),
        journal: config.var.join("provisional.journal"),
        no_copy: false,
        places: config.places.clone(),
        trusted_proxies: Vec::new(),
        per_address: arrival::PER_ADDRESS,
        licence: Some(arrival::Edge::Port(app)),
        encrypted: Some(config.drm.is_on()),
        // With a key server there is no secret here, and licences are that server's business.
        licences: arrival::licence::Config {
            licence_secret: config.drm.drm_secret.clone().filter(|_| config.drm.is_on()),
            licence_period: config.drm.drm_period.clone(),
            licence_clear_lead: config.drm.drm_clear_lead.clone(),
            // Its players have ClearKey alone.
            licence_software: arrival::licence::Picture::Hd,
            licence_window_s: config.origin.window_s,
            ..arrival::licence::Config::default()
        },
        telemetry: None,
    };
    let arrival = arrival::Arrival::open(arrival, identity, shutdown.clone()).await?;
    let operators = recorded.routes().merge(admin::purge(tiers)).merge(arrival.admin());
    servers.spawn(async move {
        arrival.serve(listeners.app).await;
        anyhow::Ok(())
    });

    let starts_ms = plane.as_ref().map(|plane| plane.starts_ms);
    let mut family = Family::start(&config, epoch, origin, &store, starts_ms, &shutdown)?;
    if let Some(plane) = &plane {
        for child in plane.children(&store, config.r#match.as_str(), config.input.is_none()) {
            family.keep(child, &shutdown)?;
        }
    }
    // What this process itself serves is as ready as its own port says.
    let own = std::iter::once(("page, edge, shield, origin".to_owned(), console));
    let role = |(name, port): (String, u16)| -> Result<control::Role, control::Error> {
        format!("{name}=127.0.0.1:{port}").parse()
    };
    let host = control::outward().map_or_else(|| "localhost".to_owned(), |ip| ip.to_string());
    let desk = control::Config {
        ingest: family.health("ingest").map(|port| format!("127.0.0.1:{port}").parse()).transpose()?,
        // It is in this process.
        arrival: None,
        roles: own.chain(family.all_health()).map(role).collect::<Result<_, _>>()?,
        app: Some(format!("http://{host}:{app}").parse()?),
        hosts: Vec::new(),
    };
    let stop = shutdown.clone();
    servers.spawn(async move { Ok(control::serve(desk, operators, listeners.admin, stop).await?) });
    let page = format!("http://localhost:{app}/watch/{}", config.r#match);
    let scorer = code.map_or(String::new(), |code| {
        format!("  to score a match by hand: http://localhost:{app}/score/{CLUB} with the code {code}\n")
    });
    let plane_ports = plane.as_ref().map(Plane::ports).unwrap_or_default();
    let ports = Ports { app, edge, origin, shield, console, epoch, page: &page, plane: &plane_ports };
    family.write(&config, &ports)?;
    println!("Putting the match on air …");
    let playlist = format!("/{}/{}/main/hls/master.m3u8", config.r#match, epoch.run());
    let first = first_picture(origin, &playlist);
    tokio::select! {
        () = shutdown.cancelled() => {}
        () = first => {
            family.write(&config, &ports)?;
            println!(
                "On air: {page}\n  pipelines: a is process {}, b is process {}; kill -9 either one, the picture goes on\n\
                 {scorer}  for operators: http://localhost:{console}   metrics: http://localhost:{console}/metrics\n  \
                 Ctrl-C ends all of it",
                family.pid("a"), family.pid("b"),
            );
            if !config.no_open {
                open(&page);
            }
        }
        Some(ended) = servers.join_next() => ended.context("a server panicked")??,
    }
    let mut failed = Ok(());
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            Some(ended) = servers.join_next() => {
                failed = ended.context("a server panicked").and_then(|r| r);
                shutdown.cancel();
            }
            // A child that was started again has another number.
            () = tokio::time::sleep(LOOK) => family.write(&config, &ports)?,
        }
    }
    family.end().await;
    failed
}

/// Where everything is.
struct Ports<'a> {
    app: u16,
    edge: u16,
    origin: u16,
    shield: u16,
    console: u16,
    epoch: Utc,
    page: &'a str,
    plane: &'a serde_json::Value,
}

/// A role as a process of its own.
struct Running {
    name: &'static str,
    pid: Arc<AtomicU32>,
    /// Where it answers for its health, and ingest also the console. It is found there again after it was killed.
    admin: Reserved,
}

/// The children.
struct Family {
    tasks: JoinSet<()>,
    running: Vec<Running>,
    written: std::sync::Mutex<String>,
}

impl Family {
    fn start(
        config: &Config,
        epoch: Utc,
        origin: u16,
        store: &Path,
        starts_ms: Option<i64>,
        shutdown: &CancellationToken,
    ) -> anyhow::Result<Family> {
        let (srt, udp) = (free_udp_port()?, free_udp_port()?);
        let mut family = Family { tasks: JoinSet::new(), running: Vec::new(), written: Default::default() };
        let mut ground =
            words(["stadium", "--srt-port", &srt.to_string(), "--udp", &format!("127.0.0.1:{udp}")]);
        ground.extend(words(["--size", &config.size.to_string()]));
        if let (None, Some(starts_ms)) = (&config.input, starts_ms) {
            let starts = Utc(starts_ms * 1_000).to_string();
            ground.extend(words(["--play", "demo", "--starts", &starts]));
        }
        if let Some(input) = &config.input {
            ground.extend(words(["--input", input]));
        }
        if config.r#loop {
            ground.extend(words(["--loop"]));
        }
        let clock = if config.input.is_some() { "arrival" } else { "utc" };
        for (name, input) in [
            ("a", format!("srt://127.0.0.1:{srt}?mode=caller&latency={LOOPBACK_SRT_MS}")),
            ("b", format!("udp://127.0.0.1:{udp}")),
        ] {
            let mut args =
                words(["pipeline", "--name", name, "--match", config.r#match.as_str(), "--input", &input]);
            args.extend(words([
                "--epoch",
                &epoch.to_string(),
                "--origin",
                &format!("http://127.0.0.1:{origin}"),
            ]));
            args.extend(words(["--store", &store.display().to_string(), "--ladder", &config.ladder]));
            args.extend(words(["--preset", &config.preset, "--clock", clock]));
            args.extend(config.drm.words());
            family.keep(Child::new(name, args), shutdown)?;
        }
        family.keep(Child::new("stadium", ground), shutdown)?;
        Ok(family)
    }

    fn keep(&mut self, mut child: Child, shutdown: &CancellationToken) -> anyhow::Result<()> {
        let (pid, admin) = (Arc::new(AtomicU32::new(0)), Reserved::new(Ipv4Addr::LOCALHOST, 0)?);
        child.args.extend(words(["--admin", &format!("127.0.0.1:{}", admin.port)]));
        self.running.push(Running { name: child.name, pid: pid.clone(), admin });
        let shutdown = shutdown.clone();
        self.tasks.spawn(async move { child::keep(child, &pid, shutdown).await });
        Ok(())
    }

    fn pid(&self, name: &str) -> u32 {
        let child = self.running.iter().find(|child| child.name == name);
        child.map_or(0, |child| child.pid.load(Ordering::Relaxed))
    }

    fn health(&self, name: &str) -> Option<u16> {
        self.running.iter().find(|child| child.name == name).map(|child| child.admin.port)
    }

    /// Every child, in words that operators know, and where it answers for its health.
    fn all_health(&self) -> impl Iterator<Item = (String, u16)> {
        self.running.iter().map(|child| {
            let name = if child.name.len() == 1 {
                format!("pipeline {}", child.name)
            } else {
                child.name.to_owned()
            };
            (name, child.admin.port)
        })
    }

    /// Writes ports.json if it has changed.
    fn write(&self, config: &Config, at: &Ports<'_>) -> anyhow::Result<()> {
        let mut all = json!({
            "app": format!("http://127.0.0.1:{}", at.app),
            "edge": format!("http://127.0.0.1:{}", at.edge),
            "origin": format!("http://127.0.0.1:{}", at.origin),
            "shield": format!("http://127.0.0.1:{}", at.shield),
            "console": format!("http://127.0.0.1:{}", at.console),
            "metrics": format!("http://127.0.0.1:{}/metrics", at.console),
            "page": at.page,
            "match": config.r#match,
            "run": at.epoch.run(),
            "epoch": at.epoch,
            "pids": self.running.iter().map(|c| (c.name, c.pid.load(Ordering::Relaxed))).collect::<BTreeMap<_, _>>(),
        });
        if let (Some(all), Some(ingest)) = (all.as_object_mut(), self.health("ingest")) {
            all.insert("admin".to_owned(), format!("http://127.0.0.1:{ingest}").into());
        }
        if let (Some(all), Some(plane)) = (all.as_object_mut(), at.plane.as_object()) {
            all.extend(plane.clone());
        }
        let text = all.to_string();
        let mut written = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *written != text {
            let (new, file) = (config.var.join("ports.json.new"), config.var.join("ports.json"));
            std::fs::write(&new, &text).context("writing ports.json")?;
            std::fs::rename(new, file).context("writing ports.json")?;
            *written = text;
        }
        Ok(())
    }

    async fn end(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

pub(crate) fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// A port that nobody has now; another process could take it before our child does, and then the child says so.
fn free_udp_port() -> anyhow::Result<u16> {
    Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Waits until the origin has a playlist.
async fn first_picture(origin: u16, playlist: &str) {
    use http_body_util::Empty;
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;
    let client: Client<_, Empty<axum::body::Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let uri = format!("http://127.0.0.1:{origin}{playlist}");
    loop {
        let Ok(uri) = uri.parse() else { return };
        match client.get(uri).await {
            Ok(answer) if answer.status().is_success() => return,
            _ => tokio::time::sleep(LOOK).await,
        }
    }
}

/// Opens the page in the desktop's browser, if there is a desktop; the URL has been printed anyway.
fn open(page: &str) {
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some());
    if desktop {
        let quiet = std::process::Stdio::null;
        let _ = std::process::Command::new("xdg-open").arg(page).stdout(quiet()).stderr(quiet()).spawn();
    }
}
