//! Refusals that a person understands: RFC 9457 problem documents. The one place where refusals become responses.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::catalog::{Dark, Match};
use crate::entitlement::Refusal;
use crate::slots::Stream;
use crate::whereabouts::country_name;

/// A problem document.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    status: StatusCode,
    /// The last segment of its type, `/problems/{kind}`; none: what the status says is all.
    kind: Option<&'static str>,
    title: &'static str,
    detail: String,
    members: Map<String, Value>,
    /// When to come again, in seconds.
    retry_s: Option<u32>,
}

impl Problem {
    fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: String) -> Problem {
        Problem { status, kind: Some(kind), title, detail, members: Map::new(), retry_s: None }
    }

    pub(crate) fn with(mut self, name: &str, value: Value) -> Problem {
        self.members.insert(name.to_owned(), value);
        self
    }

    /// With a word for programs and metrics, where refusals are told apart by it.
    pub(crate) fn because(self, reason: &str) -> Problem {
        self.with("reason", json!(reason))
    }

    /// That word.
    pub(crate) fn reason(&self) -> &str {
        self.members.get("reason").and_then(Value::as_str).or(self.kind).unwrap_or("unknown")
    }

    pub(crate) fn retry(self, retry_s: u32) -> Problem {
        Problem { retry_s: Some(retry_s), ..self }
    }

    pub(crate) fn plain(status: StatusCode, title: &'static str, detail: &str) -> Problem {
        Problem { kind: None, ..Problem::new(status, "", title, detail.to_owned()) }
    }

    /// An operator's mistake, as a sentence.
    pub(crate) fn wrong(detail: String) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not-taken", "Not taken", detail)
    }

    pub(crate) fn no_match() -> Problem {
        let detail = "There is no match by this name; see /v1/matches.";
        Problem::plain(StatusCode::NOT_FOUND, "No such match", detail)
    }

    pub(crate) fn busy(retry_s: u32) -> Problem {
        let detail = "Very many people are arriving right now. Please try again in a few seconds.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", "Very busy", detail.into()).retry(retry_s)
    }

    pub(crate) fn too_many(retry_s: u32) -> Problem {
        let detail = "That was asked too often in a short time. Please wait a few seconds.";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-often", "Too many requests", detail.into())
            .retry(retry_s)
    }

    pub(crate) fn later(retry_s: u32) -> Problem {
        let detail =
            "This cannot be changed just now. Nothing was lost; please try again later. The match plays on.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "later", "Please try later", detail.into())
            .retry(retry_s)
    }

    pub(crate) fn unchecked(retry_s: u32) -> Problem {
        let detail = "Your subscription cannot be checked right now. Please try again in a few seconds.";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unchecked", "Cannot check right now", detail.into())
            .retry(retry_s)
    }

    pub(crate) fn not_begun(one: &Match) -> Problem {
        let detail = format!("{} has not begun yet.", one.title);
        Problem::new(StatusCode::FORBIDDEN, "not-begun", "Not begun", detail)
            .with("start_ms", json!(one.start_ms))
    }

    pub(crate) fn postponed(one: &Match) -> Problem {
        let detail = format!("{} has been postponed.", one.title);
        Problem::new(StatusCode::FORBIDDEN, "postponed", "Postponed", detail)
    }

    /// It is not shown where they are.
    pub(crate) fn dark(one: &Match, dark: &Dark) -> Problem {
        let title = &one.title;
        let status = StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS;
        match dark {
            Dark::Unknown => Problem::new(
                status,
                "place-unknown",
                "Where you are is not known",
                format!(
                    "{title} is available in some places only, and we cannot tell where you are. Another network may help."
                ),
            ),
            Dark::Hidden => Problem::new(
                status,
                "place-hidden",
                "A VPN or proxy is in use",
                format!(
                    "{title} is available in some places only, and your connection hides where you are. Please turn off your VPN or proxy."
                ),
            ),
            Dark::Country(code) => {
                let detail = format!("{title} is not available in {}.", country_name(*code));
                let code = String::from_utf8_lossy(code).into_owned();
                Problem::new(status, "country", "Not available in your country", detail)
                    .with("country", json!(code))
            }
            Dark::Early(from_ms) => {
                let detail = format!("{title} is not available here yet.");
                Problem::new(status, "not-yet", "Not available yet", detail).with("from_ms", json!(from_ms))
            }
            Dark::Over => {
                let detail = format!("{title} is no longer available here.");
                Problem::new(status, "over", "No longer available", detail)
            }
            Dark::Blackout(area) => {
                let of = area.as_ref().map_or(String::new(), |area| format!(" ({area})"));
                let detail = format!("{title} must not be shown where you are{of}.");
                Problem::new(status, "blackout", "Not available where you are", detail)
                    .with("area", json!(area))
            }
        }
    }

    /// They have not paid.
    pub(crate) fn not_entitled(one: &Match, refusal: Refusal) -> Problem {
        let title = &one.title;
        match refusal {
            Refusal::LogIn => {
                let detail = format!("Please log in to watch {title}.");
                Problem::new(StatusCode::UNAUTHORIZED, "log-in", "Please log in", detail)
            }
            Refusal::NotBought(products) => {
                let detail = match products.as_slice() {
                    [] => format!("{title} is not on sale."),
                    [one] => format!("{title} comes with {one}."),
                    [all @ .., last] => format!("{title} comes with {} or {last}.", all.join(", ")),
                };
                Problem::new(StatusCode::PAYMENT_REQUIRED, "not-bought", "Not in your plan", detail)
                    .with("products", json!(products))
            }
            Refusal::Early(from_ms) => {
                let detail = format!("What you bought to watch {title} begins later.");
                Problem::new(StatusCode::PAYMENT_REQUIRED, "begins-later", "It begins later", detail)
                    .with("from_ms", json!(from_ms))
            }
        }
    }

    /// Too many devices play.
    pub(crate) fn devices(streams: &[Stream]) -> Problem {
        let names: Vec<_> = streams.iter().map(|s| s.name.as_str()).collect();
        let detail = match names.as_slice() {
            [one] => format!("One device is already watching: {one}. Stop it to watch here."),
            all => format!(
                "{} devices are already watching: {}. Stop one to watch here.",
                counted(all.len()),
                all.join(", ")
            ),
        };
        Problem::new(StatusCode::CONFLICT, "devices", "Too many devices", detail)
            .with("devices", streams.iter().map(listed).collect())
    }

    pub(crate) fn stream_over() -> Problem {
        let detail =
            "This stream is over here: it was stopped on another device, or silent for too long. Play again.";
        Problem::new(StatusCode::GONE, "stream-over", "Stopped", detail.into())
    }
}

/// A stream, as its viewer sees it.
pub(crate) fn listed(stream: &Stream) -> Value {
    json!({
        "id": stream.id, "name": stream.name, "device": stream.device, "match": stream.r#match,
        "since_ms": stream.since_ms,
    })
}

fn counted(n: usize) -> String {
    match n {
        2 => "Two".into(),
        3 => "Three".into(),
        4 => "Four".into(),
        5 => "Five".into(),
        n => n.to_string(),
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = self.members;
        if let Some(kind) = self.kind {
            body.insert("type".into(), json!(format!("/problems/{kind}")));
        }
        body.insert("title".into(), json!(self.title));
        body.insert("detail".into(), json!(self.detail));
        body.insert("status".into(), json!(self.status.as_u16()));
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (self.status, kind, Value::Object(body).to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(retry_s) = self.retry_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_s));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            // RFC 9110, 11.6.1.
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
