//! Where connections wait that ask for nothing: a socket and two numbers each, instead of a task with its timer and its
//! place in the runtime, which take a hundred times as much. A viewer on HTTP/1.1 has some that are busy and some that
//! were good for one object; the latter end here.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use metrics::Gauge;
use mio::net::TcpStream as Waiting;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use slab::Slab;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tracing::{debug, warn};

use super::Shared;
use super::client::Client;
use super::course::Phase;
use crate::limits::{HEADER_TIME_MAX, PARK_AFTER};

/// Of [`Lot::wake`]; the others are keys.
const WAKE: Token = Token(usize::MAX);
/// Sockets that are told of at once.
const EVENTS_MAX: usize = 1_024;
/// How often it is looked for those that have waited too long.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The connections of one server that wait.
pub(crate) struct Lot {
    /// None once nobody watches them any more: whoever comes then is let go of at once.
    parked: Mutex<Option<Slab<Parked>>>,
    registry: Registry,
    waker: Waker,
    count: Gauge,
}

struct Parked {
    socket: Waiting,
    until: Instant,
    place: OwnedSemaphorePermit,
}

impl Lot {
    /// An empty one, for the connections of `shared`. Its thread ends with that.
    ///
    /// # Errors
    ///
    /// The system gives no more descriptors or threads.
    pub(crate) fn open(shared: &Arc<Shared>) -> io::Result<Arc<Lot>> {
        let poll = Poll::new()?;
        let (registry, waker) = (poll.registry().try_clone()?, Waker::new(poll.registry(), WAKE)?);
        let count = shared.edge.meters.idle.clone();
        let lot = Arc::new(Lot { parked: Mutex::new(Some(Slab::new())), registry, waker, count });
        let (watched, runtime, shared) = (lot.clone(), Handle::current(), Arc::downgrade(shared));
        thread::Builder::new()
            .name("parked".to_owned())
            .spawn(move || watched.watch(poll, &shared, &runtime))?;
        Ok(lot)
    }

    /// Lets a connection wait until its client says something, or has said nothing for [`HEADER_TIME_MAX`] in all.
    pub(crate) fn park(&self, socket: TcpStream, place: OwnedSemaphorePermit) -> io::Result<()> {
        let socket = Waiting::from_std(socket.into_std()?);
        let until = Instant::now() + HEADER_TIME_MAX.saturating_sub(PARK_AFTER);
        let mut parked = self.lock();
        let Some(parked) = parked.as_mut() else { return Ok(()) };
        let entry = parked.vacant_entry();
        let token = Token(entry.key());
        let waits = entry.insert(Parked { socket, until, place });
        // What the client has said meanwhile is told of at once.
        if let Err(error) = self.registry.register(&mut waits.socket, token, Interest::READABLE) {
            parked.remove(token.0);
            return Err(error);
        }
        self.count.increment(1);
        Ok(())
    }

    /// Has it look at the phase.
    pub(crate) fn wake(&self) {
        if let Err(error) = self.waker.wake() {
            debug!(%error, "cannot wake those who watch idle connections");
        }
    }

    fn watch(&self, mut poll: Poll, shared: &Weak<Shared>, runtime: &Handle) {
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut looked = Instant::now();
        loop {
            match poll.poll(&mut events, Some(LOOK_EVERY)) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    warn!(%error, "idle connections are not watched any more");
                    break;
                }
                _ => {}
            }
            let Some(shared) = shared.upgrade().filter(|s| s.course.phase() < Phase::Ending) else { break };
            for event in events.iter().filter(|event| event.token() != WAKE) {
                if let Some(parked) = self.take(event.token().0) {
                    self.resume(parked, &shared, runtime);
                }
            }
            let now = Instant::now();
            if now.duration_since(looked) >= LOOK_EVERY {
                looked = now;
                let mut parked = self.lock();
                let Some(parked) = parked.as_mut() else { break };
                let before = parked.len();
                parked.retain(|_, waits| now < waits.until);
                self.count.decrement((before - parked.len()) as f64);
                // A rush that is over should not be paid for any longer.
                if parked.len() < parked.capacity() / 4 {
                    parked.shrink_to_fit();
                }
            }
        }
        let parked = self.lock().take();
        self.count.decrement(parked.map_or(0, |parked| parked.len()) as f64);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Slab<Parked>>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, key: usize) -> Option<Parked> {
        let parked = self.lock().as_mut()?.try_remove(key)?;
        self.count.decrement(1);
        Some(parked)
    }

    fn resume(&self, parked: Parked, shared: &Arc<Shared>, runtime: &Handle) {
        let Parked { mut socket, place, .. } = parked;
        // One that is gone has no address.
        let Ok(peer) = socket.peer_addr() else { return };
        if let Err(error) = self.registry.deregister(&mut socket) {
            return debug!(%error, "an idle connection is lost");
        }
        let shared = shared.clone();
        runtime.spawn(go_on(shared, peer, socket.into(), place));
    }
}

async fn go_on(
    shared: Arc<Shared>,
    peer: SocketAddr,
    socket: std::net::TcpStream,
    place: OwnedSemaphorePermit,
) {
    match TcpStream::from_std(socket) {
        Ok(socket) => Client::new(shared, peer, false).serve(socket, place).await,
        Err(error) => debug!(%error, "an idle connection is lost"),
    }
}
