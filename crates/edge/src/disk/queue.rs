//! What waits for the writer, bounded in bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use tokio::sync::oneshot;

use super::Stored;
use crate::limits::{DISK_FORGET_BYTES_MAX, DISK_QUEUE_BYTES_MAX, OBJECT_OVERHEAD_BYTES};

/// What the writer is told.
#[derive(Debug)]
pub(super) enum Message {
    Put(Box<str>, Stored),
    Forget(Box<str>),
    /// Nothing more is written; answered when the folder is free.
    Close(oneshot::Sender<()>),
}

/// The end that never waits.
#[derive(Debug)]
pub(super) struct Queue {
    sender: Sender<(Message, Ticket)>,
    waiting: Arc<AtomicU64>,
}

/// A place in the queue, given back when dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    waiting: Arc<AtomicU64>,
    bytes: u64,
}

/// An empty one.
pub(super) fn queue() -> (Queue, Receiver<(Message, Ticket)>) {
    let (sender, receiver) = mpsc::channel();
    (Queue { sender, waiting: Arc::default() }, receiver)
}

impl Queue {
    /// Whether there was room for it and somebody to take it.
    pub(super) fn push(&self, message: Message) -> bool {
        let (bytes, max) = match &message {
            Message::Put(_, stored) => (stored.body.len() as u64, DISK_QUEUE_BYTES_MAX),
            Message::Forget(_) => (0, DISK_QUEUE_BYTES_MAX + DISK_FORGET_BYTES_MAX),
            Message::Close(_) => (0, u64::MAX),
        };
        let bytes = bytes + OBJECT_OVERHEAD_BYTES;
        let fits = |waiting: u64| (waiting == 0 || waiting + bytes <= max).then_some(waiting + bytes);
        if self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
            return false;
        }
        self.sender.send((message, Ticket { waiting: self.waiting.clone(), bytes })).is_ok()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::object;

    #[test]
    fn what_waits_is_bounded_and_forgetting_has_room_of_its_own() {
        let (queue, messages) = queue();
        let put = |bytes| Message::Put("/m/1".into(), object(1, bytes));
        // One that is larger than the bound is taken when nothing waits.
        assert!(queue.push(put(DISK_QUEUE_BYTES_MAX as usize + 1)));
        assert!(!queue.push(put(0)));
        drop(messages.try_recv());
        let mut puts = 0;
        while queue.push(put(1 << 20)) {
            puts += 1;
        }
        assert_eq!(puts, DISK_QUEUE_BYTES_MAX / ((1 << 20) + OBJECT_OVERHEAD_BYTES));
        let mut forgotten = 0;
        while queue.push(Message::Forget("/m/1".into())) {
            forgotten += 1;
        }
        assert!(forgotten >= DISK_FORGET_BYTES_MAX / OBJECT_OVERHEAD_BYTES);
        assert!(queue.push(Message::Close(oneshot::channel().0)));
        assert_eq!(messages.try_iter().count() as u64, puts + forgotten + 1);
        assert!(queue.push(put(1 << 20)));
        drop(messages);
        assert!(!queue.push(put(0)));
        assert_eq!(queue.waiting.load(Ordering::Relaxed), 0);
    }
}
