//! A worker: a thread with its own sockets, its own copy of each ring, and one loop.
//!
//! The loop takes what the feeds say, writes it, takes what clients say, and looks at a share of its sockets. It never
//! waits for anything but the kernel's readiness.
//!
//! [`enter`] brings connections in, [`listen`] hears what clients say, [`subscribe`] ties sockets to matches,
//! [`deliver`] spreads events, [`pump`] writes, [`look`] keeps time, [`end`] closes.

mod deliver;
mod end;
mod enter;
mod listen;
mod look;
mod poll;
mod pump;
#[cfg(test)]
mod sim;
mod socket;
mod subscribe;
mod topics;

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;
use tokio::sync::mpsc;
use tracing::warn;

use crate::feed::core::Note;
use crate::limits::{EVENTS_PER_TURN, READ_BYTES, STEP, WORKER_QUEUE_MAX};
use crate::register;
use crate::server::{Phase, Shared};
use crate::times::Tick;
use pump::Desk;
use socket::{Socket, Stage};
use topics::Topics;

const WAKER: Token = Token(usize::MAX);
const LISTENER: Token = Token(usize::MAX - 1);

/// What a worker is told.
pub(crate) enum Order {
    /// News of a match.
    Note(Arc<register::Topic>, Note),
    /// A match is no longer followed.
    Over(u32),
    /// A connection, and what was read from it.
    Socket(mio::net::TcpStream, Vec<u8>),
}

/// Where a worker is told.
#[derive(Clone)]
pub(crate) struct Inbox {
    orders: mpsc::Sender<Order>,
    waker: Arc<Waker>,
    load: Arc<AtomicUsize>,
}

impl Inbox {
    /// Tells it, when there is room.
    pub(crate) async fn send(&self, order: Order) {
        if self.orders.send(order).await.is_ok() {
            self.wake();
        }
    }

    /// Tells it, if there is room.
    pub(crate) fn offer(&self, order: Order) -> bool {
        let taken = self.orders.try_send(order).is_ok();
        if taken {
            self.wake();
        }
        taken
    }

    /// Has it look at the server's phase.
    pub(crate) fn wake(&self) {
        if let Err(error) = self.waker.wake() {
            warn!(%error, "cannot wake a worker");
        }
    }

    /// A connection is on its way to it.
    pub(crate) fn count(&self) {
        self.load.fetch_add(1, Ordering::Relaxed);
    }

    /// One did not arrive.
    pub(crate) fn uncount(&self) {
        self.load.fetch_sub(1, Ordering::Relaxed);
    }

    /// Connections that it has.
    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }
}

/// A worker that is not yet running.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    poll: Poll,
    orders: mpsc::Receiver<Order>,
    load: Arc<AtomicUsize>,
    /// The first worker accepts, and hands out.
    listener: Option<TcpListener>,
    /// There may be more to accept than the last turn took.
    accepting: bool,
    sockets: Slab<Socket>,
    topics: Topics,
    dirty: Vec<u32>,
    desk: Desk,
    read: Box<[u8]>,
    now: Tick,
    /// When the next share of the sockets is looked at, and which.
    next_look: Instant,
    step: u32,
    phase: Phase,
}

/// What a worker is made of before the server is: its poll, and where it is told.
pub(crate) struct Seat {
    poll: Poll,
    orders: mpsc::Receiver<Order>,
    pub(crate) inbox: Inbox,
}

impl Seat {
    /// A free one.
    ///
    /// # Errors
    ///
    /// The system has no more of what it takes.
    pub(crate) fn new() -> io::Result<Seat> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
        let (to, orders) = mpsc::channel(WORKER_QUEUE_MAX);
        Ok(Seat { poll, orders, inbox: Inbox { orders: to, waker, load: Arc::default() } })
    }
}

impl Worker {
    /// One in that seat; the first also listens.
    ///
    /// # Errors
    ///
    /// The listener cannot be waited for.
    pub(crate) fn new(
        shared: Arc<Shared>,
        seat: Seat,
        listener: Option<std::net::TcpListener>,
    ) -> io::Result<Worker> {
        let Seat { poll, orders, inbox } = seat;
        let listener = match listener {
            Some(listener) => {
                let mut listener = TcpListener::from_std(listener);
                poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
                Some(listener)
            }
            None => None,
        };
        let now = shared.clock.tick();
        Ok(Worker {
            shared,
            poll,
            orders,
            load: inbox.load,
            listener,
            accepting: true,
            sockets: Slab::new(),
            topics: Topics::default(),
            dirty: Vec::new(),
            desk: Desk::default(),
            read: vec![0; READ_BYTES].into(),
            now,
            next_look: Instant::now() + STEP,
            step: 0,
            phase: Phase::Serving,
        })
    }

    /// Serves until the end.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS_PER_TURN);
        while !self.is_over() {
            if let Err(error) = self.poll.poll(&mut events, Some(self.rest()))
                && error.kind() != ErrorKind::Interrupted
            {
                warn!(%error, "cannot wait for sockets");
                return;
            }
            self.now = self.shared.clock.tick();
            // What is published goes before what is asked.
            self.take_orders();
            for event in &events {
                match event.token() {
                    WAKER => {}
                    LISTENER => self.accepting = true,
                    Token(key) => self.ready(key, event),
                }
            }
            if self.accepting {
                self.accept();
            }
            self.follow_phase();
            if Instant::now() >= self.next_look {
                self.look();
            }
            self.count();
        }
        self.drop_all();
    }

    /// How long to wait for readiness.
    fn rest(&self) -> Duration {
        if self.accepting || !self.orders.is_empty() {
            Duration::ZERO
        } else {
            self.next_look.saturating_duration_since(Instant::now())
        }
    }

    fn ready(&mut self, key: usize, event: &mio::event::Event) {
        let Some(socket) = self.sockets.get(key) else { return };
        if event.is_writable() && socket.blocked {
            self.flow(key);
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.hear(key, event.is_read_closed() || event.is_error());
        }
    }

    fn take_orders(&mut self) {
        for _ in 0..WORKER_QUEUE_MAX {
            let Ok(order) = self.orders.try_recv() else { break };
            match order {
                Order::Note(topic, note) => self.note(&topic, note),
                Order::Over(id) => self.topics.close(id),
                Order::Socket(stream, early) => self.add(stream, early),
            }
        }
        self.flush();
    }

    fn count(&mut self) {
        let meters = &self.shared.meters;
        meters.deliveries.increment(std::mem::take(&mut self.desk.deliveries));
        meters.snapshots.increment(std::mem::take(&mut self.desk.lost));
    }

    /// Writes what a socket is to get, and ends it if that was all, or cannot be.
    fn flow(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        let pumped = self.desk.pump(socket, key, &self.topics, self.now);
        self.pumped(key, pumped);
    }

    fn pumped(&mut self, key: usize, pumped: pump::Pumped) {
        match pumped {
            pump::Pumped::Gone => self.drop_socket(key),
            pump::Pumped::All => self.shut(key),
            pump::Pumped::Blocked => {}
        }
    }

    fn stage(&self, key: usize) -> Option<Stage> {
        self.sockets.get(key).map(|socket| socket.stage)
    }
}
