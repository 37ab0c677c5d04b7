//! The page, embedded in the binary.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderValue, Method, StatusCode, header};
use rust_embed::RustEmbed;

/// What `npm run build` made of `web/`. Missing in a checkout where it has not been run: then the page says so.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

struct Asset {
    plain: Bytes,
    gzip: Option<Bytes>,
    kind: &'static str,
}

/// Every file, compressed once.
static ASSETS: LazyLock<HashMap<String, Arc<Asset>>> = LazyLock::new(|| {
    Dist::iter()
        .filter_map(|name| {
            let file = Dist::get(&name)?;
            let kind = kind(&name);
            let plain = Bytes::from(file.data.into_owned());
            let gzip =
                if kind.starts_with("image/") && !kind.contains("svg") { None } else { compress(&plain) };
            Some((name.into_owned(), Arc::new(Asset { plain, gzip, kind })))
        })
        .collect()
});

pub(crate) fn router() -> Router {
    Router::new().fallback(page)
}

async fn page(request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path().trim_start_matches('/');
    // Names under assets/ carry a hash of their content; every other path is the page, which routes by itself.
    let hashed = path.starts_with("assets/");
    let asset = ASSETS.get(path).or_else(|| if hashed { None } else { ASSETS.get("index.html") });
    let Some(asset) = asset else {
        let text = if hashed {
            "There is no such file."
        } else {
            "The page has not been built: run `npm ci && npm run build` in web/ and build again, or use ./run."
        };
        return (StatusCode::NOT_FOUND, text).into_response();
    };
    let accepts =
        request.headers().get(header::ACCEPT_ENCODING).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let gzip = asset.gzip.clone().filter(|_| accepts.contains("gzip"));
    let zipped = gzip.is_some();
    let mut response = gzip.unwrap_or_else(|| asset.plain.clone()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let keep = if hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if zipped {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn compress(plain: &[u8]) -> Option<Bytes> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(plain).ok()?;
    out.finish().ok().map(Bytes::from)
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "webmanifest" => "application/manifest+json",
        "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
