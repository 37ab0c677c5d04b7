//! Passes that a thread has opened.
//!
//! Each thread has its own, so that looking costs no lock. Only passes whose signature holds come in, so they may be
//! found by the end of their text, which is the signature: nobody can make two that collide.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use lru::LruCache;
use pass::Pass;

use super::sessions;

/// Passes of one thread: more viewers than one core serves, at about a kilobyte each.
const PASSES_MAX: usize = 16_384;

/// Guards of which one thread remembers passes: a process has one edge; tests have many.
const GUARDS_MAX: usize = 4;

/// Bytes of a token that it is found by.
const TAIL_BYTES: usize = 16;

/// A pass whose signature holds.
pub(super) struct Entry {
    token: Box<str>,
    pub(super) pass: Pass,
    /// Its session, as [`sessions::name`] makes it.
    pub(super) session: Option<u64>,
    /// The network that it was last seen from.
    pub(super) network: Cell<u64>,
}

impl Entry {
    pub(super) fn new(token: &str, pass: Pass) -> Entry {
        let session = pass.session().map(sessions::name);
        Entry { token: token.into(), pass, session, network: Cell::new(0) }
    }
}

struct Memo {
    guard: u64,
    generation: u64,
    passes: LruCache<[u8; TAIL_BYTES], Rc<Entry>>,
}

thread_local! {
    static MEMOS: RefCell<Vec<Memo>> = const { RefCell::new(Vec::new()) };
}

fn tail(token: &str) -> Option<[u8; TAIL_BYTES]> {
    token.as_bytes().last_chunk().copied()
}

/// An entry of that guard, if it was made in that generation. Everything older is dropped.
pub(super) fn get(guard: u64, generation: u64, token: &str) -> Option<Rc<Entry>> {
    MEMOS.with_borrow_mut(|memos| {
        let Some(memo) = memos.iter_mut().find(|memo| memo.guard == guard) else {
            if memos.len() == GUARDS_MAX {
                memos.remove(0);
            }
            memos.push(Memo { guard, generation, passes: LruCache::unbounded() });
            return None;
        };
        if memo.generation != generation {
            memo.passes.clear();
            memo.generation = generation;
            return None;
        }
        memo.passes.get(&tail(token)?).filter(|entry| *entry.token == *token).cloned()
    })
}

/// Remembers an entry, in the generation in which was last looked for one.
pub(super) fn put(guard: u64, entry: Rc<Entry>) {
    MEMOS.with_borrow_mut(|memos| {
        let memo = memos.iter_mut().find(|memo| memo.guard == guard);
        if let (Some(memo), Some(tail)) = (memo, tail(&entry.token)) {
            memo.passes.put(tail, entry);
            if memo.passes.len() > PASSES_MAX {
                memo.passes.pop_lru();
            }
        }
    });
}

/// Forgets it.
pub(super) fn forget(guard: u64, entry: &Entry) {
    MEMOS.with_borrow_mut(|memos| {
        let memo = memos.iter_mut().find(|memo| memo.guard == guard);
        if let (Some(memo), Some(tail)) = (memo, tail(&entry.token)) {
            memo.passes.pop(&tail);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use pass::{Ask, Document, Gate, cat};

    fn entries(count: usize) -> Vec<Rc<Entry>> {
        let gate = Gate::new(&Document::generate("pavilion", "k").unwrap()).unwrap();
        let make = |n: usize| {
            let claims =
                cat::Claims { expires_s: 100, id: Some(n.to_be_bytes().into()), ..Default::default() };
            let token = gate.sign(&claims, 0).unwrap();
            Rc::new(Entry::new(&token, gate.open(&token, &Ask::get("/", 0)).unwrap()))
        };
        (0..count).map(make).collect()
    }

    #[test]
    fn what_is_remembered_is_bounded_and_ends_with_its_generation() {
        let entries = entries(PASSES_MAX + 1);
        let known = |generation, n: usize| get(7, generation, &entries[n].token).is_some();
        assert!(!known(0, 0));
        entries.iter().for_each(|entry| put(7, entry.clone()));
        assert!(!known(0, 0), "the oldest has made room");
        assert!(known(0, 1) && known(0, PASSES_MAX));
        assert!(get(8, 0, &entries[1].token).is_none(), "of another guard");
        let other = format!("x{}", &entries[1].token[1..]);
        assert!(get(7, 0, &other).is_none(), "it has the same end");
        forget(7, &entries[1]);
        assert!(!known(0, 1) && known(0, 2));
        assert!(!known(1, 2));
        assert!(!known(0, 2), "dropped, not hidden");
    }
}
