//! A programme on air: the core behind a lock, its playlists' versions to wait on, and its timer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use timeline::Utc;
use timeline::name::{Letter, ProgrammePath};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::core::{Event, Programme};
use crate::letters::{LetterKey, Letters};
use crate::limits::{AGREE_MAX, READY_SAMPLES};
use crate::meters::{self, Ready};
use crate::view::View;

/// A programme on air.
pub(crate) struct Live {
    pub(crate) path: ProgrammePath,
    clock: Clock,
    letters: Arc<dyn Letters>,
    core: Mutex<Core>,
    views: Vec<watch::Sender<Arc<View>>>,
    rearm: Notify,
    gone: CancellationToken,
}

struct Core {
    programme: Programme,
    ready: Ready,
    /// For when the timer is set.
    armed: Option<Utc>,
}

impl Live {
    /// Puts a programme on air; its timer runs until [`Self::end`] or until `shutdown`.
    pub(crate) fn start(
        path: ProgrammePath,
        programme: Programme,
        letters: Arc<dyn Letters>,
        clock: Clock,
        shutdown: &CancellationToken,
    ) -> Arc<Live> {
        let now = clock.now();
        let view = |i| watch::Sender::new(Arc::new(View::new(0, programme.snapshot(i), now)));
        let views = (0..programme.tracks().len()).map(view).collect();
        let core = Mutex::new(Core { programme, ready: Ready::new(READY_SAMPLES), armed: None });
        let gone = shutdown.child_token();
        let live = Arc::new(Live { path, clock, letters, core, views, rearm: Notify::new(), gone });
        tokio::spawn(live.clone().run());
        live
    }

    /// Takes it off the air: its timer stops, and who waits is let go.
    pub(crate) fn end(&self) {
        self.gone.cancel();
    }

    /// Cancelled when it is off the air.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// The versions of a track's playlist.
    pub(crate) fn watch(&self, track: usize) -> watch::Receiver<Arc<View>> {
        self.views[track].subscribe()
    }

    /// A track's playlist now.
    pub(crate) fn view(&self, track: usize) -> Arc<View> {
        self.views[track].borrow().clone()
    }

    /// Looks at the core.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Programme, &Ready) -> T) -> T {
        let core = self.lock();
        look(&core.programme, &core.ready)
    }

    /// Changes the core, and tells everyone who waits for what came of it.
    pub(crate) fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut Programme, Utc) -> T) -> T {
        let mut core = self.lock();
        let now = self.clock.now();
        let out = change(&mut core.programme, now);
        self.settle(&mut core, now);
        out
    }

    fn settle(self: &Arc<Self>, core: &mut Core, now: Utc) {
        // Agreeing on a letter can make the next one due at once, so until nothing more happens.
        loop {
            let events = core.programme.take_events();
            if events.is_empty() {
                break;
            }
            for (track, event) in events {
                meters::event(event);
                match event {
                    Event::Propose { msn, letter } => {
                        if let Some(letter) = self.propose(track, msn, letter, core) {
                            core.programme.agreed(track, msn, letter, now);
                        }
                    }
                    Event::Part { encoded_at_us } => core.ready.add(now.0.saturating_sub(encoded_at_us)),
                    _ => {}
                }
            }
        }
        for (i, track) in core.programme.tracks().iter().enumerate() {
            if self.views[i].borrow().version != track.version() {
                let view = View::new(track.version(), core.programme.snapshot(i), now);
                self.views[i].send_replace(Arc::new(view));
            }
        }
        let next = core.programme.next_deadline();
        if next.is_some_and(|next| core.armed.is_none_or(|armed| next < armed)) {
            core.armed = next;
            self.rearm.notify_one();
        }
    }

    /// Asks the other origins; answers at once if that needs no waiting.
    fn propose(self: &Arc<Self>, track: usize, msn: u64, letter: Letter, core: &Core) -> Option<Letter> {
        let name = core.programme.tracks()[track].media().track.clone();
        let key = LetterKey { programme: self.path.clone(), track: name, msn };
        let letters = self.letters.clone();
        let mut asked = Box::pin(async move { letters.agree(&key, letter).await });
        if let Some(agreed) = (&mut asked).now_or_never() {
            return Some(agreed);
        }
        let live = self.clone();
        tokio::spawn(async move {
            let agreed = tokio::time::timeout(AGREE_MAX, asked).await.unwrap_or_else(|_| {
                metrics::counter!("origin_letters_alone_total").increment(1);
                letter
            });
            live.change(|programme, now| programme.agreed(track, msn, agreed, now));
        });
        None
    }

    async fn run(self: Arc<Self>) {
        loop {
            let armed = {
                let mut core = self.lock();
                core.armed = core.programme.next_deadline();
                core.armed
            };
            let due = async {
                match armed {
                    Some(at) => self.clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.gone.cancelled() => return,
                () = self.rearm.notified() => {}
                () = due => self.change(|programme, now| programme.tick(now)),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Core> {
        // A panic under this lock is a bug of one request; the match goes on.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
