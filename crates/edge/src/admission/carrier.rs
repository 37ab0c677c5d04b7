//! Where a pass stands in a request.

use http::HeaderMap;
use pass::{cat, edge_auth, uri_signing};

use super::Asked;
use crate::config::PassIn;

/// The fields of a request, however they were read.
pub(crate) trait Fields {
    /// The first of the values of all fields of that name in which `pick` finds what it looks for.
    fn find<'a>(&'a self, name: &str, pick: &mut dyn FnMut(&'a str) -> Option<&'a str>) -> Option<&'a str>;

    /// The last field of that name.
    fn last(&self, name: &str) -> Option<&str> {
        let mut last = None;
        self.find(name, &mut |value| {
            last = Some(value);
            None
        });
        last
    }
}

/// None at all.
pub(crate) struct NoFields;

impl Fields for NoFields {
    fn find<'a>(&'a self, _: &str, _: &mut dyn FnMut(&'a str) -> Option<&'a str>) -> Option<&'a str> {
        None
    }
}

impl Fields for HeaderMap {
    fn find<'a>(&'a self, name: &str, pick: &mut dyn FnMut(&'a str) -> Option<&'a str>) -> Option<&'a str> {
        self.get_all(name).iter().filter_map(|value| value.to_str().ok()).find_map(pick)
    }
}

impl Fields for [httparse::Header<'_>] {
    fn find<'a>(&'a self, name: &str, pick: &mut dyn FnMut(&'a str) -> Option<&'a str>) -> Option<&'a str> {
        let named = self.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        named.filter_map(|field| std::str::from_utf8(field.value).ok()).find_map(pick)
    }
}

impl<F: Fields + ?Sized> Fields for &F {
    fn find<'a>(&'a self, name: &str, pick: &mut dyn FnMut(&'a str) -> Option<&'a str>) -> Option<&'a str> {
        (**self).find(name, pick)
    }
}

/// Names that a pass goes by in a query or a cookie: that of the standard, and what `@eyevinn/cat` asks for.
pub(crate) const NAMES: [&str; 5] =
    [cat::HEADER, "cat", edge_auth::NAMES[0], edge_auth::NAMES[1], uri_signing::NAME];

/// The pass, and the path without it. An empty path is `/`, as it is to the key.
pub(super) fn find<'a>(place: PassIn, asked: &Asked<'a>) -> Option<(&'a str, &'a str)> {
    if place == PassIn::Path {
        let pass = asked.pass.filter(|pass| !pass.is_empty())?;
        let path = asked.path.get(1 + pass.len()..).filter(|path| !path.is_empty()).unwrap_or("/");
        return Some((pass, path));
    }
    let named = |pair: &'a str| {
        let (name, value) = pair.trim().split_once('=')?;
        (NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) && !value.is_empty()).then_some(value)
    };
    // What was sent along for this request goes before what the browser keeps.
    let fields = asked.fields;
    let pass = asked
        .query
        .split('&')
        .find_map(named)
        .or_else(|| fields.find(cat::HEADER, &mut Some))
        .or_else(|| fields.find("cookie", &mut |cookies| cookies.split(';').find_map(named)));
    pass.map(|pass| (pass.trim(), asked.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<'a>(path: &'a str, query: &'a str, fields: &'a HeaderMap) -> Asked<'a> {
        let pass = path[1..].split('/').next();
        Asked { method: "GET", path, pass, query, fields, peer: None }
    }

    #[test]
    fn a_pass_is_the_first_segment_or_a_field() {
        let none = HeaderMap::new();
        let path = |path| find(PassIn::Path, &asked(path, "hdnts=q", &none));
        assert_eq!(path("/token/m/v.m3u8"), Some(("token", "/m/v.m3u8")));
        assert_eq!(path("/token"), Some(("token", "/")));
        assert_eq!(path("/"), None);

        let mut fields = HeaderMap::new();
        assert_eq!(find(PassIn::Fields, &asked("/m/v.m3u8", "_HLS_msn=1&hdnts=", &fields)), None);
        fields.append("cookie", "a=b; HDNEA=st=1~acl=/*~hmac=0; c=d".parse().unwrap());
        let of = |query, fields: &HeaderMap| {
            find(PassIn::Fields, &asked("/m/v.m3u8", query, fields)).map(|found| found.0.to_owned())
        };
        assert_eq!(of("", &fields).as_deref(), Some("st=1~acl=/*~hmac=0"));
        fields.append("cta-common-access-token", "header".parse().unwrap());
        assert_eq!(of("", &fields).as_deref(), Some("header"));
        assert_eq!(of("_HLS_msn=1&URISigningPackage=a.b.c", &fields).as_deref(), Some("a.b.c"));
    }
}
