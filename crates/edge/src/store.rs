//! What is held in memory: answers by key, bounded in bytes and in number. What the live edge needs leaves last, and
//! of the rest what was least recently used leaves first.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::HeaderMap;
use lru::LruCache;
use tokio::time::Instant;

use crate::disk::Disk;
use crate::failure::Failure;
use crate::head::Head;
use crate::limits::{ALONE_FOR, ENTRIES_MAX, OBJECT_OVERHEAD_BYTES, SHARDS};
use crate::object::{Object, Phase};
use crate::purge::{Purge, Purges, Softly};
use crate::recall::{Now, recalled, stored};
use crate::shed::Class;
use crate::slot::Slot;
use crate::target::Key;
use crate::tier::Tier;

/// The objects of one edge.
#[derive(Debug)]
pub(crate) struct Store {
    shards: Box<[Mutex<Shard>]>,
    // Keys come from clients, so the hash is the keyed one of the standard library.
    hasher: RandomState,
    budget: Arc<Budget>,
    purges: Mutex<Purges>,
    disk: Option<Arc<Tier>>,
}

/// Some of the keys.
#[derive(Debug)]
struct Shard {
    /// What the live edge needs, and everyone may ask for in a moment.
    live: LruCache<Key, Slot, RandomState>,
    /// Everything else.
    rest: LruCache<Key, Slot, RandomState>,
}

/// Bytes that are spoken for: by objects held, by fills under way, and by objects that have left the store and
/// are still being sent to a slow reader.
#[derive(Debug)]
struct Budget {
    used: AtomicU64,
    max: u64,
}

/// What there is for someone who asked.
#[derive(Debug)]
pub(crate) enum Found {
    /// It is whole and fresh.
    Hit(Arc<Object>),
    /// It is whole and may be given although its time is over; whoever gets the second must start its fill.
    Stale(Arc<Object>, Option<Arc<Object>>),
    /// It is being fetched.
    Filling(Arc<Object>),
    /// It was not there: whoever asked must start its fill.
    New(Arc<Object>),
    /// Its answers may not be shared: whoever asks goes alone.
    Alone,
}

impl Store {
    /// An empty one that holds at most `bytes_max` bytes.
    pub(crate) fn new(bytes_max: u64, disk: Option<Arc<Tier>>, purges: Purges) -> Store {
        let empty = || LruCache::unbounded_with_hasher(RandomState::new());
        Store {
            shards: (0..SHARDS).map(|_| Mutex::new(Shard { live: empty(), rest: empty() })).collect(),
            hasher: RandomState::new(),
            budget: Arc::new(Budget { used: AtomicU64::new(0), max: bytes_max }),
            purges: Mutex::new(purges),
            disk,
        }
    }

    /// Head and body of an object that is whole, fresh, and the same for every request.
    pub(crate) fn hit(&self, key: &str, now: Instant) -> Option<(Arc<Head>, Bytes)> {
        let object = self.shard(key).get(key, now)?.only()?.clone();
        (object.phase(now) == Phase::Fresh).then(|| object.whole()).flatten()
    }

    /// Looks up an object, or makes one that is to be filled: of all who ask for the same at one time, exactly one
    /// gets [`Found::New`], or [`Found::Stale`] with something to fill. `fields`: what would go upstream.
    pub(crate) fn find(&self, key: &str, class: Class, fields: &HeaderMap, now: Instant) -> Found {
        let mut shard = self.shard(key);
        if let Some(slot) = shard.get(key, now) {
            let key = slot.key.clone();
            return slot.find(&key, fields, now);
        }
        let key = Key::new(key);
        let mut slot = Slot::new(key.clone(), now);
        let found = slot.find(&key, fields, now);
        let into = if class <= Class::Playlist { &mut shard.live } else { &mut shard.rest };
        into.push(key, slot);
        shard.demote(now);
        let crowded = shard.live.len() + shard.rest.len() > ENTRIES_MAX / SHARDS;
        let evicted = if crowded { shard.evict(now) } else { None };
        drop(shard);
        // The last holder of a large object frees it; not under the lock.
        evicted.into_iter().for_each(|slot| self.spill(slot));
        found
    }

    /// The object's headers are known: what its key varies on, and whether others may find it.
    pub(crate) fn head_known(&self, object: &Arc<Object>, head: &Head) {
        if let Some(slot) = self.shard(object.key.text()).get(object.key.text(), Instant::now()) {
            slot.head_known(object, head);
        }
    }

    /// The object is whole. It replaces the one before it, unless it was purged on its way.
    pub(crate) fn keep(&self, object: &Arc<Object>, now: Instant) {
        let headers = object.head().map(|head| head.headers.clone()).unwrap_or_default();
        // Under the lock, lest a purge go by between the question and the keeping.
        let mut shard = self.shard(object.key.text());
        let purged = self.purges().since(object.asked, object.key.path(), &headers);
        if purged == Some(Softly(true)) {
            object.soften();
        }
        let replaced = match shard.get(object.key.text(), now) {
            Some(slot) if purged != Some(Softly(false)) => slot.keep(object),
            Some(slot) => slot.forget(object, None),
            None => None,
        };
        drop(shard);
        drop(replaced);
    }

    /// Takes this very object out, so that the next who asks fetches anew. Another under its key stays, and so does
    /// what is known of the key if that is paid for.
    pub(crate) fn forget(&self, object: &Arc<Object>, memory: Option<Charge>) {
        let key = object.key.text();
        let mut shard = self.shard(key);
        let Some(slot) = shard.peek_mut(key) else { return };
        let forgotten = slot.forget(object, memory);
        let gone = if slot.is_empty() { shard.live.pop(key).or_else(|| shard.rest.pop(key)) } else { None };
        drop(shard);
        drop((forgotten, gone));
    }

    /// An object that left memory before its time, and was not purged since.
    pub(crate) async fn recall(&self, key: &Key) -> Option<(Head, Bytes)> {
        let disk = self.disk()?;
        let stored = disk.get(key.text()).await?;
        let now = Now::read();
        let purged = self.purges().since(now.steady(stored.stored_ms), key.path(), &stored.headers);
        if stored.fresh_until_ms <= now.wall_ms || purged.is_some() {
            disk.forget(key.text());
            return None;
        }
        Some(recalled(stored, now))
    }

    /// Puts what left memory on disk, if there is one and it is worth it.
    fn spill(&self, slot: Slot) {
        let Some(disk) = self.disk() else { return };
        if let Some(stored) = slot.only().and_then(|object| stored(object, Now::read())) {
            disk.put(slot.key.text(), stored);
        }
    }

    fn disk(&self) -> Option<&Disk> {
        self.disk.as_ref()?.get()
    }

    /// Ends the use of the disk.
    pub(crate) async fn close(&self) {
        if let Some(disk) = self.disk() {
            disk.close().await;
        }
    }

    /// What is held under that key has changed.
    pub(crate) fn invalidate(&self, key: &str) {
        if let Some(disk) = self.disk() {
            disk.forget(key);
        }
        let mut shard = self.shard(key);
        let gone = (shard.live.pop(key), shard.rest.pop(key));
        drop(shard);
        drop(gone);
    }

    /// The object could not be fetched: the one before it is given a while without asking again.
    pub(crate) fn failed(&self, object: &Arc<Object>, now: Instant) {
        if let Some(slot) = self.shard(object.key.text()).peek_mut(object.key.text()) {
            slot.failed(object, now);
        }
    }

    /// Answers to that key may not be shared, for a while. `memory`: what it costs to remember that.
    pub(crate) fn set_alone(&self, key: &str, memory: Charge, now: Instant) {
        if let Some(slot) = self.shard(key).peek_mut(key) {
            slot.set_alone(now + ALONE_FOR, memory);
        }
    }

    /// They may again.
    pub(crate) fn set_shared(&self, key: &str) {
        if let Some(slot) = self.shard(key).peek_mut(key) {
            slot.alone_until = None;
        }
    }

    /// Takes objects back; how many there were.
    pub(crate) fn purge(&self, purge: &Purge, now: Instant) -> usize {
        // First, so that what becomes whole meanwhile is not kept.
        self.purges().push(purge.clone(), now);
        let mut count = 0;
        for at in 0..self.shards.len() {
            // Freed after the lock is given back.
            let mut gone = Vec::new();
            let mut shard = self.lock(at);
            let shard = &mut *shard;
            for slots in [&mut shard.live, &mut shard.rest] {
                slots.iter_mut().for_each(|(_, slot)| gone.extend(slot.purge(purge)));
                let empty = slots.iter().filter(|(_, slot)| slot.is_empty()).map(|(key, _)| key.clone());
                empty.collect::<Vec<_>>().iter().for_each(|key| drop(slots.pop(key)));
            }
            count += gone.len();
        }
        count
    }

    /// A charge for an object that is about to be filled.
    pub(crate) fn charge(&self, key: &Key) -> Result<Charge, Failure> {
        let mut charge = Charge { budget: self.budget.clone(), bytes: 0 };
        self.extend(&mut charge, OBJECT_OVERHEAD_BYTES + key.text().len() as u64)?;
        Ok(charge)
    }

    /// Makes room for `more` bytes, by evicting if need be.
    pub(crate) fn extend(&self, charge: &mut Charge, more: u64) -> Result<(), Failure> {
        while !self.budget.take(more) {
            match self.evict_one(Instant::now()) {
                Some(slot) => self.spill(slot),
                None => return Err(Failure::Memory),
            }
        }
        charge.bytes += more;
        Ok(())
    }

    /// Keys held, and bytes spoken for.
    #[cfg(test)]
    pub(crate) fn size(&self) -> (usize, u64) {
        let entries = |at| {
            let shard = self.lock(at);
            shard.live.len() + shard.rest.len()
        };
        ((0..self.shards.len()).map(entries).sum(), self.bytes())
    }

    /// Bytes spoken for.
    pub(crate) fn bytes(&self) -> u64 {
        self.budget.used.load(Ordering::Relaxed)
    }

    /// Evicts what can be spared most, of all shards.
    fn evict_one(&self, now: Instant) -> Option<Slot> {
        (0..self.shards.len()).for_each(|at| self.lock(at).demote(now));
        let oldest_first = |oldest: fn(&Shard) -> Option<Instant>| {
            let mut shards: Vec<_> =
                (0..self.shards.len()).filter_map(|at| Some((oldest(&self.lock(at))?, at))).collect();
            shards.sort_unstable();
            shards.into_iter().map(|(_, at)| at)
        };
        // A shard has none to spare only if all of it is on its way.
        oldest_first(|shard| Some(shard.rest.peek_lru()?.1.used))
            .find_map(|at| evict(&mut self.lock(at).rest, now))
            .or_else(|| {
                oldest_first(|shard| Some(shard.live.peek_lru()?.1.used))
                    .find_map(|at| evict(&mut self.lock(at).live, now))
            })
    }

    fn shard(&self, key: &str) -> MutexGuard<'_, Shard> {
        self.lock(self.hasher.hash_one(key) as usize % self.shards.len())
    }

    fn lock(&self, shard: usize) -> MutexGuard<'_, Shard> {
        // Nothing that is done under this lock can leave the maps half changed.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn purges(&self) -> MutexGuard<'_, Purges> {
        self.purges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn get(&mut self, key: &str, now: Instant) -> Option<&mut Slot> {
        let slot = match self.live.get_mut(key) {
            Some(slot) => slot,
            None => self.rest.get_mut(key)?,
        };
        slot.used = now;
        Some(slot)
    }

    fn peek_mut(&mut self, key: &str) -> Option<&mut Slot> {
        match self.live.peek_mut(key) {
            Some(slot) => Some(slot),
            None => self.rest.peek_mut(key),
        }
    }

    /// What nobody has asked for of late is no longer of the live edge.
    fn demote(&mut self, now: Instant) {
        while self.live.peek_lru().is_some_and(|(_, slot)| slot.is_quiet(now)) {
            let Some((key, slot)) = self.live.pop_lru() else { break };
            self.rest.push(key, slot);
        }
    }

    fn evict(&mut self, now: Instant) -> Option<Slot> {
        evict(&mut self.rest, now).or_else(|| evict(&mut self.live, now))
    }
}

/// Takes out the least recently used slot in which nothing is being filled. `None` if there is none.
fn evict(slots: &mut LruCache<Key, Slot, RandomState>, now: Instant) -> Option<Slot> {
    for _ in 0..slots.len() {
        let (key, slot) = slots.pop_lru()?;
        if !slot.is_filling(now) {
            return Some(slot);
        }
        // It has readers, and its bytes would stay in memory as long as they do.
        slots.push(key, slot);
    }
    None
}

impl Budget {
    fn take(&self, bytes: u64) -> bool {
        let fits = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.max);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }
}

/// Bytes of the budget, given back when dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Charge {
    /// Binds it to a body: it is given back when the last slice of it is gone, be it in a socket's queue.
    pub(crate) fn attach(self, body: Bytes) -> Bytes {
        Bytes::from_owner(Charged { body, _charge: self })
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

struct Charged {
    body: Bytes,
    _charge: Charge,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod tests;
