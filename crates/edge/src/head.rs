//! What is known of an object before its body.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{AGE, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::time::{Duration, Instant};

use crate::lifetime::{self, LIFETIME, Life};
use crate::limits::JITTER_PART;
use crate::recall::Now;
use crate::sim::{Broken, broken};
use crate::vary::{Chosen, Spec};

/// Status, fields and times of an answer.
#[derive(Debug)]
pub(crate) struct Head {
    /// The upstream's.
    pub(crate) status: StatusCode,
    /// As they go to clients, without `Age`, lifetime and length.
    pub(crate) headers: HeaderMap,
    /// Length of the body, when the upstream said it.
    pub(crate) length: Option<u64>,
    /// The fields of requests that it varies on, and what those who may be given it have there.
    pub(crate) vary: (Arc<Spec>, Chosen),
    /// When it came from the upstream, or was last found to be good: milliseconds since the Unix epoch.
    pub(crate) stored_ms: u64,
    /// The instant at which its age was 0.
    pub(crate) born: Instant,
    /// Until when it is given to whoever asks.
    pub(crate) fresh_until: Instant,
    /// Until when it is given while it is fetched anew.
    pub(crate) while_revalidate_until: Instant,
    /// Until when it is given when it cannot be fetched.
    pub(crate) if_error_until: Instant,
    /// [`Head::lines`].
    lines: OnceLock<Bytes>,
}

impl Head {
    /// Of an answer that arrived at that moment. `life` is `None` for those who wait for it only.
    pub(crate) fn new(
        status: StatusCode,
        mut headers: HeaderMap,
        length: Option<u64>,
        vary: (Arc<Spec>, Chosen),
        life: Option<Life>,
        now: Instant,
    ) -> Head {
        let life = life.unwrap_or_default();
        // Everything that was cached at one instant would otherwise expire at one.
        let chance = if broken(Broken::NoJitter) { 0.0 } else { fastrand::f64() };
        let fresh_until = now + life.fresh - (life.fresh / JITTER_PART).mul_f64(chance);
        let born = now.checked_sub(lifetime::age(&headers)).unwrap_or(now);
        // Written anew for each reader.
        [AGE, LIFETIME, CONTENT_LENGTH].iter().for_each(|name| drop(headers.remove(name)));
        Head {
            status,
            headers,
            length,
            vary,
            stored_ms: Now::read().wall_ms,
            born,
            fresh_until,
            while_revalidate_until: fresh_until + life.while_revalidate,
            if_error_until: fresh_until + life.if_error,
            lines: OnceLock::new(),
        }
    }

    /// Of one that was kept on disk; the same for every request. Its times: [`Head::born`] and the three ends.
    pub(crate) fn of_before(
        status: StatusCode,
        headers: HeaderMap,
        length: u64,
        stored_ms: u64,
        [born, fresh_until, while_revalidate_until, if_error_until]: [Instant; 4],
    ) -> Head {
        let (length, vary, lines) = (Some(length), Default::default(), OnceLock::new());
        Head {
            status,
            headers,
            length,
            vary,
            stored_ms,
            born,
            fresh_until,
            while_revalidate_until,
            if_error_until,
            lines,
        }
    }

    /// Its age, as it is sent: whole seconds.
    pub(crate) fn age(&self, now: Instant) -> HeaderValue {
        HeaderValue::from(self.age_s(now))
    }

    /// The same as a number.
    pub(crate) fn age_s(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.born).as_secs()
    }

    /// What is left of its fresh time.
    pub(crate) fn left(&self, now: Instant) -> Duration {
        self.fresh_until.saturating_duration_since(now)
    }

    /// Whether an upstream can say that it is good still.
    pub(crate) fn has_validator(&self) -> bool {
        lifetime::has_validator(&self.headers)
    }

    /// The fields of a whole object of that length, as HTTP/1.1 writes them, each with its line end.
    pub(crate) fn lines(&self, length: usize) -> Bytes {
        let write = || {
            let mut lines = Vec::with_capacity(512);
            for (name, value) in &self.headers {
                for piece in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
                    lines.extend_from_slice(piece);
                }
            }
            if !matches!(self.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
                lines.extend_from_slice(
                    format!("accept-ranges: bytes\r\ncontent-length: {length}\r\n").as_bytes(),
                );
            }
            lines.extend_from_slice(b"cache-status: pavilion; hit\r\n");
            lines.into()
        };
        self.lines.get_or_init(write).clone()
    }
}
