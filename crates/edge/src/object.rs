//! An object while it arrives and after: one writer, any number of readers behind it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::HeaderMap;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::fetch::Answer;
use crate::head::Head;
use crate::sim::{Broken, broken};
use crate::store::Charge;
use crate::target::Key;

/// One answer under its key. [`crate::fill`] writes it; everyone else reads.
#[derive(Debug)]
pub(crate) struct Object {
    /// What it answers.
    pub(crate) key: Key,
    /// The fields that go upstream with the key: those of who asked first, where they are forwarded.
    pub(crate) fields: HeaderMap,
    /// The one before it, which it may turn out to be still, and which is better than nothing if it fails. Let go
    /// when this one is whole, lest each hold the one before it for ever.
    before: Mutex<Option<Arc<Object>>>,
    /// When it was asked for.
    pub(crate) asked: Instant,
    state: watch::Sender<State>,
    /// Head and body when it is whole: the way of hits, without a lock.
    whole: OnceLock<(Arc<Head>, Bytes)>,
    /// It was purged softly: its fresh time is over.
    softened: AtomicBool,
    /// An answer that turned out to be for one client alone, until one takes it.
    alone: Mutex<Option<Answer>>,
}

/// How far it has come.
#[derive(Debug, Default)]
struct State {
    head: Option<Arc<Head>>,
    /// What has arrived, each with the offset at which it begins; one piece when the object is whole.
    pieces: Vec<(u64, Bytes)>,
    len: u64,
    end: Option<End>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    Failed(Failure),
}

/// What someone finds who looks up an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waiting for the upstream's headers.
    Asked,
    /// Has headers, and bytes are arriving.
    Arriving,
    /// All there, and fresh.
    Fresh,
    /// All there; may be given while it is fetched anew.
    Stale,
    /// All there; may be given when it cannot be fetched, or may be found to be good still.
    Old,
    /// Of no use to anyone new.
    Over,
}

impl Object {
    /// An object that nobody has fetched yet.
    pub(crate) fn new(key: Key, fields: HeaderMap, before: Option<Arc<Object>>, asked: Instant) -> Object {
        Object {
            key,
            fields,
            before: Mutex::new(before),
            asked,
            state: watch::Sender::new(State::default()),
            whole: OnceLock::new(),
            softened: AtomicBool::new(false),
            alone: Mutex::new(None),
        }
    }

    /// Its use for someone who asks at that moment.
    pub(crate) fn phase(&self, now: Instant) -> Phase {
        if let Some((head, _)) = self.whole.get() {
            let soft = self.softened.load(Ordering::Relaxed);
            return match head {
                head if !soft && now < head.fresh_until => Phase::Fresh,
                head if now < head.while_revalidate_until || broken(Broken::StaleForEver) => Phase::Stale,
                head if now < head.if_error_until || head.has_validator() => Phase::Old,
                _ => Phase::Over,
            };
        }
        let state = self.state.borrow();
        match (&state.head, state.end) {
            (_, Some(_)) => Phase::Over,
            (None, None) => Phase::Asked,
            // One that is for those who wait only is found by nobody else.
            (Some(head), None) if now < head.fresh_until => Phase::Arriving,
            (Some(_), None) => Phase::Over,
        }
    }

    /// Whether it may be given at that moment although it could not be fetched anew.
    pub(crate) fn serves_errors(&self, now: Instant) -> bool {
        self.whole.get().is_some_and(|(head, _)| now < head.if_error_until.max(head.while_revalidate_until))
    }

    /// The one before it.
    pub(crate) fn before(&self) -> Option<Arc<Object>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Clients that wait for it or read behind it now.
    pub(crate) fn readers(&self) -> usize {
        self.state.receiver_count()
    }

    /// A place among its readers, to be taken before anything is awaited.
    pub(crate) fn reader(&self) -> Reader {
        Reader(self.state.subscribe())
    }

    /// The head, if it is known.
    pub(crate) fn head(&self) -> Option<Arc<Head>> {
        self.state.borrow().head.clone()
    }

    /// The head and, of an object that is whole, the body.
    pub(crate) fn whole(&self) -> Option<(Arc<Head>, Bytes)> {
        self.whole.get().cloned()
    }

    /// Ends its fresh time now.
    pub(crate) fn soften(&self) {
        self.softened.store(true, Ordering::Relaxed);
    }

    /// The writer: the headers are there.
    pub(crate) fn set_head(&self, head: Head) {
        self.state.send_modify(|s| s.head = Some(Arc::new(head)));
    }

    /// The writer: more bytes.
    pub(crate) fn push(&self, piece: Bytes) {
        self.state.send_modify(|s| {
            let at = s.len;
            s.len += piece.len() as u64;
            s.pieces.push((at, piece));
        });
    }

    /// The writer: that was the last byte. The pieces become one allocation of exactly their size, which carries
    /// what it costs: as they arrive they are slices of a larger read buffer, and each would keep all of it.
    pub(crate) fn finish(&self, charge: Charge) {
        let all = {
            let state = self.state.borrow();
            let mut all = BytesMut::with_capacity(state.len as usize);
            state.pieces.iter().for_each(|(_, piece)| all.extend_from_slice(piece));
            charge.attach(all.freeze())
        };
        self.end_whole(None, all);
    }

    /// The writer: all of it is there at once.
    pub(crate) fn set_whole(&self, head: Head, all: Bytes) {
        self.end_whole(Some(head), all);
    }

    fn end_whole(&self, head: Option<Head>, all: Bytes) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.state.send_modify(|s| {
            s.head = head.map(Arc::new).or_else(|| s.head.take());
            if let Some(head) = &s.head {
                let _ = self.whole.set((head.clone(), all.clone()));
            }
            s.len = all.len() as u64;
            s.pieces = vec![(0, all)];
            s.end = Some(End::Whole);
        });
    }

    /// The writer: the answer may not be shared. Whoever is first takes it.
    pub(crate) fn hand_over(&self, answer: Answer) {
        *self.alone.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    /// The answer that may not be shared, for one of those who waited whose own request would have been the same.
    pub(crate) fn take_alone(&self, fields: &HeaderMap) -> Option<Answer> {
        if *fields != self.fields && !broken(Broken::HandsToAnyone) {
            return None;
        }
        self.alone.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The writer: there will be no more. Does nothing to an object that has ended.
    pub(crate) fn fail(&self, why: Failure) {
        self.state.send_if_modified(|s| {
            let ends = s.end.is_none();
            s.end.get_or_insert(End::Failed(why));
            ends
        });
    }
}

impl State {
    /// The longest run of bytes in `from..to` that is at hand in one piece.
    fn slice(&self, from: u64, to: u64) -> Option<Bytes> {
        let i = self.pieces.partition_point(|(at, piece)| at + piece.len() as u64 <= from);
        let (at, piece) = self.pieces.get(i)?;
        let end = to.min(at + piece.len() as u64);
        (from < end).then(|| piece.slice((from - at) as usize..(end - at) as usize))
    }
}

/// One who waits for an object or reads behind its writer.
#[derive(Debug)]
pub(crate) struct Reader(watch::Receiver<State>);

impl Reader {
    /// Waits for the headers.
    pub(crate) async fn head(&mut self) -> Result<Arc<Head>, Failure> {
        loop {
            {
                let state = self.0.borrow_and_update();
                match (&state.head, state.end) {
                    (Some(head), _) => return Ok(head.clone()),
                    (None, Some(End::Failed(why))) => return Err(why),
                    (None, _) => {}
                }
            }
            if broken(Broken::Polls) {
                tokio::time::sleep(std::time::Duration::from_millis(500)).await;
                continue;
            }
            // A writer that is gone without a word left nothing whole.
            self.0.changed().await.map_err(|_| Failure::Cut)?;
        }
    }

    /// The bytes from `from` up to `to`, or to the end: what is at hand at once, the rest as it arrives.
    pub(crate) fn bytes(
        self,
        from: u64,
        to: Option<u64>,
    ) -> impl Stream<Item = Result<Bytes, Failure>> + Send {
        let to = to.unwrap_or(u64::MAX);
        stream::try_unfold((self, from), move |(mut reader, from)| async move {
            if from >= to {
                return Ok(None);
            }
            loop {
                {
                    let state = reader.0.borrow_and_update();
                    if let Some(bytes) = state.slice(from, to) {
                        let next = from + bytes.len() as u64;
                        drop(state);
                        return Ok(Some((bytes, (reader, next))));
                    }
                    match state.end {
                        Some(End::Whole) => return Ok(None),
                        Some(End::Failed(why)) => return Err(why),
                        None => {}
                    }
                }
                reader.0.changed().await.map_err(|_| Failure::Cut)?;
            }
        })
    }
}
