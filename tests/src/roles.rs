//! Roles as separate processes, put together by hand.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use timeline::Utc;
use timeline::name::Letter;

use crate::program::Program;
use crate::until;
use crate::web::Web;

/// The epoch lies this far before now, so that nothing comes before it.
const EPOCH_BACK_S: i64 = 60;

/// A UDP port that nobody has now.
pub fn free_udp_port() -> u16 {
    UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// A TCP port that nobody has now.
pub fn free_tcp_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// An epoch for a match that begins now.
pub fn epoch() -> Utc {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    Utc((now - EPOCH_BACK_S) * 1_000_000)
}

/// The generated ground.
pub struct Ground {
    /// It.
    pub program: Program,
    /// Where path A is called.
    pub a: String,
    /// Where path B arrives.
    pub b: String,
}

impl Ground {
    /// Starts it with a picture of this size.
    pub fn start(folder: &Path, size: &str) -> Ground {
        let (srt, udp) = (free_udp_port(), free_udp_port());
        let (port, to) = (srt.to_string(), format!("127.0.0.1:{udp}"));
        let args = ["stadium", "--srt-port", &port, "--udp", &to, "--size", size];
        Ground {
            program: Program::start(folder, "stadium", &args),
            a: format!("srt://127.0.0.1:{srt}?mode=caller&latency=20"),
            b: format!("udp://127.0.0.1:{udp}"),
        }
    }

    /// The path of a pipeline.
    pub fn path(&self, letter: Letter) -> &str {
        if letter == Letter::A { &self.a } else { &self.b }
    }
}

/// Starts a pipeline on a ground.
pub fn pipeline(
    folder: &Path,
    letter: Letter,
    epoch: Utc,
    ground: &Ground,
    ladder: &str,
    origin: &str,
) -> Program {
    let input = ground.path(letter);
    let (name, epoch) = (letter.to_string(), epoch.to_string());
    let store = folder.join("store.db").display().to_string();
    let args = [
        "pipeline", "--name", &name, "--epoch", &epoch, "--input", input, "--origin", origin, "--store",
        &store, "--ladder", ladder, "--clock", "utc",
    ];
    Program::start(folder, &format!("pipeline-{name}"), &args)
}

/// A server of the video's way, and where it listens.
pub struct Server {
    /// It.
    pub program: Program,
    /// Its URL.
    pub url: String,
    port: u16,
}

impl Server {
    /// Starts an origin; `port` 0 is any.
    pub fn origin(folder: &Path, port: u16) -> Server {
        let store = folder.join("store.db").display().to_string();
        Server::start(folder, "origin", port, &["--store", &store])
    }

    /// Starts an edge, or with no pass a shield.
    pub fn edge(folder: &Path, upstream: &str, pass: Option<&str>) -> Server {
        let mut more = vec!["--upstream", upstream];
        if let Some(pass) = pass {
            more.extend(["--pass", pass]);
        }
        Server::start(folder, "edge", 0, &more)
    }

    /// The port it has.
    pub fn port(&self) -> u16 {
        self.port
    }

    fn start(folder: &Path, role: &str, port: u16, more: &[&str]) -> Server {
        let port = if port == 0 { free_tcp_port() } else { port };
        let at = format!("127.0.0.1:{port}");
        let args: Vec<&str> = [role, "--listen", &at].into_iter().chain(more.iter().copied()).collect();
        let program = Program::start(folder, &format!("{role}-{port}"), &args);
        Server { program, url: format!("http://{at}"), port }
    }
}

/// The first start finds a key, on a machine full of tests.
const START_MAX: Duration = Duration::from_secs(60);

/// `pavilion arrival`, with whatever more, and its stores in files.
pub async fn arrival(folder: &Path, port: u16, more: &[&str]) -> Program {
    arrival_on(folder, port, |name| folder.join(name).display().to_string(), more).await
}

/// The same with its stores wherever they are said to be.
pub async fn arrival_on(folder: &Path, port: u16, at: impl Fn(&str) -> String, more: &[&str]) -> Program {
    let (listen, epoch) = (format!("127.0.0.1:{port}"), epoch().to_string());
    let (accounts, keys, mail) = (at("accounts.db"), at("keys"), at("mail"));
    let args = ["arrival", "--listen", &listen, "--epoch", &epoch, "--scores", ":8082", "--sport", "cricket"];
    let own = ["--accounts", &accounts, "--keys", &keys, "--mail", &mail];
    let (store, entitlements, journal) =
        (at("pavilion.db"), at("entitlements.db"), at("provisional.journal"));
    let door = ["--store", &store, "--entitlements", &entitlements, "--journal", &journal];
    let mut program = Program::start(folder, "arrival", &[&args, &own[..], &door, more].concat());
    let web = Web::default();
    let url = format!("http://127.0.0.1:{port}/v1/time");
    until("the app answers", START_MAX, || {
        assert!(program.ended().is_none(), "{}", program.log());
        let (web, url) = (&web, &url);
        async move { web.try_get(url).await.ok() }
    })
    .await;
    program
}
