//! `catu`: the addresses that a pass is for.

use regex_lite::{Regex, RegexBuilder};
use ring::digest::{SHA256, SHA512_256, digest};

use crate::cbor::{Item, Reader, Writer};
use crate::{Ask, Refusal};

/// Parts of an address that may be named, and conditions on each.
const PARTS_MAX: usize = 9;
const MATCHES_MAX: usize = 8;

/// The longest text to compare with, in bytes: a path has at most as many.
const TEXT_BYTES_MAX: usize = 2_048;

/// The longest expression, in bytes, and what it may become: it is compiled for each pass and run for each request,
/// by an engine whose time grows with both lengths at most.
const REGEX_BYTES_MAX: usize = 256;
const REGEX_SIZE_MAX: usize = 64 << 10;

/// A part of an address (CTA-5007, `catu`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Part {
    /// `https`.
    Scheme = 0,
    /// Without port, compared in lower case.
    Host = 1,
    /// Empty where it is the scheme's own.
    Port = 2,
    /// From the first `/`; the pass that stands before it is no part of it.
    Path = 3,
    /// Without the `?`.
    Query = 4,
    /// The path up to the last `/`, without it.
    Parent = 5,
    /// What follows the last `/`.
    Filename = 6,
    /// The file's name without extension.
    Stem = 7,
    /// The extension with its dot.
    Extension = 8,
}

const PARTS: [Part; PARTS_MAX] = [
    Part::Scheme,
    Part::Host,
    Part::Port,
    Part::Path,
    Part::Query,
    Part::Parent,
    Part::Filename,
    Part::Stem,
    Part::Extension,
];

/// What a part must be.
#[derive(Clone, Debug)]
pub enum Match {
    /// This.
    Exact(String),
    /// Begins so. A path should end in `/` here: `/final` begins `/finale/` too.
    Prefix(String),
    /// Ends so.
    Suffix(String),
    /// Has this in it.
    Contains(String),
    /// Has something in it that this expression describes; `^` and `$` bind it.
    Regex(Box<Regex>),
    /// Has this SHA-256.
    Sha256([u8; 32]),
    /// Has this SHA-512/256.
    Sha512([u8; 32]),
}

impl PartialEq for Match {
    fn eq(&self, other: &Match) -> bool {
        match (self, other) {
            (Match::Exact(a), Match::Exact(b))
            | (Match::Prefix(a), Match::Prefix(b))
            | (Match::Suffix(a), Match::Suffix(b))
            | (Match::Contains(a), Match::Contains(b)) => a == b,
            (Match::Regex(a), Match::Regex(b)) => a.as_str() == b.as_str(),
            (Match::Sha256(a), Match::Sha256(b)) | (Match::Sha512(a), Match::Sha512(b)) => a == b,
            _ => false,
        }
    }
}

impl Match {
    /// One with an expression, without flags.
    ///
    /// # Errors
    ///
    /// [`Refusal::Unsupported`]: it is too long, or not understood.
    pub fn regex(pattern: &str) -> Result<Match, Refusal> {
        compile(pattern).map(|regex| Match::Regex(Box::new(regex)))
    }

    fn holds(&self, value: &str) -> bool {
        match self {
            Match::Exact(text) => value == text,
            Match::Prefix(text) => value.starts_with(text.as_str()),
            Match::Suffix(text) => value.ends_with(text.as_str()),
            Match::Contains(text) => value.contains(text.as_str()),
            Match::Regex(regex) => regex.is_match(value),
            Match::Sha256(hash) => digest(&SHA256, value.as_bytes()).as_ref() == hash,
            Match::Sha512(hash) => digest(&SHA512_256, value.as_bytes()).as_ref() == hash,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Match, Refusal> {
        let kind = reader.int()?;
        let hash = |bytes: &[u8]| bytes.try_into().map_err(|_| Refusal::Malformed);
        match kind {
            4 => {
                let count = reader.array(2)?;
                let pattern = reader.text()?;
                if count == 2 && !matches!(reader.item()?, Item::Text("") | Item::Other) {
                    return Err(Refusal::Unsupported);
                }
                Match::regex(pattern)
            }
            -1 => hash(reader.bytes()?).map(Match::Sha256),
            -2 => hash(reader.bytes()?).map(Match::Sha512),
            0..=3 => {
                let text = reader.text()?;
                if text.len() > TEXT_BYTES_MAX {
                    return Err(Refusal::Malformed);
                }
                let make = [Match::Exact, Match::Prefix, Match::Suffix, Match::Contains][kind as usize];
                Ok(make(text.to_owned()))
            }
            _ => Err(Refusal::Unsupported),
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Match::Exact(text) => writer.int(0).text(text),
            Match::Prefix(text) => writer.int(1).text(text),
            Match::Suffix(text) => writer.int(2).text(text),
            Match::Contains(text) => writer.int(3).text(text),
            Match::Regex(regex) => writer.int(4).array(1).text(regex.as_str()),
            Match::Sha256(hash) => writer.int(-1).bytes(hash),
            Match::Sha512(hash) => writer.int(-2).bytes(hash),
        };
    }
}

/// An expression within bounds.
pub(crate) fn compile(pattern: &str) -> Result<Regex, Refusal> {
    if pattern.len() > REGEX_BYTES_MAX {
        return Err(Refusal::Unsupported);
    }
    RegexBuilder::new(pattern).size_limit(REGEX_SIZE_MAX).build().map_err(|_| Refusal::Unsupported)
}

/// Conditions, all of which must hold.
pub type Uri = Vec<(Part, Match)>;

pub(super) fn admits(uri: &Uri, ask: &Ask<'_>) -> Result<(), Refusal> {
    for (part, is) in uri {
        let value = value(*part, ask).ok_or(Refusal::Unsupported)?;
        let holds = match part {
            Part::Host => is.holds(&value.to_ascii_lowercase()),
            _ => is.holds(value),
        };
        if !holds {
            return Err(Refusal::WrongPath);
        }
    }
    Ok(())
}

fn value<'a>(part: Part, ask: &Ask<'a>) -> Option<&'a str> {
    let name = || ask.path.rsplit_once('/').unwrap_or(("", ask.path));
    let dot = |name: &str| name.rfind('.').unwrap_or(name.len());
    let port = |host: &'a str| {
        let at = host.rfind(':').filter(|at| host[at + 1..].bytes().all(|b| b.is_ascii_digit()));
        at.map_or((host, ""), |at| (&host[..at], &host[at + 1..]))
    };
    Some(match part {
        Part::Scheme => ask.scheme?,
        Part::Host => port(ask.host?).0,
        Part::Port => port(ask.host?).1,
        Part::Path => ask.path,
        Part::Query => ask.query,
        Part::Parent => name().0,
        Part::Filename => name().1,
        Part::Stem => &name().1[..dot(name().1)],
        Part::Extension => &name().1[dot(name().1)..],
    })
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Uri, Refusal> {
    let mut uri = Uri::new();
    for _ in 0..reader.map(PARTS_MAX)? {
        let label = usize::try_from(reader.int()?).map_err(|_| Refusal::Unsupported)?;
        let part = *PARTS.get(label).ok_or(Refusal::Unsupported)?;
        if uri.iter().any(|(seen, _)| *seen == part) {
            return Err(Refusal::Malformed);
        }
        for _ in 0..reader.map(MATCHES_MAX)? {
            uri.push((part, Match::read(reader)?));
        }
    }
    uri.sort_by_key(|(part, _)| *part as i64);
    Ok(uri)
}

pub(super) fn write(uri: &Uri, writer: &mut Writer) {
    let of = |part: Part| uri.iter().filter(move |(of, _)| *of == part);
    let named: Vec<Part> = PARTS.into_iter().filter(|part| of(*part).count() > 0).collect();
    writer.map(named.len());
    for part in named {
        writer.int(part as i64).map(of(part).count());
        of(part).for_each(|(_, is)| is.write(writer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_address() {
        let ask = Ask {
            host: Some("Edge.Example:8443"),
            scheme: Some("https"),
            query: "_HLS_msn=1",
            ..Ask::get("/final/r1/main/v1/12a.3.m4s", 0)
        };
        for (part, is) in [
            (Part::Scheme, "https"),
            (Part::Host, "Edge.Example"),
            (Part::Port, "8443"),
            (Part::Path, "/final/r1/main/v1/12a.3.m4s"),
            (Part::Query, "_HLS_msn=1"),
            (Part::Parent, "/final/r1/main/v1"),
            (Part::Filename, "12a.3.m4s"),
            (Part::Stem, "12a.3"),
            (Part::Extension, ".m4s"),
        ] {
            assert_eq!(value(part, &ask), Some(is), "{part:?}");
        }
        let bare = Ask { host: Some("[::1]"), ..Ask::get("/x", 0) };
        assert_eq!(value(Part::Host, &bare), Some("[::1]"));
        for (part, is) in [(Part::Parent, ""), (Part::Stem, "x"), (Part::Extension, "")] {
            assert_eq!(value(part, &bare), Some(is));
        }
    }

    #[test]
    fn matches_hold_for_what_they_say() {
        let hash = |algorithm, text: &str| digest(algorithm, text.as_bytes()).as_ref().try_into().unwrap();
        for (is, yes, no) in [
            (Match::Exact("/a".into()), "/a", "/ab"),
            (Match::Prefix("/a/".into()), "/a/b", "/ab"),
            (Match::Suffix(".mpd".into()), "x.mpd", "x.mpd2"),
            (Match::Contains("/main/".into()), "/m/main/v", "/m/mainly/v"),
            (Match::regex("^/a/(main|stump)/").unwrap(), "/a/stump/x", "/b/a/main/x"),
            (Match::Sha256(hash(&SHA256, "/a")), "/a", "/b"),
            (Match::Sha512(hash(&SHA512_256, "/a")), "/a", "/b"),
        ] {
            assert!(is.holds(yes) && !is.holds(no), "{is:?}");
        }
        assert!(Match::regex(&"a".repeat(REGEX_BYTES_MAX + 1)).is_err());
        assert!(Match::regex("(a{1000}){1000}").is_err(), "it would be larger than it may be");
        assert!(Match::regex("(").is_err());
    }
}
