//! Which fields of a request choose among the answers to one key (RFC 9110, 12.5.5; RFC 9111, 4.1). Pure.

use http::header::{HeaderMap, HeaderName, VARY};

/// The fields that an upstream's answers to one key vary on: sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spec(Box<[HeaderName]>);

/// What a request has in those fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen(Box<[u8]>);

impl Spec {
    /// What an answer's `Vary` says of the fields that went upstream; `None` if no other request can be given this
    /// answer (`*`, or not a list of names). A field that never goes upstream cannot have made a difference.
    pub(crate) fn of(answer: &HeaderMap, forwarded: bool) -> Option<Spec> {
        let mut names = Vec::new();
        for value in answer.get_all(VARY) {
            let Ok(list) = value.to_str() else { return None };
            for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                if name == "*" {
                    return None;
                }
                names.push(HeaderName::try_from(name).ok()?);
            }
        }
        names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        names.dedup();
        if !forwarded {
            names.clear();
        }
        Some(Spec(names.into()))
    }

    /// What a request chooses. White space round list members makes no difference.
    pub(crate) fn chosen(&self, request: &HeaderMap) -> Chosen {
        let mut chosen = Vec::new();
        for name in &self.0 {
            let mut first = true;
            for value in request.get_all(name) {
                for member in value.as_bytes().split(|b| *b == b',') {
                    chosen.push(if std::mem::take(&mut first) { b'=' } else { b',' });
                    chosen.extend_from_slice(member.trim_ascii());
                }
            }
            // Cannot stand inside a value.
            chosen.push(b'\n');
        }
        Chosen(chosen.into())
    }

    /// Whether all requests are given the same answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, value.parse().unwrap());
        }
        map
    }

    fn spec(vary: &[&'static str]) -> Option<Spec> {
        let mut headers = HeaderMap::new();
        for value in vary {
            headers.append(VARY, value.parse().unwrap());
        }
        Spec::of(&headers, true)
    }

    #[test]
    fn star_is_for_one_request_alone() {
        for star in [&["*"][..], &["*, *"], &["foo, *"], &[", *"], &["foo", "*"], &["bad name"]] {
            assert_eq!(spec(star), None, "{star:?}");
        }
        assert_eq!(spec(&["foo, Bar", "FOO"]), spec(&["bar,foo"]));
        assert!(spec(&[]).unwrap().is_empty() && spec(&[" , "]).unwrap().is_empty());
    }

    #[test]
    fn values_are_told_apart_however_they_are_split() {
        let spec = spec(&["foo, bar"]).unwrap();
        let chosen = |fields| spec.chosen(&map(fields));
        assert_eq!(chosen(&[("foo", "1, 2")]), chosen(&[("foo", "1"), ("foo", " 2 "), ("x", "y")]));
        let others: [&[(&str, &str)]; 6] = [
            &[],
            &[("foo", "")],
            &[("bar", "1")],
            &[("foo", "1")],
            &[("foo", "1"), ("bar", "1")],
            &[("foo", "2, 1")],
        ];
        for (i, a) in others.iter().enumerate() {
            for b in &others[i + 1..] {
                assert_ne!(chosen(a), chosen(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn what_does_not_go_upstream_makes_no_difference() {
        assert!(Spec::of(&map(&[("vary", "foo, origin")]), false).unwrap().is_empty());
        assert_eq!(Spec::of(&map(&[("vary", "*")]), false), None);
    }
}
