//! What is asked, as far as a pass may be bound to it.

use std::net::IpAddr;

/// Where a client is, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// ISO 3166-1 alpha-2.
    pub country: Option<Box<str>>,
    /// ISO 3166-2 without the country, such as `CA` of `US-CA`.
    pub subdivision: Option<Box<str>>,
    /// Number of its autonomous system.
    pub asn: Option<u32>,
}

/// One request. What is `None` is not known, and a pass that is bound to it does not open.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// GET, HEAD and the like.
    pub method: &'a str,
    /// Absolute path without the pass, its dot segments and escapes settled.
    pub path: &'a str,
    /// Query as it was sent, without the `?`.
    pub query: &'a str,
    /// Host as the client wrote it, with a port if it is not the scheme's; looked for for passes only of which
    /// [`crate::Pass::is_hosted`] is true.
    pub host: Option<&'a str>,
    /// `http` or `https`, if that is certain: behind somebody else's TLS it is not.
    pub scheme: Option<&'a str>,
    /// The client's address.
    pub client: Option<IpAddr>,
    /// Where that is; looked up for passes only of which [`crate::Pass::is_placed`] is true.
    pub place: Option<&'a Place>,
    /// UTC, in seconds.
    pub now_s: i64,
}

impl Ask<'_> {
    /// A GET of a path of which nothing else is known.
    pub fn get(path: &str, now_s: i64) -> Ask<'_> {
        Ask { method: "GET", path, query: "", host: None, scheme: None, client: None, place: None, now_s }
    }
}
