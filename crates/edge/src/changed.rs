//! What a request that changes something makes worthless (RFC 9111, 4.4). Pure.

use http::header::{CONTENT_LOCATION, HOST, HeaderMap, LOCATION};
use http::uri::Authority;
use http::{Uri, request};

use crate::target::{Codings, Key, Names};

/// The keys of what was asked to change, and of what the answer says has changed or has come to be on the same
/// host; each in all its forms.
pub(crate) fn keys(names: &Names, asked: &Key, request: &request::Parts, answer: &HeaderMap) -> Vec<String> {
    let mut keys = Vec::new();
    let (path, query) = split(asked.target());
    add(names, path, query, &mut keys);
    // With a pass in front, a path that the upstream names is not one that clients ask for.
    if names.with_pass {
        return keys;
    }
    for named in [LOCATION, CONTENT_LOCATION].iter().filter_map(|name| answer.get(name)?.to_str().ok()) {
        let Ok(named) = named.parse::<Uri>() else { continue };
        if named.authority().is_none_or(|host| is_asked(host, request)) && named.path().starts_with('/') {
            add(names, named.path(), named.query(), &mut keys);
        }
    }
    keys
}

/// Whether it is the host that the client asked. Another's objects are not this answer's to take back.
fn is_asked(host: &Authority, request: &request::Parts) -> bool {
    let asked = request.headers.get(HOST).and_then(|host| host.to_str().ok());
    request.uri.authority().map(Authority::as_str).or(asked).is_some_and(|asked| host == asked)
}

fn split(target: &str) -> (&str, Option<&str>) {
    target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)))
}

fn add(names: &Names, path: &str, query: Option<&str>, keys: &mut Vec<String>) {
    // The key has no pass any more.
    let names = Names { with_pass: false, query: names.query.clone() };
    for codings in [Codings::Plain, Codings::Gzip, Codings::Brotli] {
        let mut key = String::new();
        if names.parse(path, query, codings, &mut key).is_ok() && !keys.contains(&key) {
            keys.push(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn changed(answer: &[(&str, &str)], with_pass: bool) -> Vec<String> {
        let names = Names { with_pass, query: vec!["*".to_owned()] };
        let request =
            Request::post("/a.png?x=1").header("host", "here:8080").body(()).unwrap().into_parts().0;
        let mut headers = HeaderMap::new();
        for (name, value) in answer {
            headers.append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        keys(&names, &Key::new("i/a.png?x=1"), &request, &headers)
    }

    #[test]
    fn what_was_asked_to_change_goes_and_what_the_answer_names_on_the_same_host() {
        assert_eq!(changed(&[], false), ["i/a.png?x=1"]);
        assert_eq!(changed(&[("location", "/b.png")], false), ["i/a.png?x=1", "i/b.png"]);
        let both = [("location", "http://here:8080/b.png?y"), ("content-location", "/c.png")];
        assert_eq!(changed(&both, false), ["i/a.png?x=1", "i/b.png?y", "i/c.png"]);
        for path in ["/p.m3u8", "/document"] {
            let forms = ["i", "g", "b"].map(|form| format!("{form}{path}"));
            assert_eq!(changed(&[("location", path)], false)[1..], forms);
        }
    }

    #[test]
    fn another_host_rubbish_and_paths_behind_a_pass_are_let_be() {
        for location in ["http://there/b", "http://here/b", "b", "//there/b", "/../b", "\u{7f}", "*"] {
            let Ok(value) = location.parse::<http::HeaderValue>() else { continue };
            let Ok(value) = value.to_str() else { continue };
            assert_eq!(changed(&[("location", value)], false), ["i/a.png?x=1"], "{location}");
        }
        assert_eq!(changed(&[("location", "/b")], true), ["i/a.png?x=1"]);
    }
}
