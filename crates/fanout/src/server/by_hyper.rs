//! Every other path, by hyper.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::TcpStream;
use std::pin::{Pin, pin};
use std::sync::Arc;

use http::header::CONNECTION;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use listen::Rewound;
use tokio::sync::OwnedSemaphorePermit;
use tracing::debug;

use super::Shared;
use super::turning::Open;
use crate::deps::Body;
use crate::head::STREAM;
use crate::limits::{FIELDS_MAX, HEAD_BYTES_MAX, KEEP_ALIVE_MAX};

/// Serves a connection of which `read` was read already. A later request for the stream brings it back to a worker:
/// browsers ask for a snapshot and for events on one connection.
pub(crate) async fn by_hyper(
    shared: Arc<Shared>,
    stream: TcpStream,
    read: Vec<u8>,
    place: OwnedSemaphorePermit,
) {
    let Ok(stream) = tokio::net::TcpStream::from_std(stream) else { return };
    let open = Open::default();
    let turns = open.clone();
    let io = TokioIo::new(Rewound::until(read, stream, move |came| turns.turns_at(came)));
    let service = service_fn(|request: Request<Incoming>| {
        let (shared, turn) = (shared.clone(), open.begin());
        Box::pin(async move {
            let response = if request.uri().path() == STREAM {
                misdirected()
            } else {
                (shared.deps.fallback)(request).await
            };
            Ok::<_, Infallible>(response.map(|body| turn.until_the_end_of(body)))
        })
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(KEEP_ALIVE_MAX)
        .max_headers(FIELDS_MAX)
        .max_buf_size(HEAD_BYTES_MAX);
    let mut connection = http.serve_connection(io, service);
    let mut ending = pin!(shared.ending.cancelled());
    let mut told = false;
    let ended = poll_fn(|cx| {
        if !told && ending.as_mut().poll(cx).is_ready() {
            told = true;
            Pin::new(&mut connection).graceful_shutdown();
        }
        connection.poll_without_shutdown(cx)
    })
    .await;
    if let Err(error) = ended {
        return debug!(%error, "connection ended");
    }
    let (stream, turned) = connection.into_parts().io.into_inner().into_parts();
    drop(place);
    if let (false, Ok(stream)) = (turned.is_empty(), stream.into_std()) {
        shared.seat(stream, turned);
    }
}

/// A request for the stream that came while another was being answered: it must come on its own connection
/// (RFC 9110, 15.5.20).
fn misdirected() -> Response<Body> {
    let mut response = Response::new(Empty::new().map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
