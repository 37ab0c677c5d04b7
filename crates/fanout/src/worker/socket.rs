//! One connection, as small as it can be: some hundred bytes in its worker's slab. Whatever is not always needed is
//! behind [`Socket::more`] and freed as soon as it is not.

use std::sync::Arc;
use std::time::Duration;

use mio::net::TcpStream;
use pass::Claims;
use smallvec::SmallVec;

use crate::frame::Partial;
use crate::meters::Via;
use crate::says::{Encoding, Say};
use crate::times::{NEVER, Tick};

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its request is awaited.
    Head,
    /// It is told, that way.
    Open(Via),
    /// What is left goes out, nothing more comes, and then it ends.
    Ending,
}

/// A match on a socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sub {
    pub(super) topic: u32,
    /// Where the socket stands in the match's list.
    pub(super) at: u32,
    /// The offset of the event that it is to get next; [`HELD`] until the match is known.
    pub(super) next: u64,
    /// From which offset on events are live, and count as unsent; the highest bit: the client knows.
    live_at: u64,
}

/// The client knows from where on events are live.
const SAID: u64 = 1 << 63;

impl Sub {
    /// One that waits until its match is known.
    pub(super) fn held(topic: u32, at: u32) -> Sub {
        Sub { topic, at, next: HELD, live_at: SAID }
    }

    /// Begins with the event that has offset `next`; from `live_at` on they are live, which is to be said.
    pub(super) fn begin(&mut self, next: u64, live_at: u64) {
        (self.next, self.live_at) = (next, live_at & !SAID);
    }

    /// It is told no more than that.
    pub(super) fn quietly(&mut self) {
        self.live_at |= SAID;
    }

    /// Whether the client is still to hear that it is live.
    pub(super) fn is_catching_up(&self) -> bool {
        self.live_at & SAID == 0
    }

    /// Whether it is to hear that now; it counts as told then.
    pub(super) fn turns_live(&mut self) -> bool {
        let now = self.next >= self.live_at;
        if now {
            self.live_at |= SAID;
        }
        now
    }

    /// From which offset on events count as unsent.
    pub(super) fn counts_from(&self) -> u64 {
        self.live_at & !SAID
    }

    /// What came until that offset was too much at once to be held against anybody.
    pub(super) fn forgive(&mut self, until: u64) {
        self.live_at = (self.live_at & SAID) | (until & !SAID);
    }
}

/// A subscription whose match is not known yet.
pub(super) const HELD: u64 = u64::MAX;

/// Most viewers watch one match or two; more are on the heap.
const SUBS_INLINE: usize = 2;

/// Who is at the other end.
#[derive(Debug)]
pub(super) struct Viewer {
    pub(super) claims: Claims,
    pub(super) country: Option<String>,
}

/// What most sockets have not.
#[derive(Debug, Default)]
pub(super) struct More {
    /// What is left of the last write. It goes first.
    pub(super) rest: Vec<u8>,
    /// Whole control frames, answers, heads of answers. They go next.
    pub(super) control: Vec<u8>,
    /// Read, and not whole yet.
    pub(super) early: Vec<u8>,
    /// Of a message in fragments.
    pub(super) partial: Option<Box<Partial>>,
    /// What a long-poll will be told beside events.
    pub(super) says: Vec<String>,
    /// When a long-poll is answered in any case, and whether the connection stays then.
    pub(super) poll: Option<(Tick, bool)>,
    /// The last ping under back-pressure: RFC 6455, 5.5.3 lets only that be answered, so this cannot grow.
    pub(super) ping: Option<Vec<u8>>,
}

impl More {
    fn is_empty(&self) -> bool {
        self.rest.is_empty()
            && self.control.is_empty()
            && self.early.is_empty()
            && self.partial.is_none()
            && self.says.is_empty()
            && self.poll.is_none()
            && self.ping.is_none()
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) stream: TcpStream,
    pub(super) stage: Stage,
    pub(super) encoding: Encoding,
    /// The kernel takes no more; it says when it does.
    pub(super) blocked: bool,
    /// Nothing more is written: the end was sent.
    pub(super) shut: bool,
    /// The client knows that its token expires.
    pub(super) noticed: bool,
    /// It has been let in before: the next long-poll on it is no new one.
    pub(super) known: bool,
    /// Frames of the client since the worker looked last.
    pub(super) frames: u8,
    /// When something is to be done: a ping, a comment, an end.
    pub(super) due: Tick,
    /// When something was last heard.
    pub(super) heard: Tick,
    /// Since when it takes nothing; only while [`Socket::blocked`].
    pub(super) stuck: Tick,
    /// When the token ends.
    pub(super) expires: Tick,
    pub(super) subs: SmallVec<[Sub; SUBS_INLINE]>,
    pub(super) viewer: Option<Arc<Viewer>>,
    pub(super) more: Option<Box<More>>,
}

impl Socket {
    /// One that was accepted at `now`, and must have said what it wants within that time.
    pub(super) fn new(stream: TcpStream, now: Tick, head: Duration) -> Socket {
        Socket {
            stream,
            stage: Stage::Head,
            encoding: Encoding::Json,
            blocked: false,
            shut: false,
            noticed: false,
            known: false,
            frames: 0,
            due: now.after(head),
            heard: now,
            stuck: NEVER,
            expires: NEVER,
            subs: SmallVec::new(),
            viewer: None,
            more: None,
        }
    }

    /// What it has beside; made if it has nothing.
    pub(super) fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// Frees what is not needed.
    pub(super) fn tidy(&mut self) {
        if self.more.as_ref().is_some_and(|more| more.is_empty()) {
            self.more = None;
        }
    }

    /// How it is told, if it is.
    pub(super) fn via(&self) -> Option<Via> {
        match self.stage {
            Stage::Open(via) => Some(via),
            Stage::Head | Stage::Ending => None,
        }
    }

    /// The subscription to a match.
    pub(super) fn sub(&mut self, topic: u32) -> Option<&mut Sub> {
        self.subs.iter_mut().find(|sub| sub.topic == topic)
    }

    /// Control bytes that wait.
    pub(super) fn control_len(&self) -> usize {
        self.more
            .as_ref()
            .map_or(0, |more| more.control.len() + more.says.iter().map(String::len).sum::<usize>())
    }

    /// Tells it something, once it can be written. Who is at its end is told nothing more.
    pub(super) fn say(&mut self, say: &Say<'_>) {
        let encoding = self.encoding;
        match self.stage {
            Stage::Open(Via::Poll) => {
                let json = say.json();
                self.more().says.push(json);
            }
            Stage::Open(_) => say.write(encoding, &mut self.more().control),
            Stage::Head | Stage::Ending => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of what a socket may cost at all; the rest is the allocator's and the viewer's.
    #[test]
    fn a_socket_is_small() {
        assert!(size_of::<Socket>() <= 144, "{}", size_of::<Socket>());
        assert!(size_of::<Sub>() <= 24);
    }
}
