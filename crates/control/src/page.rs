//! The console's page, embedded in the binary.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Method, StatusCode, header};
use rust_embed::RustEmbed;

use crate::problem::problem;

/// What `npm run build` made of `web/console.html`. Missing in a checkout where it has not been run: then it says so.
#[derive(RustEmbed)]
#[folder = "../../web/dist-console"]
#[allow_missing = true]
struct Dist;

/// Small, for few, and over loopback: neither compressed nor kept in memory twice.
pub(crate) async fn page(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return problem(StatusCode::METHOD_NOT_ALLOWED, "Not with this method", "Pages are only read.");
    }
    let name = match request.uri().path() {
        "/" => "console.html",
        path => path.trim_start_matches('/'),
    };
    let Some(file) = Dist::get(name) else {
        return match name {
            "console.html" => {
                let detail = "Run `npm ci && npm run build` in web/ and build again, or use ./run.";
                problem(StatusCode::NOT_FOUND, "The page has not been built", detail)
            }
            _ => problem(StatusCode::NOT_FOUND, "No such page", "The console is at /."),
        };
    };
    let mut response = file.data.into_owned().into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    // Names under assets/ carry a hash of their content.
    if name.starts_with("assets/") {
        let keep = HeaderValue::from_static("private, max-age=31536000, immutable");
        headers.insert(header::CACHE_CONTROL, keep);
    }
    response
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
