//! How a request waits: for an event, never longer than it may, and never one too many.

use std::sync::Arc;

use timeline::name::ProgrammePath;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::reply::Reply;
use crate::limits::HOLD_MAX;
use crate::live::Live;
use crate::origin::Origin;
use crate::view::View;

/// A request and its time.
pub(crate) struct Held<'a> {
    origin: &'a Origin,
    until: Instant,
    /// Taken at the first wait.
    place: Option<Place<'a>>,
}

struct Place<'a> {
    _permit: SemaphorePermit<'a>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        metrics::gauge!("origin_held_requests").decrement(1.0);
    }
}

impl<'a> Held<'a> {
    pub(crate) fn new(origin: &'a Origin) -> Held<'a> {
        Held { origin, until: Instant::now() + HOLD_MAX, place: None }
    }

    pub(crate) fn origin(&self) -> &'a Origin {
        self.origin
    }

    /// The programme; an origin that has just started waits for its announcement.
    pub(crate) async fn programme(&mut self, path: &ProgrammePath) -> Result<Arc<Live>, Reply> {
        let absent = || Reply::absent(format!("no programme '{path}' is on air here"), None);
        let mut announced = self.origin.announced();
        loop {
            if let Some(live) = self.origin.find(path) {
                return Ok(live);
            }
            let until = self.until.min(self.origin.empty_until());
            if until <= Instant::now() {
                return Err(absent());
            }
            self.take_place()?;
            tokio::select! {
                changed = timeout_at(until, announced.changed()) => if !matches!(changed, Ok(Ok(()))) {
                    return Err(absent());
                },
                () = self.origin.shutdown().cancelled() => return Err(ending()),
            }
        }
    }

    /// Waits until `look` finds in a version of the track's playlist what it looks for.
    pub(crate) async fn track<T>(
        &mut self,
        live: &Live,
        track: usize,
        mut look: impl FnMut(&Arc<View>) -> Option<Result<T, Reply>>,
    ) -> Result<T, Reply> {
        if let Some(found) = look(&live.view(track)) {
            return found;
        }
        self.take_place()?;
        let mut versions = live.watch(track);
        loop {
            let view = versions.borrow_and_update().clone();
            if let Some(found) = look(&view) {
                return found;
            }
            drop(view);
            tokio::select! {
                changed = versions.changed() => if changed.is_err() {
                    return Err(ending());
                },
                () = live.gone().cancelled() => return Err(ending()),
                () = sleep_until(self.until) => {
                    return Err(Reply::unavailable("what you wait for has not come in time"));
                }
            }
        }
    }

    fn take_place(&mut self) -> Result<(), Reply> {
        if self.place.is_none() {
            let permit = self.origin.places().try_acquire();
            let permit = permit.map_err(|_| Reply::unavailable("too many requests are waiting here"))?;
            metrics::gauge!("origin_held_requests").increment(1.0);
            self.place = Some(Place { _permit: permit });
        }
        Ok(())
    }
}

fn ending() -> Reply {
    Reply::unavailable("this origin is ending, or the programme has made room for another")
}
