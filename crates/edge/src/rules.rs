//! What the edge knows about names: which query parameters belong to an object, which objects come compressed, and
//! which are dearer than others when not all can be answered. Nothing that is not in this table is part of a key or
//! goes upstream, unless the configuration says so.

/// The rule for file name extensions.
pub(crate) struct Rule {
    /// Without the dot; compared exactly.
    extensions: &'static [&'static str],
    /// Query parameters of the key, in the order in which they stand in it.
    pub(crate) query: &'static [(&'static str, Value)],
    /// Whether clients that accept a compressed form have an object of their own.
    pub(crate) compressed: bool,
    /// What it names.
    pub(crate) kind: Kind,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A playlist or manifest: it changes under its name.
    Playlist,
    /// Media: what has been published under a name stays as it is.
    Media,
    /// Anything else: images, creatives, pages.
    Other,
}

/// What a query parameter may be. One spelling for one meaning, so that nobody can split an object.
pub(crate) enum Value {
    /// A decimal integer without sign or leading zeros, at most 20 digits.
    Number,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

const RULES: [Rule; 3] = [
    // With the delivery directives (rfc8216bis, 6.2.5, which also asks for this order).
    Rule {
        extensions: &["m3u8"],
        query: &[
            ("_HLS_msn", Value::Number),
            ("_HLS_part", Value::Number),
            ("_HLS_skip", Value::OneOf(&["YES", "v2"])),
        ],
        compressed: true,
        kind: Kind::Playlist,
    },
    Rule { extensions: &["mpd"], query: &[], compressed: true, kind: Kind::Playlist },
    Rule {
        extensions: &["m4s", "mp4", "m4v", "m4a", "cmfv", "cmfa", "cmft", "ts", "aac", "mp3", "vtt"],
        query: &[],
        compressed: false,
        kind: Kind::Media,
    },
];

/// Documents and resources of an API, whose names have no extension: text, made by whoever has reasons to compress it.
const DOCUMENT: Rule = Rule { extensions: &[], query: &[], compressed: true, kind: Kind::Other };

/// Everything else: the path alone names it.
const OTHER: Rule = Rule { extensions: &[], query: &[], compressed: false, kind: Kind::Other };

/// The rule for a path.
pub(crate) fn rule(path: &str) -> &'static Rule {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, extension)) = name.rsplit_once('.') else { return &DOCUMENT };
    RULES.iter().find(|rule| rule.extensions.contains(&extension)).unwrap_or(&OTHER)
}

impl Value {
    /// Whether `text` is one.
    pub(crate) fn admits(&self, text: &str) -> bool {
        match self {
            Value::Number => {
                (1..=20).contains(&text.len())
                    && text.bytes().all(|b| b.is_ascii_digit())
                    && (text.len() == 1 || !text.starts_with('0'))
            }
            Value::OneOf(words) => words.contains(&text),
        }
    }
}
