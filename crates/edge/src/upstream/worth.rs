//! What an upstream's answer says of it, and how much it is worth to whoever asked. Pure.

use http::header::RETRY_AFTER;
use http::{Response, StatusCode};

/// From the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worth {
    /// The upstream is broken, or whatever stands behind it: another may not be.
    Failing,
    /// It is well, and has no room or not yet the content, and says when to come back.
    Shedding,
    /// It is well and says no. An answer like any other.
    Refusal,
    /// What was asked for.
    Found,
}

impl Worth {
    /// Judges a head.
    pub(super) fn of<B>(answer: &Response<B>) -> Worth {
        match answer.status() {
            // These speak of the request, and any upstream would say the same.
            StatusCode::NOT_IMPLEMENTED | StatusCode::HTTP_VERSION_NOT_SUPPORTED => Worth::Refusal,
            StatusCode::SERVICE_UNAVAILABLE if answer.headers().contains_key(RETRY_AFTER) => Worth::Shedding,
            status if status.is_server_error() => Worth::Failing,
            status if status.is_client_error() => Worth::Refusal,
            _ => Worth::Found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_judged() {
        let worth = |status: u16, retry: bool| {
            let mut answer = Response::builder().status(status);
            if retry {
                answer = answer.header("retry-after", "2");
            }
            Worth::of(&answer.body(()).unwrap())
        };
        for status in [200, 204, 206, 301, 304] {
            assert_eq!(worth(status, false), Worth::Found);
        }
        for status in [400, 404, 410, 416, 429, 501, 505] {
            assert_eq!(worth(status, true), Worth::Refusal);
        }
        for status in [500, 502, 503, 504, 520, 599] {
            assert_eq!(worth(status, false), Worth::Failing);
        }
        assert_eq!((worth(503, true), worth(500, true)), (Worth::Shedding, Worth::Failing));
        assert!(
            Worth::Found > Worth::Refusal
                && Worth::Refusal > Worth::Shedding
                && Worth::Shedding > Worth::Failing
        );
    }
}
