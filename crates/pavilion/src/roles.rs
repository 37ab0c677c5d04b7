//! Each role as a process of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use store::Sqlite;
use timeline::Utc;
use timeline::name::{ProgrammePath, Token};
use timeline::programme::Programme;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::WithAdmin;
use crate::letters::Agreed;
use crate::restart::{Given, Heritage};
use crate::{admin, child, descriptors, passes};

/// Settings of `pavilion origin`.
#[derive(Clone, Debug, Args)]
pub(crate) struct OriginConfig {
    /// Where to listen: pipelines publish and shields fetch here.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8085")]
    listen: SocketAddr,
    /// Serve /livez, /readyz and /metrics here.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    /// File of the embedded lease store, in which origins agree on letters.
    #[arg(long, default_value = "var/pavilion.db")]
    store: PathBuf,
    #[command(flatten)]
    origin: origin::Config,
}

/// Settings of `pavilion edge`.
#[derive(Clone, Debug, Args)]
pub(crate) struct EdgeConfig {
    /// Where to listen.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8081")]
    listen: SocketAddr,
    /// Serve /livez, /readyz and /metrics here.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    #[command(flatten)]
    edge: edge::Config,
    /// Where clients are, for passes that are bound to a country or network.
    #[command(flatten)]
    places: arrival::whereabouts::Files,
}

/// Settings of `pavilion arrival`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ArrivalConfig {
    /// Where to listen.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Serve /livez, /readyz, /metrics and /admin/arrival here. Not for the public.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    #[command(flatten)]
    identity: arrival::identity::Config,
    #[command(flatten)]
    arrival: arrival::Config,
}

/// Settings of `pavilion pin`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PinConfig {
    /// The pin's private key: pin.key of the folder of keys, moved to a safer place.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The key set: jwks.json of that folder.
    #[arg(long, value_name = "FILE", default_value = "var/keys/jwks.json")]
    set: PathBuf,
    /// Where to write the pin: the app serves pin.jws of that folder.
    #[arg(long, value_name = "FILE", default_value = "var/keys/pin.jws")]
    to: PathBuf,
}

/// Settings of `pavilion console`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConsoleConfig {
    /// Where to listen: the page, the admin API behind it, /livez, /readyz and /metrics.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    #[command(flatten)]
    console: control::Config,
}

/// Settings of `pavilion end`.
#[derive(Clone, Debug, Args)]
pub(crate) struct EndConfig {
    /// The match, as it stands in URLs.
    #[arg(long, default_value = "demo")]
    r#match: Token,
    /// The programme.
    #[arg(long, default_value = "main")]
    programme: Token,
    /// The instant that MSN 0 begins.
    #[arg(long)]
    epoch: Utc,
    /// The origins; repeat for more than one.
    #[arg(long = "origin", value_delimiter = ',', default_value = "http://127.0.0.1:8085")]
    origins: Vec<String>,
}

pub(crate) async fn stadium(
    c: WithAdmin<stadium::Config>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    health(c.admin, &shutdown).await?;
    Ok(stadium::run(c.role, shutdown).await?)
}

pub(crate) async fn pipeline(
    c: WithAdmin<pipeline::Config>,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    health(c.admin, &shutdown).await?;
    make_folder(&c.role.store)?;
    Ok(pipeline::run(c.role, shutdown).await?)
}

pub(crate) async fn origin(c: OriginConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    let listener = listen(c.listen).await?;
    health(c.admin, &shutdown).await?;
    make_folder(&c.store)?;
    let letters = Arc::new(Agreed(Sqlite::open(&c.store)?));
    Ok(origin::serve(c.origin, listener, letters, shutdown).await?)
}

pub(crate) async fn edge(c: EdgeConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    descriptors::take_all();
    let (mut given, mut heritage) = (Given::take(), Heritage::new()?);
    let listener = match given.listener()? {
        Some(listener) => listener,
        None => listen(c.listen).await?,
    };
    let listener = heritage.add(listener)?;
    let leave = CancellationToken::new();
    let metrics = c.admin.is_some().then(admin::record).transpose()?;
    let server = edge::Server::open(&c.edge, listener).await?;
    passes::place(&server.edge(), &c.places)?;
    if let (Some(at), Some(metrics)) = (c.admin, metrics) {
        let listener = match given.listener()? {
            Some(listener) => listener,
            None => listen(at).await?,
        };
        // Whoever asks for metrics is to be answered by the process that takes the requests.
        let left = shutdown.child_token();
        tokio::spawn({
            let (leave, left) = (leave.clone(), left.clone());
            async move {
                leave.cancelled().await;
                left.cancel();
            }
        });
        metrics.serve(heritage.add(listener)?, admin::purge(vec![server.edge()]), left);
    }
    given.ready()?;
    tokio::spawn(heritage.hand_over(leave.clone()));
    server.run(shutdown, leave).await;
    Ok(())
}

pub(crate) async fn arrival(c: ArrivalConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    let listener = listen(c.listen).await?;
    let metrics = c.admin.is_some().then(admin::record).transpose()?;
    let identity = identity(c.identity).await?;
    let arrival = arrival::Arrival::open(c.arrival, identity, shutdown.clone()).await?;
    if let (Some(at), Some(metrics)) = (c.admin, metrics) {
        metrics.serve(listen(at).await?, arrival.admin(), shutdown);
    }
    arrival.serve(listener).await;
    Ok(())
}

/// Opens what viewers are known by. The first time a key must be found, which takes a while.
pub(crate) async fn identity(
    config: arrival::identity::Config,
) -> anyhow::Result<arrival::identity::Identity> {
    Ok(tokio::task::spawn_blocking(|| arrival::identity::Identity::open(config)).await??)
}

pub(crate) async fn console(c: ConsoleConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    let listener = listen(c.listen).await?;
    Ok(control::serve(c.console, admin::record()?.routes(), listener, shutdown).await?)
}

pub(crate) async fn loadgen(c: loadgen::Config, shutdown: CancellationToken) -> anyhow::Result<()> {
    let report = loadgen::run(c, shutdown.cancelled_owned()).await?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

/// Signs a key set, once; whoever runs it runs it at least once a day.
pub(crate) fn pin(c: &PinConfig) -> anyhow::Result<()> {
    let reading = |file: &Path| format!("reading {}", file.display());
    let der = std::fs::read(&c.key).with_context(|| reading(&c.key))?;
    let key = pass::Signer::from_pkcs8("pin", &der)
        .with_context(|| format!("{} is no private key", c.key.display()))?;
    let set = std::fs::read_to_string(&c.set).with_context(|| reading(&c.set))?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs() as i64;
    let pin = pass::pin(&key, &set, now)?;
    // Whole or not at all: edges read it at any moment.
    let new = c.to.with_extension("new");
    let written = std::fs::write(&new, pin).and_then(|()| std::fs::rename(&new, &c.to));
    written.with_context(|| format!("writing {}", c.to.display()))
}

pub(crate) async fn end(c: EndConfig) -> anyhow::Result<()> {
    use http_body_util::{BodyExt, Full};
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;
    let path = ProgrammePath { r#match: c.r#match, run: c.epoch.run().parse()?, programme: c.programme };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_micros();
    let venue = Utc(i64::try_from(now)?).since(c.epoch);
    let client: Client<_, Full<axum::body::Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    for origin in &c.origins {
        let base = format!("{}/{path}", origin.trim_end_matches('/'));
        let answer = client
            .get(
                format!("{base}/programme.json")
                    .parse()
                    .with_context(|| format!("'{origin}' is not an origin"))?,
            )
            .await
            .with_context(|| format!("asking {origin}"))?;
        anyhow::ensure!(answer.status().is_success(), "{origin} does not carry {path} ({})", answer.status());
        let programme: Programme = serde_json::from_slice(&answer.into_body().collect().await?.to_bytes())
            .with_context(|| format!("{origin} describes the programme in a way that is not known here"))?;
        // The segment on air is the last one.
        let last = programme
            .grid
            .position(venue)
            .context("the match has not begun: its epoch is in the future")?
            .msn;
        let request = axum::http::Request::put(format!("{base}/end"));
        let body = Full::from(format!("{{\"last_msn\":{last}}}"));
        let answer = client.request(request.body(body)?).await.with_context(|| format!("asking {origin}"))?;
        anyhow::ensure!(answer.status().is_success(), "{origin} answered {}", answer.status());
    }
    println!("The match has ended.");
    Ok(())
}

pub(crate) async fn health(at: Option<SocketAddr>, shutdown: &CancellationToken) -> anyhow::Result<()> {
    let Some(at) = at else { return Ok(()) };
    // An all-in-one has reserved it.
    let listener = if child::is_supervised() { listen_shared(at)? } else { listen(at).await? };
    admin::record()?.serve(listener, axum::Router::new(), shutdown.clone());
    Ok(())
}

pub(crate) async fn listen(at: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(at)
        .await
        .with_context(|| format!("cannot listen on {at}; is another one running? give another port"))
}

/// A place to connect to, as it stands on the command line.
pub(crate) fn host_port(text: &str) -> Result<String, String> {
    let good = text
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0));
    if good { Ok(text.to_owned()) } else { Err("write host:port, such as 127.0.0.1:8088".to_owned()) }
}

/// The same for a role that an all-in-one keeps running: the port that its parent reserved for it is its own.
pub(crate) fn listen_shared(at: SocketAddr) -> anyhow::Result<TcpListener> {
    fanout::listen(at)
        .with_context(|| format!("cannot listen on {at}; is another one running? give another port"))
}

/// The store's folder, if it is not there yet.
pub(crate) fn make_folder(file: &Path) -> anyhow::Result<()> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => {
            std::fs::create_dir_all(folder).with_context(|| format!("making the folder {}", folder.display()))
        }
        _ => Ok(()),
    }
}
