//! What no request passes without: it came to this machine under a name of this machine, and no foreign page sent it.
//!
//! A page of a stranger can make an operator's browser send requests to 127.0.0.1. Where it does so under a name of
//! its own (DNS rebinding) the browser lets it read the answers too: the `Host` tells. Where it does so under ours it
//! cannot read, but a request that changes something would do its work (CSRF): the `Origin` tells.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};

use crate::problem::problem;

/// Set by browsers (Fetch Metadata, 2.4), also where they leave `Origin` out.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What every answer says to the browser. The page loads nothing from elsewhere, and nobody frames it.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(crate) async fn guard(State(hosts): State<Arc<[String]>>, request: Request, next: Next) -> Response {
    let mut response = match judge(&hosts, request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err((status, title, detail)) => problem(status, title, detail),
    };
    for (name, value) in HEADERS {
        // What is named by its content says itself how long it may be kept.
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

type Refusal = (StatusCode, &'static str, &'static str);

fn judge(hosts: &[String], method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let host = host(uri, headers).filter(|host| {
        let name = host.host();
        is_loopback(name) || hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    });
    let Some(host) = host else {
        return Err((
            StatusCode::MISDIRECTED_REQUEST,
            "Not this host",
            "The console answers as localhost only, or by the names that it was given as --host.",
        ));
    };
    if !method.is_safe() && is_foreign(headers, &host) {
        return Err((
            StatusCode::FORBIDDEN,
            "Not from this page",
            "Another site's page asked for this. Open the console itself, and do it there.",
        ));
    }
    Ok(())
}

/// The one host that the request names (RFC 9112, 3.2 and 3.2.2).
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let target = uri.authority().cloned();
    let mut fields = headers.get_all(header::HOST).iter();
    let field: Option<Authority> = match fields.next() {
        Some(field) => Some(field.to_str().ok()?.parse().ok()?),
        None => None,
    };
    let one = match (target, field) {
        (Some(target), Some(field)) if target != field => return None,
        (target, field) => target.or(field)?,
    };
    (fields.next().is_none() && !one.as_str().contains('@')).then_some(one)
}

fn is_loopback(name: &str) -> bool {
    let v6 = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || v6.is_some_and(|name| name.parse::<Ipv6Addr>().is_ok_and(|ip| ip.is_loopback()))
}

/// Whether a page sent this that is not the console's own. What says nothing of where it comes from is no browser.
fn is_foreign(headers: &HeaderMap, host: &Authority) -> bool {
    let is_own = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        // A proxy in front may speak TLS.
        let origin = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host.as_str()))
    };
    headers.get_all(header::ORIGIN).iter().any(|origin| !is_own(origin))
        || headers.get_all(SEC_FETCH_SITE).iter().any(|site| site != "same-origin")
}
