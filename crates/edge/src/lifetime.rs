//! How long an answer may be kept, and by whom it may be read. Pure.
//!
//! RFC 9111 with the targeted field of RFC 9213 and the stale times of RFC 5861, and one field more:
//! [`LIFETIME_HEADER`]. Of ages only `Age` counts, not the difference of `Date` to our clock: two machines' clocks
//! may well differ by the lifetime of a live playlist.

use std::time::Duration;

use http::StatusCode;
use http::header::{
    AGE, CACHE_CONTROL, DATE, ETAG, EXPIRES, HeaderMap, HeaderName, LAST_MODIFIED, SET_COOKIE,
};

use crate::cache_control::{Directives, integer};
use crate::limits::{
    FAILURE_KEPT_MAX, LIFETIME_MAX, PLAYLIST_STALE_MAX, STALE_IF_ERROR, STALE_IF_ERROR_MAX,
    STALE_WHILE_REVALIDATE_MAX,
};
use crate::rules::Kind;
use crate::sim::{Broken, broken};

/// Response header from our origin: how many milliseconds this answer may still be kept, counted from now. It
/// overrides `max-age`, and `Age` is not deducted from it; each tier sends on what is left, so that tiers do not
/// add up.
pub const LIFETIME_HEADER: &str = "pavilion-lifetime-ms";

/// [`LIFETIME_HEADER`] as a name.
pub(crate) const LIFETIME: HeaderName = HeaderName::from_static(LIFETIME_HEADER);

/// RFC 9213, 3.1.
const CDN_CACHE_CONTROL: HeaderName = HeaderName::from_static("cdn-cache-control");

/// What may be done with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Kept for later askers.
    Keep(Life),
    /// For those who were waiting for it, and nobody later.
    Waiting,
    /// For one client alone.
    Alone,
}

/// How long an answer is of use, each from the end of the one before or, `if_error`, from the end of `fresh`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Life {
    /// It is given to whoever asks.
    pub(crate) fresh: Duration,
    /// It is still given while one request asks the upstream anew (RFC 5861, 3).
    pub(crate) while_revalidate: Duration,
    /// It is still given when the upstream fails (RFC 5861, 4).
    pub(crate) if_error: Duration,
}

/// What bears on an answer beside its own fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// What its name stands for.
    pub(crate) kind: Kind,
    /// Its name is at the live edge or beyond: what failed may be there in a moment.
    pub(crate) at_edge: bool,
    /// Whether failures may be kept for as long as the upstream says, as on any site; for live media they may not.
    pub(crate) web: bool,
}

/// What may be done with an answer.
pub(crate) fn sharing(status: StatusCode, headers: &HeaderMap, context: Context) -> Sharing {
    let failed = status.is_client_error() || status.is_server_error();
    let cookie = headers.contains_key(SET_COOKIE) && !broken(Broken::SharesCookies);
    if cookie || status == StatusCode::PARTIAL_CONTENT || status.is_informational() {
        return Sharing::Alone;
    }
    let targeted = Directives::targeted(headers, &CDN_CACHE_CONTROL);
    let says = targeted.clone().unwrap_or_else(|| Directives::of(headers, &CACHE_CONTROL));
    if says.has("no-store") || says.has("private") {
        // That there is no media is no secret of the one who asked: it is told to all who wait.
        return if failed && !context.web { Sharing::Waiting } else { Sharing::Alone };
    }
    let explicit = match headers.get(LIFETIME) {
        Some(ms) => Some(Duration::from_millis(integer(ms.as_bytes()).unwrap_or(0))),
        // It may be kept only if it is asked about each time, which costs a fetch: so it is not kept, and nobody
        // waits for it either.
        None if says.has("no-cache") => return Sharing::Alone,
        None => stated(headers, &says, targeted.is_some()).map(|all| all.saturating_sub(age(headers))),
    };
    if failed && !context.web {
        let fresh = match explicit {
            Some(fresh) if broken(Broken::KeepsFailures) => fresh,
            _ if context.at_edge || context.kind == Kind::Playlist => Duration::ZERO,
            Some(fresh) => fresh.min(FAILURE_KEPT_MAX),
            // The upstream knows that it is not there; of its own troubles nothing follows.
            None if matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) => FAILURE_KEPT_MAX,
            None => Duration::ZERO,
        };
        return if fresh.is_zero() {
            Sharing::Waiting
        } else {
            Sharing::Keep(Life { fresh, ..Life::default() })
        };
    }
    // RFC 9111, 3: a status that is not understood must not be kept where the upstream says that it must be.
    if says.has("must-understand") && !understood(status) {
        return Sharing::Waiting;
    }
    let fresh = explicit.unwrap_or_default().min(LIFETIME_MAX);
    let life = if failed { Life { fresh, ..Life::default() } } else { stale(fresh, &says, context.kind) };
    match life.fresh {
        Duration::ZERO if failed || !has_validator(headers) => Sharing::Waiting,
        _ => Sharing::Keep(life),
    }
}

/// What the upstream says in seconds; `None` if it says nothing.
fn stated(headers: &HeaderMap, says: &Directives, targeted: bool) -> Option<Duration> {
    let named = if targeted { None } else { says.argument("s-maxage") };
    if let Some(argument) = named.or_else(|| says.argument("max-age")) {
        return Some(Duration::from_secs(integer(argument.as_bytes()).unwrap_or(0)));
    }
    if targeted || !headers.contains_key(EXPIRES) {
        return None;
    }
    // RFC 9111, 4.2.1 and 5.3; an Expires that is not one date lies in the past.
    let date = |name| {
        let mut values = headers.get_all(name).iter();
        let one = values.next().filter(|_| values.next().is_none())?;
        httpdate::parse_http_date(one.to_str().ok()?).ok()
    };
    let since = date(DATE).unwrap_or_else(std::time::SystemTime::now);
    Some(date(EXPIRES).and_then(|until| until.duration_since(since).ok()).unwrap_or_default())
}

/// The times after the fresh one, within what suits live: a playlist is never given when it is older than twice
/// its rule, however ill its upstream is.
fn stale(fresh: Duration, says: &Directives, kind: Kind) -> Life {
    let forbidden = ["must-revalidate", "proxy-revalidate", "s-maxage"].iter().any(|name| says.has(name));
    if forbidden {
        return Life { fresh, ..Life::default() };
    }
    let seconds = |name| says.argument(name).map(|s| Duration::from_secs(integer(s.as_bytes()).unwrap_or(0)));
    let (while_revalidate, if_error) = (seconds("stale-while-revalidate"), seconds("stale-if-error"));
    let (while_max, error_max) = match kind {
        Kind::Playlist => (fresh.min(PLAYLIST_STALE_MAX), fresh.min(PLAYLIST_STALE_MAX)),
        Kind::Media | Kind::Other => (STALE_WHILE_REVALIDATE_MAX, STALE_IF_ERROR_MAX),
    };
    Life {
        fresh,
        while_revalidate: while_revalidate.unwrap_or_default().min(while_max),
        if_error: if_error.unwrap_or(STALE_IF_ERROR).min(error_max),
    }
}

/// Whether an upstream can be asked about it without sending it again.
pub(crate) fn has_validator(headers: &HeaderMap) -> bool {
    headers.contains_key(ETAG) || headers.contains_key(LAST_MODIFIED)
}

/// Statuses of RFC 9110 whose caching this room knows; 206 and 304 never get here.
fn understood(status: StatusCode) -> bool {
    matches!(status.as_u16(), 200 | 203 | 204 | 300..=303 | 307 | 308 | 404 | 405 | 410 | 414 | 501)
}

/// How old an answer is when it arrives: its `Age`, of several the first (RFC 9111, 5.1). The time that it took to
/// come is not counted, because an upstream that holds a request is waiting for the content to exist, not letting
/// it age.
pub(crate) fn age(headers: &HeaderMap) -> Duration {
    let first = headers.get(AGE).and_then(|v| v.as_bytes().split(|b| *b == b',').next());
    Duration::from_secs(first.and_then(integer).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Sharing::{Alone, Keep, Waiting};

    const MEDIA: Context = Context { kind: Kind::Media, at_edge: false, web: false };

    fn judge(status: u16, fields: &[(&'static str, &'static str)], context: Context) -> Sharing {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        sharing(StatusCode::from_u16(status).unwrap(), &headers, context)
    }

    /// The fresh time in ms, of media that is good.
    fn fresh(fields: &[(&'static str, &'static str)]) -> Result<u64, Sharing> {
        match judge(200, fields, MEDIA) {
            Keep(life) => Ok(life.fresh.as_millis() as u64),
            other => Err(other),
        }
    }

    #[test]
    fn lifetimes() {
        type Case = (&'static [(&'static str, &'static str)], Result<u64, Sharing>);
        let cases: &[Case] = &[
            (&[], Err(Waiting)),
            (&[("cache-control", "max-age=3")], Ok(3_000)),
            (&[("cache-control", "public, Max-Age=\"3\"")], Ok(3_000)),
            (&[("cache-control", "x=\"max-age=9\", max-age=3")], Ok(3_000)),
            (&[("cache-control", "max-age='3'")], Err(Waiting)),
            (&[("cache-control", "max-age=3"), ("cache-control", "s-maxage=1")], Ok(1_000)),
            (&[("cache-control", "max-age=3, max-age=9")], Ok(3_000)),
            (&[("cache-control", "max-age=3"), ("age", "2")], Ok(1_000)),
            (&[("cache-control", "max-age=3"), ("age", "2, 0")], Ok(1_000)),
            (&[("cache-control", "max-age=3"), ("age", "3")], Err(Waiting)),
            (&[("cache-control", "max-age=3"), ("age", "3"), ("etag", "\"1\"")], Ok(0)),
            (&[("cache-control", "max-age=-1")], Err(Waiting)),
            (&[("cache-control", "max-age=99999999999999999999999")], Ok(LIFETIME_MAX.as_millis() as u64)),
            (&[("cache-control", "max-age=3"), ("age", "2"), ("pavilion-lifetime-ms", "320")], Ok(320)),
            (&[("cache-control", "no-cache"), ("pavilion-lifetime-ms", "320")], Ok(320)),
            (&[("cache-control", "no-store"), ("pavilion-lifetime-ms", "320")], Err(Alone)),
            (
                &[("cache-control", "max-age=3, pavilion-lifetime-ms=1"), ("pavilion-lifetime-ms", "x")],
                Err(Waiting),
            ),
            (&[("cache-control", "private=\"x-user\", max-age=3")], Err(Alone)),
            (&[("cache-control", "max-age=3, NO-STORE")], Err(Alone)),
            (&[("cache-control", "no-cache")], Err(Alone)),
            (&[("cache-control", "max-age=3"), ("set-cookie", "a=b")], Err(Alone)),
            (&[("cdn-cache-control", "max-age=2"), ("cache-control", "no-store, max-age=3")], Ok(2_000)),
            (&[("cdn-cache-control", "max-age=&"), ("cache-control", "max-age=3")], Ok(3_000)),
            (&[("cdn-cache-control", "private"), ("cache-control", "max-age=3")], Err(Alone)),
            (
                &[("expires", "Thu, 01 Jan 2026 00:00:05 GMT"), ("date", "Thu, 01 Jan 2026 00:00:00 GMT")],
                Ok(5_000),
            ),
            (&[("expires", "0")], Err(Waiting)),
        ];
        for (fields, expected) in cases {
            assert_eq!(fresh(fields), *expected, "{fields:?}");
        }
    }

    #[test]
    fn failures_at_the_live_edge_are_never_kept_and_others_a_second_at_most() {
        let edge = Context { at_edge: true, ..MEDIA };
        let web = Context { web: true, ..MEDIA };
        let long = [("cache-control", "max-age=60")];
        let kept = |fresh| Keep(Life { fresh, ..Life::default() });
        assert_eq!(judge(404, &long, edge), Waiting);
        assert_eq!(judge(404, &[], MEDIA), kept(FAILURE_KEPT_MAX));
        assert_eq!(judge(404, &long, MEDIA), kept(FAILURE_KEPT_MAX));
        assert_eq!(judge(500, &[], MEDIA), Waiting);
        assert_eq!(judge(404, &[], Context { kind: Kind::Playlist, ..MEDIA }), Waiting);
        assert_eq!(judge(404, &long, web), kept(Duration::from_secs(60)));
        assert_eq!(judge(404, &[], web), Waiting);
    }

    #[test]
    fn stale_times_are_those_that_suit_live() {
        let life = |value, kind| match judge(200, &[("cache-control", value)], Context { kind, ..MEDIA }) {
            Keep(life) => (life.while_revalidate.as_secs(), life.if_error.as_secs()),
            other => panic!("{other:?}"),
        };
        let value = "max-age=2, stale-while-revalidate=9999999, stale-if-error=9999999";
        let max = (STALE_WHILE_REVALIDATE_MAX.as_secs(), STALE_IF_ERROR_MAX.as_secs());
        assert_eq!(life(value, Kind::Media), max);
        assert_eq!(life(value, Kind::Playlist), (2, 2));
        assert_eq!(life("max-age=2", Kind::Media), (0, STALE_IF_ERROR.as_secs()));
        assert_eq!(life("max-age=2", Kind::Playlist), (0, 2));
        for strict in ["must-revalidate", "proxy-revalidate", "s-maxage=2"] {
            let value: &'static str = format!("max-age=2, stale-while-revalidate=5, {strict}").leak();
            assert_eq!(life(value, Kind::Media), (0, 0), "{strict}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_kept_where_it_must_be() {
        let says = [("cache-control", "max-age=9, must-understand")];
        assert_eq!(judge(299, &says, Context { web: true, ..MEDIA }), Waiting);
        assert!(matches!(judge(200, &says, MEDIA), Keep(_)));
    }
}
