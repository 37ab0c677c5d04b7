//! Everything that happens in one run, drawn at random and made smaller by proptest when something is wrong with it.

use std::fmt;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::purge::{Purge, What as Purged};

/// Milliseconds from one segment to the next.
pub(super) const SEGMENT_MS: u32 = 700;

/// When the last client arrives.
const LAST_MS: u32 = 9_000;

/// One run. What the edge itself leaves to chance hangs on `chance`.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) chance: u64,
    /// A cache for any site instead of one for live media.
    pub(super) web: bool,
    /// So little memory that objects leave it before their time.
    pub(super) small: bool,
    /// Whether the origin holds requests for what is not there yet, as ours does, or answers 404.
    pub(super) holds: bool,
    /// What becomes of the requests that it gets, over and over; each name begins somewhere else.
    pub(super) turns: Vec<Turn>,
    pub(super) clients: Vec<Client>,
    pub(super) purges: Vec<(u32, Purge)>,
}

/// One answer of the origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// How long it takes to begin.
    pub(super) head_ms: u32,
    pub(super) gives: Gives,
    pub(super) body: Script,
}

/// What the origin gives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Gives {
    /// No answer.
    Refusal,
    /// An answer, or that the last one is good still if it is asked.
    Answer { status: u16, says: Says, unchanged: bool },
}

/// How a body arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    pub(super) pieces: u8,
    pub(super) piece_bytes: u16,
    pub(super) gap_ms: u32,
    /// Whether the length is said beforehand.
    pub(super) length: bool,
    /// The piece before which it is cut.
    pub(super) cut: Option<u8>,
}

/// What an answer says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    pub(super) life: Lifetime,
    /// Seconds.
    pub(super) while_revalidate: Option<u8>,
    /// Seconds.
    pub(super) if_error: Option<u8>,
    /// must-revalidate.
    pub(super) strict: bool,
    pub(super) private: Private,
    pub(super) varies: Varies,
    pub(super) etag: bool,
}

/// How long an answer may be kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lifetime {
    Unsaid,
    Ms(u32),
    /// `max-age` and `Age`, in seconds.
    MaxAge(u8, u8),
}

/// Whether an answer is for one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Private {
    No,
    Cookie,
    NoStore,
    Said,
}

/// Which fields of a request made a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Varies {
    No,
    Language,
    LanguageAndDevice,
    Star,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) at_ms: u32,
    /// How many do the same at the same time.
    pub(super) times: u8,
    pub(super) name: Name,
    pub(super) method: Method,
    pub(super) range: Option<(u16, u16)>,
    /// Sends the entity tag that the last client had for this name.
    pub(super) knows: bool,
    pub(super) gzip: bool,
    pub(super) language: u8,
    pub(super) device: u8,
    pub(super) cookie: u8,
    pub(super) password: bool,
    pub(super) patience: Patience,
}

/// What a client asks for; numbers are counted from the live edge at that moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name {
    Segment { track: u8, ahead: i8 },
    Part { track: u8, ahead: i8 },
    Playlist { track: u8, ahead: Option<i8> },
    Page(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    /// Passed on by a cache for any site, and refused by one for live media.
    Post,
}

/// How a client goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    /// It reads as fast as bytes come.
    Reads,
    /// It takes that long over each piece.
    Slow(u32),
    /// It goes after so many milliseconds, whatever it has by then.
    Leaves(u32),
}

impl Name {
    /// Path and query, without pass.
    pub(super) fn target(self, at_ms: u32) -> String {
        let number = |ahead: i8| (i64::from(at_ms / SEGMENT_MS) + i64::from(ahead)).max(0);
        match self {
            Name::Segment { track, ahead } => format!("/m/r/p/v{track}/{}a.m4s", number(ahead)),
            Name::Part { track, ahead } => format!("/m/r/p/v{track}/{}a.1.m4s", number(ahead)),
            Name::Playlist { track, ahead: None } => format!("/m/r/p/hls/v{track}.m3u8"),
            Name::Playlist { track, ahead: Some(ahead) } => {
                format!("/m/r/p/hls/v{track}.m3u8?_HLS_msn={}", number(ahead))
            }
            Name::Page(page) => format!("/m/page{page}.json"),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scenario { chance, web, small, holds, .. } = self;
        writeln!(f, "chance {chance}, web {web}, small {small}, holds {holds}")?;
        self.turns.iter().try_for_each(|turn| writeln!(f, "  {turn:?}"))?;
        self.clients.iter().enumerate().try_for_each(|(n, client)| {
            writeln!(f, "  #{n} {} {client:?}", client.name.target(client.at_ms))
        })?;
        self.purges.iter().try_for_each(|purge| writeln!(f, "  {purge:?}"))
    }
}

/// All of them.
pub(super) fn scenarios() -> impl Strategy<Value = Scenario> {
    let edge = (any::<u64>(), any::<bool>(), prop::bool::weighted(0.25), any::<bool>());
    (edge, vec(turn(), 1..6), vec(client(), 1..40), vec((0..LAST_MS, purge()), 0..3)).prop_map(
        |((chance, web, small, holds), turns, clients, purges)| Scenario {
            chance,
            web,
            small,
            holds,
            turns,
            clients,
            purges,
        },
    )
}

fn turn() -> impl Strategy<Value = Turn> {
    let head_ms = prop_oneof![4 => Just(0), 12 => 1_u32..400, 1 => Just(5_000), 1 => Just(9_000)];
    let status = prop_oneof![
        8 => Just(200_u16),
        1 => prop_oneof![Just(404), Just(410)],
        1 => prop_oneof![Just(500), Just(503)],
    ];
    let answer = (status, says(), any::<bool>()).prop_map(|(status, says, unchanged)| Gives::Answer {
        status,
        says,
        unchanged,
    });
    let gives = prop_oneof![10 => answer, 1 => Just(Gives::Refusal)];
    (head_ms, gives, script()).prop_map(|(head_ms, gives, body)| Turn { head_ms, gives, body })
}

fn script() -> impl Strategy<Value = Script> {
    let gap_ms = prop_oneof![6 => Just(0), 12 => 1_u32..200, 1 => Just(7_000)];
    let cut = prop_oneof![6 => Just(None), 1 => (0_u8..4).prop_map(Some)];
    (0_u8..5, 1_u16..3_000, gap_ms, any::<bool>(), cut).prop_map(
        |(pieces, piece_bytes, gap_ms, length, cut)| {
            // Cut before a piece that there is.
            let cut = cut.filter(|_| pieces > 0).map(|cut| cut % pieces.max(1));
            Script { pieces, piece_bytes, gap_ms, length, cut }
        },
    )
}

fn says() -> impl Strategy<Value = Says> {
    let life = prop_oneof![
        1 => Just(Lifetime::Unsaid),
        3 => (0_u32..3_000).prop_map(Lifetime::Ms),
        3 => (0_u8..6, 0_u8..2).prop_map(|(max_age, age)| Lifetime::MaxAge(max_age, age)),
        2 => Just(Lifetime::MaxAge(60, 0)),
    ];
    let private = prop_oneof![
        14 => Just(Private::No),
        1 => Just(Private::Cookie),
        1 => Just(Private::NoStore),
        1 => Just(Private::Said),
    ];
    let varies = prop_oneof![
        6 => Just(Varies::No),
        3 => Just(Varies::Language),
        2 => Just(Varies::LanguageAndDevice),
        1 => Just(Varies::Star),
    ];
    let stale = || option::of(0_u8..6);
    (life, stale(), stale(), prop::bool::weighted(0.1), private, varies, any::<bool>()).prop_map(
        |(life, while_revalidate, if_error, strict, private, varies, etag)| Says {
            life,
            while_revalidate,
            if_error,
            strict,
            private,
            varies,
            etag,
        },
    )
}

fn client() -> impl Strategy<Value = Client> {
    let (track, ahead) = (|| 0_u8..2, || -3_i8..4);
    let name = prop_oneof![
        4 => (track(), ahead()).prop_map(|(track, ahead)| Name::Segment { track, ahead }),
        2 => (track(), ahead()).prop_map(|(track, ahead)| Name::Part { track, ahead }),
        2 => track().prop_map(|track| Name::Playlist { track, ahead: None }),
        1 => (track(), ahead()).prop_map(|(track, ahead)| Name::Playlist { track, ahead: Some(ahead) }),
        3 => (0_u8..2).prop_map(Name::Page),
    ];
    let method = prop_oneof![
        40 => Just(Method::Get),
        3 => Just(Method::Head),
        1 => Just(Method::Post),
    ];
    let patience = prop_oneof![
        6 => Just(Patience::Reads),
        1 => (1_u32..300).prop_map(Patience::Slow),
        3 => (0_u32..600).prop_map(Patience::Leaves),
    ];
    let asks = (
        prop::option::weighted(0.15, (0_u16..3_000, 0_u16..3_000)),
        prop::bool::weighted(0.1),
        any::<bool>(),
        0_u8..2,
        0_u8..2,
        prop_oneof![2 => Just(0_u8), 1 => 1_u8..3],
        prop::bool::weighted(0.04),
    );
    // Many at few moments, so that they meet.
    let at_ms = prop_oneof![1 => 0..LAST_MS, 2 => (0..LAST_MS / 500).prop_map(|n| n * 500)];
    let times = prop_oneof![6 => Just(1_u8), 1 => 2_u8..6];
    ((at_ms, times), name, method, asks, patience).prop_map(
        |((at_ms, times), name, method, asks, patience)| {
            let (range, knows, gzip, language, device, cookie, password) = asks;
            Client {
                at_ms,
                times,
                name,
                method,
                range: range.map(|(a, b)| (a.min(b), a.max(b))),
                knows,
                gzip,
                language,
                device,
                cookie,
                password,
                patience,
            }
        },
    )
}

fn purge() -> impl Strategy<Value = Purge> {
    let what = prop_oneof![
        Just(Purged::Prefix("/m/".to_owned())),
        Just(Purged::Path("/m/r/p/hls/v0.m3u8".to_owned())),
        Just(Purged::Path("/m/page0.json".to_owned())),
        Just(Purged::Key("media".to_owned())),
        Just(Purged::All(true)),
    ];
    (what, prop::bool::weighted(0.3)).prop_map(|(what, soft)| Purge { what, soft })
}
