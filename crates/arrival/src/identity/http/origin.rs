//! Which site a request comes from, and where it came to.

use http::{HeaderMap, header};

use crate::identity::config::Config;

/// The URL by which viewers reach us: what was configured, or the host that this one used.
pub(crate) fn base(config: &Config, headers: &HeaderMap) -> Option<String> {
    if let Some(url) = &config.public_url {
        return Some(url.clone());
    }
    let host = headers.get(header::HOST)?.to_str().ok()?;
    // It goes into a URL.
    let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.[]:".contains(&b));
    (plain && !host.is_empty()).then(|| format!("http://{host}"))
}

/// Whether a browser says that our own page asks (Fetch, 3.2: every request that is not GET or HEAD carries `Origin`).
/// Where nobody configured our URL, TLS may end in front of us, so the scheme is not looked at.
pub(crate) fn is_same_origin(config: &Config, headers: &HeaderMap) -> bool {
    let origin = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let (Some(origin), Some(base)) = (origin, base(config, headers)) else { return false };
    match &config.public_url {
        Some(url) => origin == url,
        None => {
            let host = |url: &str| url.split_once("://").map(|(_, host)| host.to_ascii_lowercase());
            host(origin).is_some() && host(origin) == host(&base)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect::<HeaderMap>()
    }

    #[test]
    fn only_our_own_pages_count() {
        let here = Config::default();
        let public = Config { public_url: Some("https://tv.example".into()), ..Config::default() };
        let asked = |config: &Config, origin: &'static str| {
            is_same_origin(config, &headers(&[("host", "tv.example"), ("origin", origin)]))
        };
        assert!(asked(&here, "http://tv.example") && asked(&here, "https://tv.example"));
        assert!(asked(&public, "https://tv.example"));
        for other in ["http://evil.example", "null", "http://tv.example:81", "http://tv.example.evil", ""] {
            assert!(!asked(&here, other) && !asked(&public, other), "{other}");
        }
        assert!(!asked(&public, "http://tv.example"), "nor without TLS");
        assert!(!is_same_origin(&here, &headers(&[("host", "tv.example")])), "nobody says so");
    }
}
