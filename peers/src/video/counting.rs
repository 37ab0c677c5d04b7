//! A view of what is asked of an origin: passes requests on, and counts them by URL.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

/// Stands before an origin until it is dropped.
pub(crate) struct Counting {
    /// Its own address, `http://…`.
    pub(crate) url: String,
    seen: Arc<Mutex<HashMap<String, u64>>>,
    _serving: AbortOnDropHandle<std::io::Result<()>>,
}

#[derive(Clone)]
struct Way {
    authority: String,
    client: Client<HttpConnector, Body>,
    seen: Arc<Mutex<HashMap<String, u64>>>,
}

/// Requests for URLs of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Count {
    /// How many URLs.
    pub(crate) urls: u64,
    /// How many requests for them.
    pub(crate) requests: u64,
    /// The most for any one of them.
    pub(crate) most: u64,
}

impl Counting {
    /// Opens before the origin at `authority`, `host:port`, and works on `side`.
    pub(crate) async fn open(authority: &str, side: &Handle) -> anyhow::Result<Counting> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let seen = Arc::new(Mutex::new(HashMap::new()));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let way = Way { authority: authority.to_owned(), client, seen: seen.clone() };
        let app = Router::new().fallback(pass_on).with_state(way);
        let serving = side.spawn(async move {
            let listener = TcpListener::from_std(listener)?;
            axum::serve(listener, app).await
        });
        Ok(Counting { url, seen, _serving: AbortOnDropHandle::new(serving) })
    }

    /// What was asked for, of the URLs (path and query) that are `of_kind`.
    pub(crate) fn count(&self, of_kind: impl Fn(&str) -> bool) -> Count {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let of_kind = seen.iter().filter(|(url, _)| of_kind(url)).map(|(_, n)| *n);
        of_kind.fold(Count { urls: 0, requests: 0, most: 0 }, |sum, n| Count {
            urls: sum.urls + 1,
            requests: sum.requests + n,
            most: sum.most.max(n),
        })
    }
}

impl Count {
    /// Requests for each URL.
    pub(crate) fn each(&self) -> f64 {
        self.requests as f64 / self.urls as f64
    }
}

async fn pass_on(State(way): State<Way>, mut request: Request) -> Response {
    let asked = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let Ok(uri) = format!("http://{}{asked}", way.authority).parse() else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    *way.seen.lock().unwrap_or_else(PoisonError::into_inner).entry(asked).or_default() += 1;
    *request.uri_mut() = uri;
    match way.client.request(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_what_it_passes_on() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = listener.local_addr().unwrap().to_string();
        let app = Router::new().fallback(|request: Request| async move { request.uri().to_string() });
        tokio::spawn(async move { axum::serve(listener, app).await });

        let counting = Counting::open(&origin, &Handle::current()).await.unwrap();
        let client = loadgen::http::Client::default();
        for path in ["/x/1a.0.m4s", "/x/1a.0.m4s", "/x/1a.1.m4s", "/x.m3u8?_HLS_msn=3"] {
            let body = crate::http::get(&client, &format!("{}{path}", counting.url)).await.unwrap();
            assert!(String::from_utf8_lossy(&body).ends_with(path));
        }
        let parts = counting.count(|url| url.ends_with(".m4s"));
        assert_eq!(parts, Count { urls: 2, requests: 3, most: 2 });
        assert_eq!(parts.each(), 1.5);
    }
}
