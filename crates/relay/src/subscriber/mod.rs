//! A taker's side: subscriptions that outlive connections.

mod feed;
mod session;
mod subs;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::limits::{BATCH, NAME_BYTES_MAX};
use crate::{Connection, Cursor, Limits, Update, wire};
use session::Target;
use subs::Shared;

/// Subscribes to a shard's topics over one connection. Clones are handles to one subscriber; it ends with the last of
/// them, and its receivers with it.
#[derive(Clone)]
pub struct Subscriber {
    shared: Arc<Shared>,
    _task: Arc<Ends>,
}

struct Ends {
    task: AbortHandle,
    shared: Arc<Shared>,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.close();
    }
}

impl Subscriber {
    /// Keeps a connection to one of these addresses (`host:port`), the next one whenever one fails, for as long as there
    /// is a handle. `name` is for the shard's logs. Must be called within a Tokio runtime.
    pub fn connect(addresses: Vec<String>, name: &str, limits: Limits) -> Subscriber {
        Subscriber::to(addresses.into_iter().map(Target::tcp).collect(), name, limits)
    }

    /// The same over connections that `dial` makes.
    pub fn connect_by<D, F>(dial: D, name: &str, limits: Limits) -> Subscriber
    where
        D: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<Connection>> + Send + 'static,
    {
        let target = Target::new("dialled".to_owned(), Box::new(move || Box::pin(dial())));
        Subscriber::to(vec![target], name, limits)
    }

    fn to(targets: Vec<Target>, name: &str, limits: Limits) -> Subscriber {
        let shared = Arc::new(Shared::new(limits.window_messages));
        let name = wire::cut(name, NAME_BYTES_MAX).to_owned();
        let task = tokio::spawn(session::run(shared.clone(), targets, name, limits));
        let task = Ends { task: task.abort_handle(), shared: shared.clone() };
        Subscriber { shared, _task: Arc::new(task) }
    }

    /// What happens to a topic after a cursor; without one, from its beginning. Dropping the receiver unsubscribes.
    ///
    /// What is received is confirmed to the shard when it has been taken out of the channel. A receiver that is not read
    /// holds back nobody else: the shard drops this subscription, and it comes back by itself, from its own cursor, once
    /// the receiver is read again.
    pub fn subscribe(&self, topic: &str, after: Option<Cursor>) -> mpsc::Receiver<Update> {
        let (updates, receiver) = mpsc::channel(BATCH);
        let (key, wake) = self.shared.add(topic, after);
        tokio::spawn(feed::run(self.shared.clone(), key, wake, updates));
        receiver
    }

    /// Whether there is a connection now.
    pub fn is_connected(&self) -> bool {
        self.shared.lock().connected
    }
}
