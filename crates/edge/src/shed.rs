//! Who is answered when not all can be: the live edge before everything else, by places that the others cannot take.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::REQUESTS_MAX;
use crate::live::Place;
use crate::rules::Kind;

/// What a request is for, the dearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Media at the live edge.
    Live,
    /// Playlists.
    Playlist,
    /// Media of the past.
    Dvr,
    /// Creatives, images, pages.
    Other,
}

impl Class {
    /// All of them.
    pub(crate) const ALL: [Class; 4] = [Class::Live, Class::Playlist, Class::Dvr, Class::Other];

    /// What an object is.
    pub(crate) fn of(kind: Kind, place: Place) -> Class {
        match (kind, place) {
            (Kind::Playlist, _) => Class::Playlist,
            (Kind::Media, Place::Dvr) => Class::Dvr,
            (Kind::Media, _) => Class::Live,
            (Kind::Other, _) => Class::Other,
        }
    }

    /// In the words of metrics and logs.
    pub(crate) fn name(self) -> &'static str {
        ["live", "playlist", "dvr", "other"][self as usize]
    }

    /// Percent of all places that it may fill. A stall of the picture is worse than a late menu, and a playlist
    /// that is refused is asked again by a player that has media for seconds.
    fn share(self) -> usize {
        [100, 95, 80, 60][self as usize]
    }
}

/// Requests under way.
#[derive(Debug)]
pub(crate) struct Shed {
    under_way: AtomicUsize,
    max: usize,
}

/// A request's place; given back when dropped.
#[derive(Debug)]
pub(crate) struct Ticket(Arc<Shed>);

impl Shed {
    /// With room for [`REQUESTS_MAX`].
    pub(crate) fn new() -> Arc<Shed> {
        Shed::of(REQUESTS_MAX)
    }

    /// With room for so many.
    pub(crate) fn of(max: usize) -> Arc<Shed> {
        Arc::new(Shed { under_way: AtomicUsize::new(0), max })
    }

    /// A place for a request, unless those for its class are taken.
    pub(crate) fn admit(self: &Arc<Self>, class: Class) -> Option<Ticket> {
        let max = self.max * class.share() / 100;
        if self.under_way.fetch_add(1, Ordering::Relaxed) >= max {
            self.under_way.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Ticket(self.clone()))
    }

    /// Requests under way now.
    #[cfg(test)]
    pub(crate) fn under_way(&self) -> usize {
        self.under_way.load(Ordering::Relaxed)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_are_refused_last() {
        let shed = Shed::of(100);
        let mut held: Vec<Ticket> = Vec::new();
        for (class, until) in
            [(Class::Other, 60), (Class::Dvr, 80), (Class::Playlist, 95), (Class::Live, 100)]
        {
            while let Some(ticket) = shed.admit(class) {
                held.push(ticket);
            }
            assert_eq!(held.len(), until, "{class:?}");
            assert!(Class::ALL.iter().filter(|c| **c >= class).all(|c| shed.admit(*c).is_none()));
        }
        drop(held);
        assert_eq!(shed.under_way(), 0);
        assert!(shed.admit(Class::Other).is_some());
    }
}
