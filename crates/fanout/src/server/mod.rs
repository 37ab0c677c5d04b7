//! The server: its workers, its feeds, its end.

mod by_hyper;
mod tls;
mod turning;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::admission::Bucket;
use crate::feed::Feed;
use crate::limits::{
    BACKLOG, DRAIN_MAX, FALLBACK_CONNECTIONS_MAX, FILES_SPARE, HANDSHAKES_MAX, SOCKET_SEND_BYTES,
};
use crate::meters::Meters;
use crate::register::{Register, Topic};
use crate::times::Clock;
use crate::worker::{Inbox, Order, Seat, Worker};
use crate::{Config, Deps, Error};

pub(crate) use by_hyper::by_hyper;

/// In the order in which they follow; one may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Everybody is let in.
    Serving,
    /// Those who are in stay; others are told to go elsewhere.
    Leaving,
    /// Everybody is told that it ends.
    Ending,
    /// Whoever is still there is cut.
    Over,
}

/// What all workers have in common.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) deps: Deps,
    pub(crate) clock: Clock,
    pub(crate) meters: Meters,
    pub(crate) bucket: Bucket,
    pub(crate) workers: Arc<[Inbox]>,
    /// For what is not sockets: feeds, and other paths.
    pub(crate) runtime: Handle,
    pub(crate) fallback_places: Arc<Semaphore>,
    /// Connections of other paths are to end.
    pub(crate) ending: CancellationToken,
    register: Arc<Register>,
    phase: AtomicU8,
    sockets: AtomicUsize,
    empty: Notify,
}

impl Shared {
    /// How far the server is on its way to its end.
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Serving,
            1 => Phase::Leaving,
            2 => Phase::Ending,
            _ => Phase::Over,
        }
    }

    fn enter_phase(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.workers.iter().for_each(Inbox::wake);
    }

    /// Sockets that are told something.
    pub(crate) fn sockets(&self) -> usize {
        self.sockets.load(Ordering::Relaxed)
    }

    /// There is one more.
    pub(crate) fn enter_socket(&self) {
        self.sockets.fetch_add(1, Ordering::Relaxed);
    }

    /// There is one less.
    pub(crate) fn leave_socket(&self) {
        if self.sockets.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.empty.notify_one();
        }
    }

    /// Connections that workers hold, whatever they are about.
    pub(crate) fn held(&self) -> usize {
        self.workers.iter().map(Inbox::load).sum()
    }

    /// Gives a connection, and what was read of it, to the worker that has the fewest. False: it has too much to do.
    fn seat(&self, stream: std::net::TcpStream, read: Vec<u8>) -> bool {
        let Some(worker) = self.workers.iter().min_by_key(|worker| worker.load()) else { return false };
        worker.count();
        let taken = worker.offer(Order::Socket(mio::net::TcpStream::from_std(stream), read));
        if !taken {
            worker.uncount();
        }
        taken
    }

    /// A match, one subscription more, which must [`Topic::leave`]. `None`: there are too many.
    pub(crate) fn open(&self, name: &str) -> Option<Arc<Topic>> {
        self.register.open(name, |topic| {
            let feed = Feed {
                topic,
                source: self.deps.source.clone(),
                workers: self.workers.clone(),
                register: self.register.clone(),
                meters: self.meters.clone(),
                window: Duration::from_millis(self.config.coalesce_ms),
                linger: self.config.timing.linger,
            };
            self.runtime.spawn(feed.run(self.ending.clone()));
        })
    }
}

/// A server that has all it needs, and waits only to be run.
pub struct Server {
    shared: Arc<Shared>,
    listener: std::net::TcpListener,
    tls: Option<TlsAcceptor>,
    seats: Vec<Seat>,
}

/// How many watch each match; outlives [`Server::run`].
#[derive(Clone, Debug)]
pub struct Watching(Arc<Register>);

impl Watching {
    /// Sockets that are subscribed to a match here.
    pub fn of(&self, match_id: &str) -> usize {
        self.0.watching(match_id)
    }
}

/// A listener for [`Server::open`]: with `SO_REUSEPORT`, so that several processes may hold one port, and with a long
/// queue for those who come together.
///
/// # Errors
///
/// The address is not to be had.
pub fn listen(at: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.bind(&at.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

impl Server {
    /// Opens what a configuration names. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// What cannot work.
    pub async fn open(config: Config, listener: TcpListener, deps: Deps) -> Result<Server, Error> {
        Server::open_with(config, listener, deps, None).await
    }

    /// The same, over TLS if a configuration of it is given.
    ///
    /// # Errors
    ///
    /// What cannot work.
    pub async fn open_with(
        mut config: Config,
        listener: TcpListener,
        deps: Deps,
        tls: Option<Arc<ServerConfig>>,
    ) -> Result<Server, Error> {
        config.check()?;
        let listener = listener.into_std()?;
        // Linux gives both to the connections that are accepted, so that none costs a call more.
        let tuned = SockRef::from(&listener);
        tuned.set_tcp_nodelay(true)?;
        tuned.set_send_buffer_size(SOCKET_SEND_BYTES)?;
        let count = match config.workers {
            0 => thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        let seats = (0..count).map(|_| Seat::new()).collect::<Result<Vec<_>, _>>()?;
        let files = files_max().saturating_sub(FILES_SPARE);
        let sockets = if tls.is_some() { files.saturating_sub(HANDSHAKES_MAX) / tls::FILES } else { files };
        config.sockets_max = config.sockets_max.min(sockets.max(1));
        let shared = Arc::new(Shared {
            bucket: Bucket::new(config.upgrades_per_s, config.upgrade_burst, Instant::now()),
            config,
            deps,
            clock: Clock::start(),
            meters: Meters::new(),
            workers: seats.iter().map(|seat| seat.inbox.clone()).collect(),
            runtime: Handle::current(),
            fallback_places: Arc::new(Semaphore::new(FALLBACK_CONNECTIONS_MAX)),
            ending: CancellationToken::new(),
            register: Arc::default(),
            phase: AtomicU8::new(Phase::Serving as u8),
            sockets: AtomicUsize::new(0),
            empty: Notify::new(),
        });
        Ok(Server { shared, listener, tls: tls.map(TlsAcceptor::from), seats })
    }

    /// What it is made of, for workers that are stepped by hand.
    #[cfg(test)]
    pub(crate) fn into_parts(self) -> (Arc<Shared>, Vec<Seat>) {
        (self.shared, self.seats)
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// The system does not say.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Sockets that are subscribed to a match now.
    pub fn watching(&self, match_id: &str) -> usize {
        self.shared.register.watching(match_id)
    }

    /// The same for as long as one likes.
    pub fn watch(&self) -> Watching {
        Watching(self.shared.register.clone())
    }

    /// Serves until `shutdown`, which closes sockets with 1001. After `leave` new sockets are told 503 and those that
    /// are open stay; it returns when the last of them has gone.
    pub async fn run(self, shutdown: CancellationToken, leave: CancellationToken) {
        let Server { shared, listener, tls, seats } = self;
        let mut ends = Vec::new();
        let mut listener = Some(listener);
        // None ends before it is told to, unless something is broken; then the others are no server.
        let broken = CancellationToken::new();
        // Ends with this function.
        let mut front = JoinSet::new();
        if let (Some(tls), Some(listener)) = (&tls, listener.take_if(|_| tls.is_some())) {
            match TcpListener::from_std(listener) {
                Ok(listener) => drop(front.spawn(tls::run(shared.clone(), listener, tls.clone()))),
                Err(error) => {
                    error!(%error, "cannot take clients with TLS");
                    broken.cancel();
                }
            }
        }
        for (n, seat) in seats.into_iter().enumerate() {
            match start(&shared, seat, listener.take(), n, broken.clone()) {
                Ok(end) => ends.push(end),
                Err(error) => {
                    error!(%error, "cannot start a worker");
                    broken.cancel();
                }
            }
        }
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = broken.cancelled() => error!("a worker has ended by itself, so the server ends"),
            () = leave.cancelled() => {
                shared.enter_phase(Phase::Leaving);
                let emptied = async {
                    while shared.sockets() > 0 {
                        shared.empty.notified().await;
                    }
                };
                tokio::select! {
                    () = shutdown.cancelled() => {}
                    () = broken.cancelled() => error!("a worker has ended by itself, so the server ends"),
                    () = emptied => {}
                }
            }
        }
        shared.enter_phase(Phase::Ending);
        shared.ending.cancel();
        let ended = timeout(DRAIN_MAX, async {
            for end in &mut ends {
                let _ = end.await;
            }
            while front.join_next().await.is_some() {}
            let _ = shared.fallback_places.acquire_many(FALLBACK_CONNECTIONS_MAX as u32).await;
        });
        if ended.await.is_err() {
            warn!("connections were still open after the last wait; they are cut");
        }
        shared.enter_phase(Phase::Over);
    }
}

/// Files that this process may have open. Beyond them the kernel accepts connections that nobody can answer, so those
/// are refused before.
fn files_max() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next())
        .and_then(|soft| soft.parse().ok())
        .unwrap_or(usize::MAX)
}

/// Starts a worker; what it gives back resolves when the worker has ended.
fn start(
    shared: &Arc<Shared>,
    seat: Seat,
    listener: Option<std::net::TcpListener>,
    n: usize,
    broken: CancellationToken,
) -> std::io::Result<oneshot::Receiver<()>> {
    let worker = Worker::new(shared.clone(), seat, listener)?;
    let (ended, end) = oneshot::channel();
    thread::Builder::new().name(format!("fanout-{n}")).spawn(move || {
        // Also when it panics.
        let _broken = broken.drop_guard();
        worker.run();
        let _ = ended.send(());
    })?;
    Ok(end)
}

/// Any port of this machine, for tests and tools.
///
/// # Errors
///
/// The system has none.
pub fn listen_locally() -> std::io::Result<TcpListener> {
    listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}
