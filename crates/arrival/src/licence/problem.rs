//! Why there is no licence, for people and, as a `reason`, for programs.

use drm::licence::Refusal;
use http::StatusCode;

use crate::catalog::{Dark, Match};
use crate::play::Problem;

impl Problem {
    pub(crate) fn no_licences() -> Problem {
        let detail = "There are no licences of this DRM system here; play's answer says of which there are.";
        Problem::plain(StatusCode::NOT_FOUND, "No such licences", detail).because("no_such_system")
    }

    pub(crate) fn not_encrypted(one: &Match) -> Problem {
        let detail = format!("{} is not encrypted, so it needs no licence.", one.title);
        Problem::plain(StatusCode::CONFLICT, "Not encrypted", &detail).because("not_encrypted")
    }

    /// It is not shown where they are, now.
    pub(crate) fn not_here(one: &Match, dark: &Dark) -> Problem {
        let problem = Problem::dark(one, dark);
        let reason = problem.reason().replace('-', "_");
        problem.because(&reason)
    }

    /// The edge would not open either. The words are the same.
    pub(crate) fn pass_refused(why: pass::Refusal) -> Problem {
        let status = StatusCode::from_u16(why.status()).unwrap_or(StatusCode::FORBIDDEN);
        Problem::plain(status, "The pass does not open this", &why.to_string()).because(why.label())
    }

    pub(crate) fn not_a_licence_request(why: String) -> Problem {
        Problem::plain(StatusCode::BAD_REQUEST, "Not a licence request", &why).because("not_a_request")
    }

    pub(crate) fn licence_request_too_large() -> Problem {
        let detail = "A licence request has no more than 64 KiB.";
        Problem::plain(StatusCode::PAYLOAD_TOO_LARGE, "Too large", detail).because("too_large")
    }

    pub(crate) fn persistent_licence() -> Problem {
        let detail = "Licences are for one session; ask with the type \"temporary\".";
        Problem::plain(StatusCode::BAD_REQUEST, "No persistent licences", detail).because("persistent")
    }

    pub(crate) fn no_licence(why: Refusal) -> Problem {
        let reason = match why {
            Refusal::Expired => "ended",
            Refusal::Unknown => "no_such_key",
            Refusal::Quality => "quality",
        };
        Problem::plain(StatusCode::FORBIDDEN, "No licence", &format!("{why}.")).because(reason)
    }

    pub(crate) fn licence_refused() -> Problem {
        let detail = "The licence server does not take this device's request.";
        Problem::plain(StatusCode::FORBIDDEN, "No licence", detail).because("refused")
    }

    pub(crate) fn licences_away(retry_s: u32) -> Problem {
        let detail = "Licences cannot be had right now. Please try again in a few seconds.";
        let problem = Problem::plain(StatusCode::SERVICE_UNAVAILABLE, "Please try later", detail);
        problem.because("away").retry(retry_s)
    }
}
