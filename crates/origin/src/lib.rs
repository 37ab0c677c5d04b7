//! The origin: takes both pipelines' objects of a programme and serves, for each segment, the first valid
//! one, as LL-HLS (rfc8216bis) with a DVR window in memory.
//!
//! * [`core`]: what is held, listed and chosen, and why. Pure: no I/O, time is an argument.
//! * [`http`]: requests and answers. [`letters`]: on what several origins agree.
//!
//! Invariants:
//!
//! * A playlist only grows at its end and loses at its beginning; MSNs never skip; a name never stands for
//!   other bytes.
//! * Nobody polls: requests are woken by the version that answers them, and one timer for each programme is
//!   set for what the core says is due next.
//! * The room never looks into media beyond its first box, and knows nothing of tokens or ads.

pub mod core;
pub mod http;
pub mod letters;
pub mod limits;

mod clock;
mod config;
mod live;
mod meters;
mod origin;
mod status;
mod view;

use std::convert::Infallible;
use std::sync::Arc;

use hyper::service::service_fn;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use clock::Clock;
pub use config::Config;
pub use http::LIFETIME_HEADER;
pub use letters::{FixedOrder, LetterKey, Letters};
pub use origin::Origin;

/// Runs an origin on a bound listener until `shutdown` is cancelled; then it stops accepting, lets requests end
/// for at most [`limits::DRAIN_MAX`], and returns.
///
/// # Errors
/// Only before the first connection is accepted: a configuration that cannot work. Faults of pipelines and
/// clients are answered to those who make them, and never end this function.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    letters: Arc<dyn Letters>,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    config.check()?;
    let origin = Arc::new(Origin::new(config, letters, Clock::System, shutdown.clone()));
    let bounds = listen::http::Limits {
        connections_max: limits::CONNECTIONS_MAX,
        streams_max: limits::STREAMS_MAX,
        header_time_max: limits::HEADER_TIME_MAX,
        header_bytes_max: limits::HEADER_BYTES_MAX,
        drain_max: limits::DRAIN_MAX,
    };
    let service = |_, _| {
        let origin = origin.clone();
        service_fn(move |request| {
            let origin = origin.clone();
            async move { Ok::<_, Infallible>(origin.answer(request).await) }
        })
    };
    listen::http::serve(listener, bounds, shutdown, service).await;
    Ok(())
}

/// What this room can refuse. What it refuses to a pipeline is [`core::Refusal`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A configuration that cannot work.
    #[error("{0}")]
    Config(String),
}
