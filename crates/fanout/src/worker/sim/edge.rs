//! A socket edge whose worker is stepped by hand.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pass::Claims;
use relay::{Cursor, Limits, Subscriber, Update};
use socket2::{Domain, Socket, Type};
use tokio::sync::mpsc;

use super::ground::Ground;
use crate::server::Shared;
use crate::times::Tick;
use crate::worker::Worker;
use crate::{Admit, Config, Deps, Refusal, Server, Source, listen_locally};

/// What the kernel holds for a socket here: little, so that viewers who do not read are felt.
const SEND_BYTES: usize = 4_096;
/// A worker looks at a share of its sockets once in so many steps.
const LOOK_STEPS: u32 = 5;

struct Relayed(Subscriber);

impl Source for Relayed {
    fn subscribe(&self, topic: &str, after: Option<Cursor>) -> mpsc::Receiver<Update> {
        self.0.subscribe(topic, after)
    }
}

struct Everybody;

impl Admit for Everybody {
    fn may(&self, _: &Claims, _: &str, _: Option<&str>) -> Result<(), Refusal> {
        Ok(())
    }
}

pub(super) struct Edge {
    shared: Arc<Shared>,
    worker: Option<Worker>,
    began: tokio::time::Instant,
    steps: u32,
}

impl Edge {
    pub(super) async fn start(ground: &Ground, window: Duration) -> Edge {
        let subscriber = Subscriber::connect_by(ground.dial(), "edge", Limits::default());
        let other = hyper::service::service_fn(|_: http::Request<hyper::body::Incoming>| async {
            Ok::<_, std::convert::Infallible>(http::Response::new(
                http_body_util::Empty::<bytes::Bytes>::new(),
            ))
        });
        let deps = Deps {
            source: Arc::new(Relayed(subscriber)),
            admit: Arc::new(Everybody),
            keys: None,
            fallback: crate::fallback(other),
        };
        let config = Config { coalesce_ms: window.as_millis() as u64, workers: 1, ..Config::default() };
        let server = Server::open(config, listen_locally().unwrap(), deps).await.unwrap();
        let (shared, mut seats) = server.into_parts();
        let worker = Worker::new(shared.clone(), seats.remove(0), None).unwrap();
        Edge { shared, worker: Some(worker), began: tokio::time::Instant::now(), steps: 0 }
    }

    /// It is gone in the middle of whatever it did.
    pub(super) fn kill(&mut self) {
        self.worker = None;
        self.shared.ending.cancel();
    }

    /// A new connection: the viewer's end.
    pub(super) fn connect(&mut self) -> Option<TcpStream> {
        let worker = self.worker.as_mut()?;
        let (theirs, ours) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
        ours.set_send_buffer_size(SEND_BYTES).unwrap();
        for end in [&theirs, &ours] {
            end.set_nonblocking(true).unwrap();
        }
        worker.load.fetch_add(1, Ordering::Relaxed);
        worker.add(mio::net::TcpStream::from_std(ours.into()), Vec::new());
        Some(theirs.into())
    }

    /// One turn of the worker's loop, with every socket ready.
    pub(super) fn step(&mut self) {
        let Some(worker) = &mut self.worker else { return };
        worker.now = Tick::of(self.began.elapsed());
        worker.take_orders();
        let keys: Vec<usize> = worker.sockets.iter().map(|(key, _)| key).collect();
        for key in keys {
            if worker.sockets.get(key).is_some_and(|socket| socket.blocked) {
                worker.flow(key);
            }
            worker.hear(key, false);
        }
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK_STEPS) {
            worker.look();
        }
        worker.count();
    }
}
