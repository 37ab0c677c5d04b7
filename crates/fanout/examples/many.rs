//! Many sockets on this machine, measured by hand: memory of an idle one, CPU of a delivery, publish to the last.
//!
//! ```text
//! cargo run --release -p fanout --example many -- [SOCKETS [EVENTS_PER_SECOND [SECONDS [WORKERS]]]]
//! ```
//!
//! Servers are children, so that their memory and CPU are theirs alone: first ours, then a bare `write()` loop over the
//! same number of sockets, which is the kernel's floor. Both send the same 180 bytes at the same rate.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use fanout::{Admit, Config, Deps, Refusal, Server, Source};
use http_body_util::Empty;
use hyper::service::service_fn;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use pass::Claims;
use relay::{Cursor, Message, Update};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn std::error::Error>;

/// Bytes of an event.
const EVENT_BYTES: usize = 180;

/// Connections that are being opened at once.
const OPENING: usize = 512;

const REQUEST: &[u8] =
    b"GET /v1/stream?match=m HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |n: usize, default: f64| args.get(n).map_or(Ok(default), |text| text.parse());
    match args.first().map(String::as_str) {
        Some("ours") => ours(number(1, 1.0)?, number(3, 0.0)? as usize),
        Some("bare") => bare(number(1, 1.0)?, number(2, 0.0)? as usize),
        _ => {
            let (sockets, rate, seconds) = (number(0, 18_000.0)? as usize, number(1, 1.0)?, number(2, 20.0)?);
            for server in ["ours", "bare"] {
                measure(server, sockets, rate, Duration::from_secs_f64(seconds), number(3, 0.0)? as usize)?;
            }
            Ok(())
        }
    }
}

fn now_us() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros())
}

/// An event of just that size, which says when it was published.
fn event() -> Vec<u8> {
    let mut json = format!("{{\"at\":{:020},\"fill\":\"", now_us()).into_bytes();
    json.resize(EVENT_BYTES - 2, b'x');
    json.extend_from_slice(b"\"}");
    json
}

// ---- servers

struct Clockwork(f64);

impl Source for Clockwork {
    fn subscribe(&self, _: &str, _: Option<Cursor>) -> mpsc::Receiver<Update> {
        let (to, updates) = mpsc::channel(16);
        let every = Duration::from_secs_f64(1.0 / self.0);
        tokio::spawn(async move {
            to.send(Update::Start { after: Cursor { epoch: 1, offset: 0 } }).await?;
            to.send(Update::Live).await?;
            let mut line = String::new();
            // The parent says when everybody is in.
            tokio::task::spawn_blocking(move || std::io::stdin().read_line(&mut line)).await.ok();
            for offset in 1.. {
                tokio::time::sleep(every).await;
                let (json, ingest_us) = (Bytes::from(event()), now_us() as i64);
                let message =
                    Message { offset, event: offset, revision: 1, ingest_us, json, proto: Bytes::new() };
                to.send(Update::Message(message)).await?;
            }
            Ok::<_, mpsc::error::SendError<Update>>(())
        });
        updates
    }
}

struct Everybody;

impl Admit for Everybody {
    fn may(&self, _: &Claims, _: &str, _: Option<&str>) -> Result<(), Refusal> {
        Ok(())
    }
}

fn ours(rate: f64, workers: usize) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let none = service_fn(|_| async {
            Ok::<_, std::convert::Infallible>(http::Response::new(Empty::<Bytes>::new()))
        });
        let deps = Deps {
            source: Arc::new(Clockwork(rate)),
            admit: Arc::new(Everybody),
            keys: None,
            fallback: fanout::fallback(none),
        };
        let config = Config {
            coalesce_ms: 0,
            workers,
            upgrades_per_s: 1_000_000,
            upgrade_burst: 1_000_000,
            ..Config::default()
        };
        let server = Server::open(config, fanout::listen_locally()?, deps).await?;
        println!("{}", server.local_addr()?);
        server.run(CancellationToken::new(), CancellationToken::new()).await;
        Ok(())
    })
}

/// Takes as many connections, and writes each event to each of them: nothing else that a server could leave out.
fn bare(rate: f64, sockets: usize) -> Result<(), Failure> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("{}", listener.local_addr()?);
    let mut all = Vec::with_capacity(sockets);
    let mut request = [0; 1_024];
    while all.len() < sockets {
        let (mut stream, _) = listener.accept()?;
        let _ = stream.read(&mut request)?;
        stream.write_all(b"HTTP/1.1 101 x\r\n\r\n")?;
        stream.set_nodelay(true)?;
        all.push(stream);
    }
    std::io::stdin().read_line(&mut String::new())?;
    loop {
        std::thread::sleep(Duration::from_secs_f64(1.0 / rate));
        let mut frame = vec![0x81, 126, 0, EVENT_BYTES as u8];
        frame.extend(event());
        for stream in &mut all {
            stream.write_all(&frame)?;
        }
    }
}

// ---- the audience

struct Server0 {
    child: Child,
    at: SocketAddr,
}

impl Server0 {
    fn start(which: &str, rate: f64, sockets: usize, workers: usize) -> Result<Server0, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([which, &rate.to_string(), &sockets.to_string(), &workers.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Server0 { child, at: line.trim().parse()? })
    }

    fn go(&mut self) -> Result<(), Failure> {
        Ok(self.child.stdin.as_mut().ok_or("no input")?.write_all(b"go\n")?)
    }

    /// Resident memory that is its own, in KB.
    fn resident_kb(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }

    /// CPU that it used, by itself and in the kernel. Counted in ticks of 10 ms.
    fn cpu(&self) -> Result<[Duration; 2], Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks =
            |n: usize| fields.get(n).unwrap_or(&"").parse::<u64>().map(|n| Duration::from_millis(n * 10));
        Ok([ticks(11)?, ticks(12)?])
    }
}

impl Drop for Server0 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Begins to connect, from an address of this process's own: ports are counted for each address, and others on this
/// machine may use up those of the usual one.
fn connect(to: SocketAddr) -> Result<TcpStream, Failure> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = Ipv4Addr::new(127, 1 + (to.port() % 250) as u8, high, low);
    socket.bind(&SocketAddr::from((own, 0)).into())?;
    // It goes on in the background: writable is connected.
    let _ = socket.connect(&to.into());
    Ok(TcpStream::from_std(socket.into()))
}

struct Audience {
    poll: Poll,
    events: Events,
    sockets: Vec<TcpStream>,
    /// Events by when they were published: how many came, and when the last.
    came: BTreeMap<u128, (usize, u128)>,
    waits_us: Vec<u64>,
}

impl Audience {
    fn new() -> Result<Audience, Failure> {
        let (poll, events) = (Poll::new()?, Events::with_capacity(1_024));
        Ok(Audience { poll, events, sockets: Vec::new(), came: BTreeMap::new(), waits_us: Vec::new() })
    }

    fn connect(&mut self, at: SocketAddr, sockets: usize) -> Result<(), Failure> {
        let mut answered = 0;
        let began = Instant::now();
        while answered < sockets {
            while self.sockets.len() < sockets && self.sockets.len() - answered < OPENING {
                let mut stream = connect(at)?;
                let token = Token(self.sockets.len());
                self.poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
                self.sockets.push(stream);
            }
            if began.elapsed() > Duration::from_secs(120) {
                return Err(format!("only {answered} sockets are in").into());
            }
            self.poll.poll(&mut self.events, Some(Duration::from_millis(100)))?;
            let mut buffer = [0; 4_096];
            for event in &self.events {
                let stream = &mut self.sockets[event.token().0];
                if event.is_readable() {
                    answered += usize::from(
                        stream.read(&mut buffer).is_ok_and(|n| buffer[..n].starts_with(b"HTTP/1.1 101")),
                    );
                } else if event.is_writable() {
                    stream.write_all(REQUEST)?;
                }
            }
        }
        Ok(())
    }

    fn listen(&mut self, until: Instant) -> Result<(), Failure> {
        let mut buffer = [0; 4_096];
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.poll.poll(&mut self.events, Some(left))?;
            for event in &self.events {
                loop {
                    match self.sockets[event.token().0].read(&mut buffer) {
                        Ok(0) => return Err("a socket was closed".into()),
                        Ok(n) => {
                            note(&buffer[..n], &mut self.came, &mut self.waits_us);
                            if n < buffer.len() {
                                break;
                            }
                        }
                        Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
        Ok(())
    }
}

fn note(mut bytes: &[u8], came: &mut BTreeMap<u128, (usize, u128)>, waits_us: &mut Vec<u64>) {
    let mark = b"{\"at\":";
    let now = now_us();
    while let Some(at) = bytes.windows(mark.len()).position(|window| window == mark) {
        let digits = bytes.get(at + mark.len()..at + mark.len() + 20).unwrap_or_default();
        if let Some(published) = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u128>().ok()) {
            let (count, last) = came.entry(published).or_default();
            (*count, *last) = (*count + 1, now);
            waits_us.push((now - published) as u64);
        }
        bytes = &bytes[at + mark.len()..];
    }
}

fn measure(which: &str, sockets: usize, rate: f64, time: Duration, workers: usize) -> Result<(), Failure> {
    let mut server = Server0::start(which, rate, sockets, workers)?;
    let mut audience = Audience::new()?;
    let empty_kb = server.resident_kb()?;
    audience.connect(server.at, sockets)?;
    audience.listen(Instant::now() + Duration::from_secs(2))?;
    let each_kb = (server.resident_kb()? - empty_kb) / sockets as f64;
    server.go()?;
    let before = server.cpu()?;
    audience.listen(Instant::now() + time)?;
    let after = server.cpu()?;
    let [user, kernel] = [after[0] - before[0], after[1] - before[1]];
    let cpu = user + kernel;
    let deliveries = audience.waits_us.len();
    audience.waits_us.sort_unstable();
    let at = |share: f64| {
        audience.waits_us.get((deliveries as f64 * share) as usize).map_or(0.0, |us| *us as f64 / 1e3)
    };
    let mut lasts: Vec<u128> = audience
        .came
        .iter()
        .filter(|(_, (count, _))| *count == sockets)
        .map(|(published, (_, last))| last - published)
        .collect();
    lasts.sort_unstable();
    let last_ms = lasts.last().map_or(0.0, |us| *us as f64 / 1e3);
    println!(
        "{which}: {sockets} sockets, {each_kb:.2} KB each idle; {deliveries} deliveries in {:.2} s of CPU, {:.2} us each \
         ({:.2} of it not the kernel's), {:.0}/CPU-s; p50 {:.1} ms, p99 {:.1} ms; publish to last: worst {last_ms:.1} ms of {} events",
        cpu.as_secs_f64(),
        cpu.as_secs_f64() * 1e6 / deliveries.max(1) as f64,
        user.as_secs_f64() * 1e6 / deliveries.max(1) as f64,
        deliveries as f64 / cpu.as_secs_f64(),
        at(0.5),
        at(0.99),
        lasts.len(),
    );
    Ok(())
}
