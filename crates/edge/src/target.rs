//! From a request target to the pass and the cache key. Pure.

use std::borrow::Borrow;
use std::sync::Arc;

use crate::limits::TARGET_BYTES_MAX;
use crate::rules::{Kind, Rule, rule};
use crate::sim::{Broken, broken};

/// What an object is stored under, and all that its upstream request is made from where nothing is forwarded. One
/// text: the coding's letter, then path and query; so a lookup needs no allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(Arc<str>);

impl Key {
    /// From the text that [`Target::parse`] wrote.
    pub(crate) fn new(text: &str) -> Key {
        Key(text.into())
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Path and query of the upstream request.
    pub(crate) fn target(&self) -> &str {
        &self.0[1..]
    }

    /// The path alone.
    pub(crate) fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    /// What the upstream is told in `Accept-Encoding`; `None`: nothing.
    pub(crate) fn accept_encoding(&self) -> Option<&'static str> {
        match self.0.as_bytes().first() {
            Some(b'g') => Some("gzip"),
            Some(b'b') => Some("br, gzip"),
            _ => None,
        }
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The compressed forms that a client takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Codings {
    /// None, or none that is used here.
    #[default]
    Plain,
    /// gzip.
    Gzip,
    /// Brotli, and gzip where there is no Brotli.
    Brotli,
}

/// What a room of ours makes of request targets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// The first segment is the pass, and part of neither key nor upstream request.
    pub(crate) with_pass: bool,
    /// Query parameters of keys, beside the table's; all of them if one is `*`.
    pub(crate) query: Vec<String>,
}

/// A request target, taken apart.
pub(crate) struct Target<'a> {
    /// The first segment, as it was written, when there should be one.
    pub(crate) pass: Option<&'a str>,
    /// The rule for its name.
    pub(crate) rule: &'static Rule,
}

/// Why a request target is refused. Says nothing of the target itself: its first segment is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("the request target is longer than {TARGET_BYTES_MAX} bytes")]
    Long,
    #[error("the path must begin with '/'")]
    Relative,
    #[error("the path has an empty, '.' or '..' segment")]
    Segment,
    #[error("the path has a character that may not stand there unescaped")]
    Character,
    #[error("the path escapes a character that must be written plainly, or must not be there")]
    Escape,
    #[error("a delivery directive is repeated or has a value that it cannot have")]
    Query,
}

impl Names {
    /// Takes a request target apart, and writes its key's text into `key`.
    ///
    /// Every object has one spelling: dot segments, doubled slashes, and escapes of characters that need none are
    /// refused rather than resolved, so that this room and whatever stands behind it cannot disagree about a path.
    pub(crate) fn parse<'a>(
        &self,
        path: &'a str,
        query: Option<&str>,
        codings: Codings,
        key: &mut String,
    ) -> Result<Target<'a>, Refused> {
        if path.len() + query.map_or(0, |q| q.len() + 1) > TARGET_BYTES_MAX {
            return Err(Refused::Long);
        }
        let below_root = path.strip_prefix('/').ok_or(Refused::Relative)?;
        let whole = path;
        let (pass, path) = match self.with_pass {
            true => match below_root.find('/') {
                Some(slash) => (Some(&below_root[..slash]), &below_root[slash..]),
                None => (Some(below_root), "/"),
            },
            false => (None, path),
        };
        let path = if broken(Broken::PassInKey) { whole } else { path };
        let rule = rule(path);
        key.clear();
        key.push(match codings {
            _ if !rule.compressed => 'i',
            Codings::Plain => 'i',
            Codings::Gzip => 'g',
            Codings::Brotli => 'b',
        });
        canonical(path, key)?;
        self.push_query(key, query.unwrap_or_default(), rule)?;
        Ok(Target { pass, rule })
    }

    /// Adds the parameters of the rule and of the configuration, in their order, and drops the others.
    fn push_query(&self, key: &mut String, query: &str, rule: &Rule) -> Result<(), Refused> {
        if query.is_empty() {
            return Ok(());
        }
        let mut mark = '?';
        if self.query.iter().any(|name| name == "*") {
            key.push(mark);
            return push_escaped(key, query, Place::Query);
        }
        let pairs = || query.split('&').map(|pair| (pair, pair.split_once('=').unwrap_or((pair, ""))));
        for (name, allowed) in rule.query {
            let mut values = pairs().filter(|(_, (n, _))| n == name).map(|(_, (_, value))| value);
            let Some(value) = values.next() else { continue };
            if values.next().is_some() || !allowed.admits(value) {
                return Err(Refused::Query);
            }
            for text in [std::mem::replace(&mut mark, '&').encode_utf8(&mut [0; 4]), *name, "=", value] {
                key.push_str(text);
            }
        }
        for name in &self.query {
            for (pair, _) in pairs().filter(|(_, (n, _))| n == name) {
                key.push(std::mem::replace(&mut mark, '&'));
                push_escaped(key, pair, Place::Query)?;
            }
        }
        Ok(())
    }
}

/// The path in its one spelling: only the hex digits of its escapes may change (to upper case).
fn canonical(path: &str, out: &mut String) -> Result<(), Refused> {
    let mut segments = path[1..].split('/').peekable();
    while let Some(segment) = segments.next() {
        // What follows a ';' is a parameter to some servers, which then see the dots alone.
        let bare = segment.split(';').next().unwrap_or_default();
        let last = segments.peek().is_none();
        if bare == "." || bare == ".." || (bare.is_empty() && !(last && segment.is_empty())) {
            return Err(Refused::Segment);
        }
        out.push('/');
        push_escaped(out, segment, Place::Path)?;
    }
    Ok(())
}

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Path,
    Query,
}

/// Adds characters that may stand there plainly, and escapes of those that may not.
fn push_escaped(out: &mut String, text: &str, place: Place) -> Result<(), Refused> {
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        match b {
            b'%' => {
                let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).ok_or(Refused::Escape);
                let escaped = (hex(bytes.next())? << 4 | hex(bytes.next())?) as u8;
                match place {
                    _ if escaped.is_ascii_control() => return Err(Refused::Escape),
                    // '%', '/' and '\\' mean something else to whoever unescapes a path once more.
                    Place::Path if is_pchar(escaped) || b"%/\\".contains(&escaped) => {
                        return Err(Refused::Escape);
                    }
                    // Writers of queries escape more than they need to.
                    Place::Query if is_unreserved(escaped) => {
                        out.push(char::from(escaped));
                        continue;
                    }
                    _ => {}
                }
                out.push('%');
                for nibble in [escaped >> 4, escaped & 15] {
                    out.push(char::from(b"0123456789ABCDEF"[usize::from(nibble)]));
                }
            }
            b if is_pchar(b) || (place == Place::Query && b"/?".contains(&b)) => out.push(char::from(b)),
            _ => return Err(Refused::Character),
        }
    }
    Ok(())
}

/// RFC 3986, 2.3.
fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._~".contains(&b)
}

/// RFC 3986: unreserved, sub-delims, ':' and '@'.
fn is_pchar(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&b)
}

/// What a key's name stands for.
pub(crate) fn kind(key: &Key) -> Kind {
    rule(key.path()).kind
}

/// The forms that an `Accept-Encoding` names with a weight above 0 (RFC 9110, 12.5.3). `*` does not count: the plain
/// form is always right.
pub(crate) fn codings(accept_encoding: &str) -> Codings {
    let (mut gzip, mut brotli) = (false, false);
    for coding in accept_encoding.split(',') {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|p| {
            let weight = p.strip_prefix("q=").or_else(|| p.strip_prefix("Q="));
            weight.is_some_and(|q| q.bytes().all(|b| b == b'0' || b == b'.'))
        });
        gzip |= !refused && name.eq_ignore_ascii_case("gzip");
        brotli |= !refused && name.eq_ignore_ascii_case("br");
    }
    match (brotli, gzip) {
        (true, true) => Codings::Brotli,
        (_, true) => Codings::Gzip,
        _ => Codings::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(with_pass: bool, query: &[&str]) -> Names {
        Names { with_pass, query: query.iter().map(|&name| name.to_owned()).collect() }
    }

    /// Pass and key.
    fn parse<'a>(
        path: &'a str,
        query: Option<&str>,
        with_pass: bool,
        codings: Codings,
    ) -> Result<(Option<&'a str>, Key), Refused> {
        let mut key = String::new();
        let pass = names(with_pass, &[]).parse(path, query, codings, &mut key)?.pass;
        Ok((pass, Key::new(&key)))
    }

    fn key(path: &str, query: &str) -> Result<String, Refused> {
        parse(path, Some(query), true, Codings::Plain).map(|(_, key)| key.target().to_owned())
    }

    #[test]
    fn pass_is_stripped_and_stays_out_of_the_key() {
        let (one, key) = parse("/one/m/r/v/1a.m4s", None, true, Codings::Plain).unwrap();
        assert_eq!((one, key.target()), (Some("one"), "/m/r/v/1a.m4s"));
        assert_eq!(
            parse("/two/m/r/v/1a.m4s", None, true, Codings::Plain).unwrap(),
            (Some("two"), key.clone())
        );
        assert_eq!(parse("/m/r/v/1a.m4s", None, false, Codings::Plain).unwrap(), (None, key));
        assert_eq!(parse("/one", None, true, Codings::Plain).unwrap().1.target(), "/");
    }

    #[test]
    fn query_is_what_the_table_says_in_its_order() {
        let sorted = "/m/v.m3u8?_HLS_msn=7&_HLS_part=2&_HLS_skip=YES";
        assert_eq!(key("/p/m/v.m3u8", "_HLS_skip=YES&_HLS_part=2&utm=1&_HLS_msn=7").unwrap(), sorted);
        assert_eq!(key("/p/m/v.m3u8", "sid=1&t").unwrap(), "/m/v.m3u8");
        assert_eq!(key("/p/m/1a.m4s", "_HLS_msn=7&x=1").unwrap(), "/m/1a.m4s");
        for bad in
            ["_HLS_msn=07", "_HLS_msn=", "_HLS_msn", "_HLS_msn=1&_HLS_msn=1", "_HLS_skip=no", "_HLS_part=-1"]
        {
            assert_eq!(key("/p/m/v.m3u8", bad), Err(Refused::Query), "{bad}");
        }
    }

    #[test]
    fn a_query_is_kept_as_far_as_the_configuration_says() {
        let key = |kept: &[&str], path: &str, query: &str| {
            let mut key = String::new();
            names(false, kept).parse(path, Some(query), Codings::Plain, &mut key).map(|_| key[1..].to_owned())
        };
        assert_eq!(key(&["t", "id"], "/a.ts", "id=2&x=1&t=%2Fa%41&id=1").unwrap(), "/a.ts?t=%2FaA&id=2&id=1");
        assert_eq!(key(&["t"], "/v.m3u8", "t=1&_HLS_msn=2").unwrap(), "/v.m3u8?_HLS_msn=2&t=1");
        assert_eq!(key(&["*"], "/a.ts", "b=1&a=2&&").unwrap(), "/a.ts?b=1&a=2&&");
        assert_eq!(key(&["*"], "/a.ts", "").unwrap(), "/a.ts");
        for bad in ["a=%0d%0a", "a=%", "a= ", "a=\"", "a=#", "a=é"] {
            assert!(key(&["*"], "/a.ts", bad).is_err() && key(&["a"], "/a.ts", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn compressed_forms_split_playlists_and_documents_only() {
        let coded = |path| parse(path, None, false, Codings::Gzip).unwrap().1.accept_encoding().is_some();
        assert!(coded("/v.m3u8") && coded("/v.mpd") && coded("/v1/matches/a.b/card"));
        assert!(!coded("/v.m4s") && !coded("/v.png") && !coded("/v.m3u8/x.m4s"));
        for yes in ["gzip", "br;q=0, GZIP;q=0.5", "deflate,gzip ; q=1"] {
            assert_eq!(codings(yes), Codings::Gzip, "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip; q=0.000", "*", "xgzip"] {
            assert_eq!(codings(no), Codings::Plain, "{no}");
        }
        assert_eq!(codings("gzip, deflate, br, zstd"), Codings::Brotli);
    }

    #[test]
    fn tricks_are_refused() {
        for bad in [
            "m/x",
            "",
            "/p//x",
            "/p/./x",
            "/p/../x",
            "/p/a/..",
            "/p/..;/x",
            "/p/;x/y",
            "/p/%2e%2e/x",
            "/p/%2E/x",
            "/p/a%2fb",
            "/p/a%5Cb",
            "/p/a%00",
            "/p/a%0d%0aX: y",
            "/p/a%25",
            "/p/a%",
            "/p/a%4",
            "/p/a%zz",
            "/p/a\\b",
            "/p/a b",
            "/p/a\0",
            "/p/%61",
            "/p/é",
            "/p/a?b",
            "/p/a#b",
            "/p/a%7f",
        ] {
            assert!(key(bad, "").is_err(), "{bad}");
        }
        let long = format!("/p/{}", "a".repeat(TARGET_BYTES_MAX));
        assert_eq!(key(&long, ""), Err(Refused::Long));
        assert_eq!(key("/p/x", &"a".repeat(TARGET_BYTES_MAX)), Err(Refused::Long));
        assert_eq!(key("/p/caf%c3%a9/", "").unwrap(), "/caf%C3%A9/");
    }

    proptest! {
        /// A key is a target with the same key (the next tier finds the same object under it), can stand
        /// in a URI, and has nothing in it that anyone could resolve.
        #[test]
        fn keys_are_fixed_points(
            path in "/p(/([a-z0-9.;]{1,4}|%[2-9A-Fa-f][0-9A-Fa-f]|[a-zé\\\\/%\\x00]{0,3})){0,4}(\\.m3u8)?",
            query in "((_HLS_(msn|part|skip)|x)=([0-9]{1,2}|YES)?&?){0,4}",
        ) {
            if let Ok((_, key)) = parse(&path, Some(&query), true, Codings::Plain) {
                let text = key.target();
                prop_assert!(text.parse::<http::uri::PathAndQuery>().is_ok());
                let (path, query) = text.split_once('?').map_or((text, None), |(p, q)| (p, Some(q)));
                prop_assert_eq!(&parse(path, query, false, Codings::Plain).unwrap().1, &key);
                prop_assert!(!path.split('/').skip(1).any(|s| s == "." || s == ".."));
                prop_assert!(!path.contains("//") && !path.contains('\\') && text.is_ascii());
            }
        }

        #[test]
        fn nothing_panics(
            path in "\\PC{0,40}",
            query in proptest::option::of("\\PC{0,40}"),
            with_pass: bool,
            kept in proptest::option::of("[a*]"),
        ) {
            let names = names(with_pass, &kept.as_deref().into_iter().collect::<Vec<_>>());
            let _ = names.parse(&path, query.as_deref(), codings(&path), &mut String::new());
        }
    }
}
