//! HTTP/2, and the requests of HTTP/1 that [`super::h1`] does not take, by hyper.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use http::Request;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use listen::Rewound;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep};
use tracing::debug;

use super::activity::{Activity, Use};
use super::client::Client;
use super::course::Phase;
use super::h1::Handed;
use crate::failure::Failure;
use crate::handle::Upload;
use crate::limits::{
    HEADER_BYTES_MAX, HEADER_TIME_MAX, HEADERS_MAX, LOOK_EVERY, PING_EVERY, STREAM_SEND_BYTES_MAX,
    STREAMS_MAX,
};
use crate::log::Protocol;

/// Serves a connection to its end. One of HTTP/1 ends with its first answer, so that whatever stands behind a body
/// that others framed is never taken for a request.
pub(crate) async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(handed: Handed<S>) {
    let Handed { io, client, read, protocol } = handed;
    let io = TokioIo::new(Rewound::new(read, io));
    let activity = Activity::new();
    let service = service_fn(|request: Request<Incoming>| {
        let (client, turn) = (client.clone(), activity.begin());
        async move { Ok::<_, Infallible>(client.answer(request.map(upload), protocol, turn).await) }
    });
    match protocol {
        Protocol::H2 => {
            let mut http = http2::Builder::new(TokioExecutor::new());
            http.timer(TokioTimer::new())
                .keep_alive_interval(PING_EVERY)
                .keep_alive_timeout(PING_EVERY)
                .max_concurrent_streams(STREAMS_MAX)
                .max_header_list_size(HEADER_BYTES_MAX as u32)
                .max_send_buf_size(STREAM_SEND_BYTES_MAX);
            drive(http.serve_connection(io, service), &client, &activity).await;
        }
        _ => {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new())
                .keep_alive(false)
                .header_read_timeout(HEADER_TIME_MAX)
                .max_headers(HEADERS_MAX)
                .max_buf_size(HEADER_BYTES_MAX);
            drive(http.serve_connection(io, service), &client, &activity).await;
        }
    }
}

/// Runs a connection until it ends by itself, or its client does not use it as it should.
async fn drive<C: GracefulConnection>(connection: C, client: &Client, activity: &Activity)
where
    C::Error: Display,
{
    let mut connection = pin!(connection);
    let mut look = pin!(sleep(LOOK_EVERY));
    let mut told = false;
    let ended = poll_fn(|cx| {
        let mut leave = client.shared.course.phase() >= Phase::Leaving;
        while look.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            look.as_mut().reset(now + LOOK_EVERY);
            match activity.judge(now) {
                Use::Fair => {}
                Use::Idle => leave = true,
                Use::Stalled => return Poll::Ready(None),
            }
        }
        if leave && !told {
            told = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx).map(Some)
    })
    .await;
    match ended {
        Some(Ok(())) => {}
        Some(Err(error)) => debug!(%error, "connection ended"),
        None => debug!("connection cut: its client does not read"),
    }
}

/// A request's body, if it has one.
fn upload(body: Incoming) -> Upload {
    (!body.is_end_stream()).then(|| body.map_err(|_| Failure::Cut).boxed_unsync())
}
