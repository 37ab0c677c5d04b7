//! The judge: what of a record may not be. It knows what the origin said and when, and the rules; nothing of how the
//! edge keeps them.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use http::header::{
    ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_RANGE, COOKIE, ETAG, HeaderName, IF_NONE_MATCH,
    RANGE, SET_COOKIE,
};
use http::{HeaderMap, Method as Verb};
use tokio::time::Instant;

use super::client::{End, Seen};
use super::model::{Kind, Life, is_private, kind, life, track_and_number};
use super::origin::{Fetched, Given};
use super::scenario::{Method, Patience, Varies};
use super::world::Record;
use crate::lifetime::LIFETIME;
use crate::limits::{ALONE_FOR, HOLD_MAX, JITTER_PART, LOOKUPS_MAX, NOT_YET_EVERY, NOT_YET_MAX, STALE_RETRY};

/// What is asked of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A body is that of its fetch to the last byte, or an error: never a short clean end.
    Whole,
    /// An answer is to the question that was asked, fields that it varies on included.
    Keyed,
    /// What is for one client is given to one, and to the one that it is for.
    Private,
    /// Nothing is given after its time, or after it was purged.
    Fresh,
    /// Nobody is told of a fault that there was not.
    Faultless,
    /// No fetch is made for what is held or on its way.
    Once,
    /// Who waits is woken when there is something, waits for no more than one answer that is another's, and not for
    /// ever.
    Prompt,
    /// Memory is bounded, and given back; so are places.
    Bounded,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) rule: Rule,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

/// All that is wrong with a run.
pub(super) fn judge(record: &Record) -> Vec<Fault> {
    let mut court = Court { record, faults: Vec::new() };
    for seen in &record.seen {
        court.judge(seen);
    }
    court.fetches();
    if let Some(bytes) = record.over {
        court.blame(Rule::Bounded, format!("{bytes} bytes were spoken for"));
    }
    if record.left != (0, 0, 0) {
        court.blame(
            Rule::Bounded,
            format!("in the end {:?} bytes, requests, lone answers are held", record.left),
        );
    }
    court.faults
}

struct Court<'a> {
    record: &'a Record,
    faults: Vec<Fault>,
}

impl Court<'_> {
    fn blame(&mut self, rule: Rule, what: String) {
        self.faults.push(Fault { rule, what });
    }

    fn web(&self) -> bool {
        self.record.scenario.web
    }

    fn small(&self) -> bool {
        self.record.scenario.small
    }

    /// One client.
    fn judge(&mut self, seen: &Seen) {
        let client = &self.record.scenario.clients[seen.client];
        let who = format!("#{} {}", seen.client, seen.target);
        let waited = seen.answered.unwrap_or(seen.ended) - seen.asked;
        if waited > self.wait_max() {
            self.blame(Rule::Prompt, format!("{who} waited for {waited:?}"));
        }
        let Some(answered) = seen.answered else { return };
        if client.method == Method::Post {
            // Only what it changes for others counts.
            return;
        }
        let of = seen.fetch();
        let Some(fetched) = of.map(|of| &self.record.fetched[of]) else {
            if let Some(why) = self.unfounded(seen, answered) {
                self.blame(Rule::Faultless, format!("{who} was told {}, {why}", seen.status));
            }
            return;
        };
        let who = format!("{who} given {} of fetch {}", seen.status, of.unwrap_or_default());
        if let Some(why) = self.foreign(seen, fetched) {
            self.blame(Rule::Keyed, format!("{who}: {why}"));
        }
        if let Some(why) = self.untrue(seen, fetched, answered) {
            self.blame(Rule::Whole, format!("{who}: {why}"));
        }
        if let Some(why) = self.indiscreet(seen, fetched) {
            self.blame(Rule::Private, format!("{who}: {why}"));
        }
        if let Some(why) = self.stale(seen, fetched, of.unwrap_or_default(), answered) {
            self.blame(Rule::Fresh, format!("{who}: {why}"));
        }
        if let Some(why) = self.tardy(seen, fetched, answered) {
            self.blame(Rule::Prompt, format!("{who}: {why}"));
        }
    }

    /// The longest that anyone may wait for a head: for a fetch that is held and then asked for again, and after
    /// it for one of its own; where answers vary, several times.
    fn wait_max(&self) -> Duration {
        let fetch = NOT_YET_MAX + NOT_YET_EVERY * 2 + HOLD_MAX;
        if self.web() { fetch * LOOKUPS_MAX as u32 + HOLD_MAX } else { fetch + HOLD_MAX }
    }

    /// A status that no origin gave: what there was not to cause it.
    fn unfounded(&self, seen: &Seen, answered: Instant) -> Option<&'static str> {
        let late = seen.status == 504;
        let failed = |f: &Fetched| {
            f.target == seen.target
                && matches!(f.given, Given::Failed)
                && f.answered.is_some_and(|at| {
                    seen.asked <= at && at <= answered && late == (at - f.asked >= HOLD_MAX)
                })
        };
        match seen.status {
            502 | 504 if self.has_better(seen, answered) => Some("and there was an older answer"),
            502 | 504 => (!self.record.fetched.iter().any(failed)).then_some("and no fetch had failed"),
            503 => (!self.small()).then_some("and there was room"),
            416 => (!seen.fields.contains_key(RANGE)).then_some("and asked for all of it"),
            _ => Some("which nobody said"),
        }
    }

    /// Whether there surely was an answer that may be given when the upstream fails: the only one so far.
    fn has_better(&self, seen: &Seen, at: Instant) -> bool {
        let coded =
            |fields: &HeaderMap| fields.contains_key(ACCEPT_ENCODING) && kind(&seen.target) == Kind::Playlist;
        let same = |f: &&Fetched| {
            f.target == seen.target && coded(&f.fields) == coded(&seen.fields) && f.asked <= at
        };
        let (failed, answers): (Vec<_>, Vec<_>) =
            self.record.fetched.iter().filter(same).partition(|f| matches!(f.given, Given::Failed));
        let [only] = answers[..] else { return false };
        // It was there when those that failed were begun.
        let before = only.ended.is_some_and(|ended| failed.iter().all(|f| ended < f.asked));
        let held = only.whole && before && !self.private(only);
        let (Some(there), Some(life)) = (only.answered, self.life(only)) else { return false };
        let in_time = at < there + life.if_error - life.fresh / JITTER_PART;
        let purged = self
            .purges(&seen.target, true)
            .any(|then| then + NOT_YET_MAX + HOLD_MAX >= only.asked && then <= at);
        held && in_time && !purged && !self.small() && !self.web()
    }

    /// Another question's answer.
    fn foreign(&self, seen: &Seen, fetched: &Fetched) -> Option<String> {
        if fetched.target != seen.target {
            return Some(format!("that is {}", fetched.target));
        }
        let same = |name: &str| fetched.fields.get(name) == seen.fields.get(name);
        if !self.web() {
            let gzip = |fields: &HeaderMap| fields.contains_key(ACCEPT_ENCODING);
            let coded = kind(&seen.target) == Kind::Playlist && gzip(&seen.fields);
            return (gzip(&fetched.fields) != coded).then(|| "of another coding".to_owned());
        }
        let other = varied(&fetched.given).iter().find(|name| !same(name))?;
        Some(format!("for another {other}"))
    }

    /// A body that is not what the origin sent, or ended in a way in which that did not.
    fn untrue(&self, seen: &Seen, fetched: &Fetched, answered: Instant) -> Option<String> {
        let client = &self.record.scenario.clients[seen.client];
        if client.method == Method::Head || seen.status == 304 {
            let known = seen.headers.get(ETAG).is_some_and(|tag| seen.fields.get(IF_NONE_MATCH) == Some(tag));
            if seen.status == 304 && !known {
                return Some("304 to one who does not have it".to_owned());
            }
            return (!seen.body.is_empty()).then(|| "with a body".to_owned());
        }
        let range = match part(seen) {
            Ok(range) => range.unwrap_or(0..fetched.body.len()),
            Err(why) => return Some(why),
        };
        let Some(body) = fetched.body.get(range.clone()) else {
            return Some(format!("{range:?} of {} bytes", fetched.body.len()));
        };
        if !body.starts_with(&seen.body) {
            return Some("with other bytes".to_owned());
        }
        match seen.end {
            End::Left => None,
            End::Clean if seen.body.len() == body.len() && (fetched.whole || seen.status == 206) => None,
            End::Clean => Some(format!("ends after {} of {} bytes", seen.body.len(), body.len())),
            End::Error(why) if fetched.whole && !self.small() => {
                Some(format!("ends with '{why}' but was whole"))
            }
            End::Error(_) => None,
        }
        .or_else(|| {
            // Bytes are passed on in the moment in which they arrive.
            let there = fetched.ended.map_or(answered, |at| at.max(answered));
            let reads = matches!(client.patience, Patience::Reads) && seen.end == End::Clean;
            (reads && seen.ended > there).then(|| format!("{:?} after its last byte", seen.ended - there))
        })
    }

    /// What is for one client, given to others.
    fn indiscreet(&self, seen: &Seen, fetched: &Fetched) -> Option<String> {
        let personal = fetched.fields.contains_key(AUTHORIZATION);
        let private = self.private(fetched) || personal;
        let own = |name: &HeaderName| fetched.fields.get(name) == seen.fields.get(name);
        let plain = matches!(fetched.given, Given::Answer { .. }) && self.life(fetched).is_none();
        if self.web() && plain && !own(&COOKIE) {
            return Some("which nobody said may be kept, for one with another cookie".to_owned());
        }
        if !private {
            return seen.headers.contains_key(SET_COOKIE).then(|| "with a cookie".to_owned());
        }
        let others = self.record.seen.iter().filter(|s| s.fetch() == seen.fetch() && !std::ptr::eq(*s, seen));
        if let Some(other) = others.map(|s| s.client).next() {
            return Some(format!("which #{other} was given too"));
        }
        let theirs =
            [COOKIE, AUTHORIZATION, ACCEPT_LANGUAGE].into_iter().find(|name| self.web() && !own(name))?;
        Some(format!("for one with another {theirs}"))
    }

    fn private(&self, fetched: &Fetched) -> bool {
        match &fetched.given {
            Given::Answer { status, says } => is_private(*status, says, self.web()),
            _ => false,
        }
    }

    /// What has had its time.
    fn stale(&self, seen: &Seen, fetched: &Fetched, of: usize, at: Instant) -> Option<String> {
        if let Some(purged) = self.purged(&seen.target, fetched.asked, seen.asked) {
            return Some(format!("asked for {:?} before it was purged", purged - fetched.asked));
        }
        // Who waited may have whatever came.
        let waited = |f: &Fetched| f.answered.is_some_and(|there| there >= seen.asked);
        if waited(fetched) {
            return None;
        }
        let mut lives = Vec::new();
        for confirmed in
            self.record.fetched.iter().filter(|f| matches!(f.given, Given::Same { of: o, .. } if o == of))
        {
            if waited(confirmed) && confirmed.target == seen.target {
                return None;
            }
            lives.extend(self.life(confirmed).map(|life| (confirmed.answered, life)));
        }
        lives.extend(self.life(fetched).map(|life| (fetched.answered, life)));
        let left =
            seen.headers.get(LIFETIME).and_then(|v| v.to_str().ok()?.parse().ok()).map(Duration::from_millis);
        let mut why = "nobody who had not waited for it may have it".to_owned();
        for (since, life) in lives {
            let Some(age) = since.and_then(|since| at.checked_duration_since(since)) else { continue };
            why = format!("{age:?} old, with a life of {life:?}");
            let said = left.is_none_or(|left| left <= life.fresh.saturating_sub(age));
            let ill = self.small() || self.failed(&seen.target, at);
            if said && (age <= life.while_revalidate || (ill && age <= life.if_error)) {
                return None;
            }
        }
        Some(why)
    }

    /// The first moment between these at which that target was taken back.
    fn purged(&self, target: &str, after: Instant, before: Instant) -> Option<Instant> {
        self.purges(target, false).find(|at| after < *at && *at < before)
    }

    /// When that target was taken back: by a purge, or by a request that changes things.
    fn purges<'b>(&'b self, target: &'b str, soft: bool) -> impl Iterator<Item = Instant> + 'b {
        let path = target.split('?').next().unwrap_or_default();
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static("surrogate-key"),
            "match media".parse().unwrap(),
        )]);
        let purges =
            self.record.purges.iter().filter(move |(_, p)| (soft || !p.soft) && p.what.names(path, &headers));
        let changes = self.record.fetched.iter().filter(move |f| {
            let done = matches!(f.given, Given::Answer { status: ..400, .. });
            done && f.method == Verb::POST && f.target == target
        });
        purges.map(|(at, _)| *at).chain(changes.filter_map(|f| f.answered))
    }

    /// Whether the origin was in trouble with that target just before.
    fn failed(&self, target: &str, at: Instant) -> bool {
        let just = |then: Option<Instant>| then.is_some_and(|then| then <= at && at - then <= STALE_RETRY);
        self.record.fetched.iter().filter(|f| f.target == target).any(|f| match f.given {
            Given::Failed => just(f.answered),
            Given::Answer { status: 500.., .. } => just(f.answered),
            Given::Answer { .. } => !f.whole && just(f.ended),
            _ => false,
        })
    }

    fn life(&self, fetched: &Fetched) -> Option<Life> {
        let (status, says) = match &fetched.given {
            Given::Answer { status, says } => (*status, *says),
            Given::Same { says, .. } => (200, *says),
            _ => return None,
        };
        let behind = track_and_number(&fetched.target).is_some_and(|(track, number)| {
            self.record.fetched.iter().any(|f| {
                let good =
                    matches!(f.given, Given::Answer { status: 200, .. }) && f.answered <= fetched.answered;
                good && track_and_number(&f.target).is_some_and(|(t, newest)| t == track && number < newest)
            })
        });
        life(status, &says, kind(&fetched.target), self.web(), behind)
    }

    /// Waited for what there was already, or for what is others'.
    fn tardy(&self, seen: &Seen, fetched: &Fetched, answered: Instant) -> Option<String> {
        if self.web() {
            return None;
        }
        let there = fetched.answered?;
        if seen.asked <= there && answered != there {
            return Some(format!("{:?} after it was there", answered - there));
        }
        let same = |f: &Fetched| {
            f.target == seen.target && f.fields.get(ACCEPT_ENCODING) == fetched.fields.get(ACCEPT_ENCODING)
        };
        // What is not there yet is asked for again, on behalf of all.
        let final_ = |f: &Fetched| !matches!(f.given, Given::Answer { status: 404, .. });
        let others = self.record.fetched.iter().filter(|f| same(f) && self.private(f) && final_(f));
        let others: Vec<_> = others.filter_map(|f| Some((f.asked, f.answered?))).collect();
        // Back from one's own: each began in the moment in which the one before it turned out to be another's.
        let (mut waits, mut at) = (0, fetched.asked);
        while at > seen.asked {
            let before =
                others.iter().filter(|(begun, end)| *end == at && *begun < at).map(|(begun, _)| *begun);
            let Some(begun) = before.min() else { break };
            (waits, at) = (waits + 1, begun);
        }
        (waits > 1).then(|| format!("after waiting for {waits} answers that were others'"))
    }

    /// Fetches that need not have been made.
    fn fetches(&mut self) {
        let fetched = &self.record.fetched;
        for (later, second) in fetched.iter().enumerate() {
            if second.target.contains(super::world::PASS) {
                self.blame(Rule::Keyed, format!("fetch {later} is of {}", second.target));
            }
            for (earlier, first) in fetched[..later].iter().enumerate() {
                if first.target == second.target && self.is_one_too_many(first, second) {
                    let what = format!("fetch {later} of {} while {earlier} was good", second.target);
                    self.blame(Rule::Once, what);
                }
            }
        }
    }

    fn is_one_too_many(&self, first: &Fetched, second: &Fetched) -> bool {
        let shared = |f: &Fetched| f.method == Verb::GET && !f.fields.contains_key(AUTHORIZATION);
        if !shared(first) || !shared(second) {
            return false;
        }
        let chooses = [ACCEPT_LANGUAGE, HeaderName::from_static("x-device"), ACCEPT_ENCODING];
        if !chooses.iter().all(|name| first.fields.get(name) == second.fields.get(name)) {
            return false;
        }
        let at = second.asked;
        let pending = first.answered.is_none_or(|there| at < there);
        if !pending && !self.is_surely_held(first, at) {
            return false;
        }
        let between = |then: Instant| first.asked <= then && then <= at;
        // After a purge, and where answers may have turned out to vary in another way, it must be asked anew. The first
        // may have been asked for on behalf of one who came before the purge.
        let waited = NOT_YET_MAX + HOLD_MAX;
        if self
            .purges(&first.target, true)
            .any(|then| between(then.max(first.asked)) && then + waited >= first.asked)
        {
            return false;
        }
        !self.record.fetched.iter().any(|f| {
            let there = f.answered.filter(|_| f.target == first.target);
            let lately =
                |then: Instant| there.is_some_and(|there| there <= then && then - there <= ALONE_FOR);
            let turned = self.web() && !std::ptr::eq(f, first) && there.is_some_and(between);
            turned || (self.private(f) && (lately(first.asked) || lately(at)))
        })
    }

    /// Whether that fetch's answer is there and fresh, whatever the edge's chance.
    fn is_surely_held(&self, fetched: &Fetched, at: Instant) -> bool {
        let (Some(there), Some(life)) = (fetched.answered, self.life(fetched)) else { return false };
        // Failures of media are kept only if they lay behind the live edge when they were first asked for.
        let least = if self.web() { 500 } else { 400 };
        let troubled = matches!(fetched.given, Given::Answer { status, .. } if status >= least);
        let cut = !fetched.whole && fetched.ended.is_some_and(|ended| ended <= at);
        let fresh = at < there + life.fresh * (JITTER_PART - 1) / JITTER_PART;
        fresh && !cut && !troubled && !self.small() && !self.private(fetched)
    }
}

/// The fields that an answer says it varies on.
fn varied(given: &Given) -> &'static [&'static str] {
    match given {
        Given::Answer { says, .. } => match says.varies {
            Varies::Language => &["accept-language"],
            Varies::LanguageAndDevice => &["accept-language", "x-device"],
            Varies::No | Varies::Star => &[],
        },
        _ => &[],
    }
}

/// The part that a 206 says it is, which must be the one asked for.
fn part(seen: &Seen) -> Result<Option<Range<usize>>, String> {
    if seen.status != 206 {
        return Ok(None);
    }
    let text = |headers: &HeaderMap, name| {
        headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned()
    };
    let (is, asked) = (text(&seen.headers, CONTENT_RANGE), text(&seen.fields, RANGE));
    let numbers = |text: &str| -> Vec<usize> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
    };
    match (&numbers(&is)[..], &numbers(&asked)[..]) {
        (&[first, last, length], &[from, to]) if first == from && last == to.min(length - 1) => {
            Ok(Some(first..last + 1))
        }
        _ => Err(format!("'{is}' to '{asked}'")),
    }
}
