//! Taking objects back before their time: what is named, and what of it is remembered for objects that cannot be
//! looked through (on disk, or on their way).

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use http::header::{HeaderMap, HeaderName};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tracing::warn;

use crate::limits::{LIFETIME_MAX, PURGES_MAX};
use crate::recall::Now;

/// Fields in which upstreams name the groups that an object belongs to, separated by spaces or commas.
const GROUPS: [HeaderName; 2] =
    [HeaderName::from_static("surrogate-key"), HeaderName::from_static("cache-tag")];

/// What is to be purged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purge {
    /// Which objects.
    #[serde(flatten)]
    pub what: What,
    /// They become stale instead of vanishing: still there if their upstream fails, or while it is asked.
    #[serde(default)]
    pub soft: bool,
}

/// Which objects a purge is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// One, whatever its query and form.
    Path(String),
    /// All whose path begins so: `/{match}/` is a match, `/{match}/{run}/{programme}/` a programme.
    Prefix(String),
    /// All that carry this word in `Surrogate-Key` or `Cache-Tag`.
    Key(String),
    /// All there are.
    All(bool),
}

impl What {
    /// Whether an object of that path may be meant, as far as can be told without its headers.
    pub(crate) fn may_name(&self, path: &str) -> bool {
        matches!(self, What::Key(_)) || self.names(path, &HeaderMap::new())
    }

    /// Whether an object is meant.
    pub(crate) fn names(&self, path: &str, headers: &HeaderMap) -> bool {
        match self {
            What::Path(one) => path == one,
            What::Prefix(prefix) => path.starts_with(&**prefix),
            What::Key(key) => GROUPS
                .iter()
                .flat_map(|name| headers.get_all(name))
                .filter_map(|v| v.to_str().ok())
                .flat_map(|v| v.split([' ', ',']))
                .any(|word| word == key),
            What::All(all) => *all,
        }
    }
}

/// Purges of late.
#[derive(Debug, Default)]
pub(crate) struct Purges {
    list: VecDeque<(Instant, Purge)>,
    /// Purges before this are no longer known one by one: everything before it counts as purged.
    all_before: Option<Instant>,
    /// Where they are written, because what is on disk outlives the process.
    file: Option<PathBuf>,
}

/// The same on the wall clock: milliseconds since the Unix epoch.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Written {
    list: Vec<(u64, Purge)>,
    all_before: Option<u64>,
}

impl Purges {
    /// What was purged of the objects in a folder. If that cannot be read, everything counts as purged.
    pub(crate) fn of(folder: &Path) -> Purges {
        let (file, now) = (folder.join("purges.json"), Now::read());
        let written = match std::fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).unwrap_or_else(|error| {
                warn!(file = %file.display(), %error, "it is not known what was purged; nothing on disk is used");
                Written { all_before: Some(now.wall_ms), ..Written::default() }
            }),
            Err(_) => Written::default(),
        };
        let list = written.list.into_iter().map(|(ms, purge)| (now.steady(ms), purge)).collect();
        Purges { list, all_before: written.all_before.map(|ms| now.steady(ms)), file: Some(file) }
    }

    /// Writes them, whole or not at all.
    fn write(&self) -> std::io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let now = Now::read();
        let list = self.list.iter().map(|(at, purge)| (now.wall(*at), purge.clone())).collect();
        let written = Written { list, all_before: self.all_before.map(|at| now.wall(at)) };
        let next = file.with_extension("next");
        std::fs::write(&next, serde_json::to_vec(&written)?)?;
        std::fs::rename(&next, file)
    }

    /// Remembers a purge for as long as anything may be kept.
    pub(crate) fn push(&mut self, purge: Purge, now: Instant) {
        while self.list.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > LIFETIME_MAX) {
            self.list.pop_front();
        }
        if self.list.len() >= PURGES_MAX
            && let Some((at, _)) = self.list.pop_front()
        {
            self.all_before = Some(at);
        }
        self.list.push_back((now, purge));
        if let Err(error) = self.write() {
            warn!(%error, "a purge could not be written: after a restart what is on disk is as it was before it");
        }
    }

    /// Whether an object that was asked for at that moment has been purged since; and if so, whether softly.
    pub(crate) fn since(&self, asked: Instant, path: &str, headers: &HeaderMap) -> Option<Softly> {
        if self.all_before.is_some_and(|at| asked <= at) {
            return Some(Softly(false));
        }
        let of_it = self
            .list
            .iter()
            .rev()
            .take_while(|(at, _)| *at >= asked)
            .filter(|(_, p)| p.what.names(path, headers));
        of_it.map(|(_, p)| Softly(p.soft)).reduce(|a, b| Softly(a.0 && b.0))
    }
}

/// Whether a purged object may still be given when nothing else can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Softly(pub(crate) bool);

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn purge(json: &str) -> Purge {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_named() {
        let mut headers = HeaderMap::new();
        headers.append("surrogate-key", "match-1 video".parse().unwrap());
        headers.append("cache-tag", "a,b".parse().unwrap());
        for (json, named) in [
            (r#"{"path": "/m/r/p/v/1a.m4s"}"#, true),
            (r#"{"path": "/m/r/p/v/1a"}"#, false),
            (r#"{"prefix": "/m/"}"#, true),
            (r#"{"prefix": "/m2/"}"#, false),
            (r#"{"key": "video", "soft": true}"#, true),
            (r#"{"key": "b"}"#, true),
            (r#"{"key": "match"}"#, false),
            (r#"{"all": true}"#, true),
            (r#"{"all": false}"#, false),
        ] {
            assert_eq!(purge(json).what.names("/m/r/p/v/1a.m4s", &headers), named, "{json}");
        }
    }

    #[test]
    fn what_was_purged_is_known_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let (mut purges, none) = (Purges::of(folder.path()), HeaderMap::new());
        purges.push(purge(r#"{"prefix": "/m/"}"#), Instant::now());
        let again = Purges::of(folder.path());
        let before = Instant::now() - Duration::from_secs(60);
        assert_eq!(again.since(before, "/m/1.ts", &none), Some(Softly(false)));
        assert_eq!(again.since(before, "/n/1.ts", &none), None);
        std::fs::write(folder.path().join("purges.json"), "{").unwrap();
        assert!(Purges::of(folder.path()).since(before, "/n/1.ts", &none).is_some());
    }

    #[test]
    fn what_was_under_way_is_purged_too() {
        let (mut purges, start, none) = (Purges::default(), Instant::now(), HeaderMap::new());
        let at = |s| start + Duration::from_secs(s);
        purges.push(purge(r#"{"prefix": "/m/", "soft": true}"#), at(10));
        assert_eq!(purges.since(at(9), "/m/1.ts", &none), Some(Softly(true)));
        assert_eq!(purges.since(at(11), "/m/1.ts", &none), None);
        assert_eq!(purges.since(at(9), "/n/1.ts", &none), None);
        purges.push(purge(r#"{"prefix": "/m/"}"#), at(20));
        assert_eq!(purges.since(at(9), "/m/1.ts", &none), Some(Softly(false)));
        (0..2 * PURGES_MAX as u64).for_each(|n| purges.push(purge(r#"{"path": "/x"}"#), at(30 + n)));
        assert_eq!(purges.list.len(), PURGES_MAX);
        // It is no longer known whether it was; so it was.
        assert_eq!(purges.since(at(9), "/n/1.ts", &none), Some(Softly(false)));
    }
}
