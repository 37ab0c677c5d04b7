//! How long an answer may be given, from what its origin said: the rule in its own words, not the code's.

use std::time::Duration;

use super::scenario::{Lifetime, Private, Says, Varies};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Media,
    Playlist,
    Other,
}

/// Of a target.
pub(super) fn kind(target: &str) -> Kind {
    let path = target.split('?').next().unwrap_or_default();
    match path.rsplit('.').next() {
        Some("m4s") => Kind::Media,
        Some("m3u8") => Kind::Playlist,
        _ => Kind::Other,
    }
}

/// The number in a media name, and all but the number.
pub(super) fn track_and_number(target: &str) -> Option<(&str, u64)> {
    let (track, name) = target.rsplit_once('/')?;
    let digits = name.find(|c: char| !c.is_ascii_digit())?;
    (kind(target) == Kind::Media).then_some(())?;
    Some((track, name[..digits].parse().ok()?))
}

/// Times since the answer's head, each to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) fresh: Duration,
    pub(super) while_revalidate: Duration,
    pub(super) if_error: Duration,
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn seconds(s: Option<u8>) -> Option<Duration> {
    s.map(|s| ms(1_000 * u64::from(s)))
}

/// How long an answer may be given to those who did not wait for it; `None`: not at all. `behind`: it is media of a
/// segment before the newest.
pub(super) fn life(status: u16, says: &Says, kind: Kind, web: bool, behind: bool) -> Option<Life> {
    let said = match says.life {
        Lifetime::Unsaid => None,
        Lifetime::Ms(left) => Some(ms(left.into())),
        Lifetime::MaxAge(max, age) => Some(ms(1_000 * u64::from(max.saturating_sub(age)))),
    };
    let only_fresh = |fresh: Duration| {
        (!fresh.is_zero()).then_some(Life { fresh, while_revalidate: fresh, if_error: fresh })
    };
    if status >= 400 {
        return match (web, behind && kind == Kind::Media) {
            (true, _) => only_fresh(said.unwrap_or_default()),
            // A second at most, and only where nothing can appear.
            (false, true) => {
                let unsaid = if status == 404 || status == 410 { ms(1_000) } else { ms(0) };
                only_fresh(said.unwrap_or(unsaid).min(ms(1_000)))
            }
            (false, false) => None,
        };
    }
    let fresh = said.unwrap_or_default();
    if fresh.is_zero() && !says.etag {
        return None;
    }
    let (mut stale, mut failing) = (
        seconds(says.while_revalidate).unwrap_or_default().min(ms(60_000)),
        seconds(says.if_error).unwrap_or(ms(60_000)).min(ms(600_000)),
    );
    if kind == Kind::Playlist {
        // Never older than twice its rule, and never more than two target durations too old.
        stale = stale.min(fresh).min(ms(4_000));
        failing = failing.min(fresh).min(ms(4_000));
    }
    if says.strict {
        (stale, failing) = (ms(0), ms(0));
    }
    Some(Life { fresh, while_revalidate: fresh + stale, if_error: fresh + stale.max(failing) })
}

/// Whether an answer is for one client alone.
pub(super) fn is_private(status: u16, says: &Says, web: bool) -> bool {
    match says.private {
        _ if says.varies == Varies::Star => true,
        Private::No => false,
        Private::Cookie => true,
        // That there is no media is no secret.
        Private::NoStore | Private::Said => web || status < 400,
    }
}
