//! How one speaks to a product: what stands in the handshake, what is said after it, and how a message tells when it
//! was published.

use serde::{Deserialize, Serialize};

/// All that differs between products, for the one client program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Speech {
    /// The handshake's target; `@channel@` is the first of the socket's channels.
    pub(crate) path: String,
    /// `Sec-WebSocket-Protocol`.
    pub(crate) protocol: Option<String>,
    /// `Authorization: Bearer`.
    pub(crate) bearer: Option<String>,
    /// Once, after the handshake.
    pub(crate) greet: Vec<Step>,
    /// For each of the socket's channels; `@channel@` is its name.
    pub(crate) subscribe: Option<Step>,
    /// Where a message says when it was published.
    pub(crate) mark: Mark,
}

/// Something that is said, and what must come before the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// One text frame; empty: only wait.
    pub(crate) send: String,
    /// A message has this in it.
    pub(crate) until: String,
}

/// Digits after a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The text.
    pub(crate) text: String,
    /// What they count: so many microseconds.
    pub(crate) unit_us: u64,
}

impl Step {
    pub(crate) fn new(send: &str, until: &str) -> Step {
        Step { send: send.to_owned(), until: until.to_owned() }
    }
}

impl Speech {
    /// The handshake (RFC 6455, 4.1). The key is that of the RFC's example, and so is the answer that must come.
    pub(crate) fn handshake(&self, host: &str, channel: &str) -> String {
        let path = self.path.replace("@channel@", channel);
        let mut head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        );
        if let Some(protocol) = &self.protocol {
            head += &format!("Sec-WebSocket-Protocol: {protocol}\r\n");
        }
        if let Some(bearer) = &self.bearer {
            head += &format!("Authorization: Bearer {bearer}\r\n");
        }
        head + "\r\n"
    }

    /// The n-th thing to do on a socket with these channels; none when all has been said.
    pub(crate) fn step(&self, n: usize, channels: &[String]) -> Option<Step> {
        if let Some(step) = self.greet.get(n) {
            return Some(step.clone());
        }
        let (channel, step) = (channels.get(n - self.greet.len())?, self.subscribe.as_ref()?);
        let named = |text: &str| text.replace("@channel@", channel);
        Some(Step { send: named(&step.send), until: named(&step.until) })
    }
}

/// `Sec-WebSocket-Accept` for the key of [`Speech::handshake`] (RFC 6455, 1.3).
pub(crate) const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_whom() {
        let speech = Speech {
            path: "/s?id=@channel@".to_owned(),
            bearer: Some("t".to_owned()),
            greet: vec![Step::new("hello", "welcome")],
            subscribe: Some(Step::new("sub @channel@", "now @channel@")),
            ..Speech::default()
        };
        let head = speech.handshake("h", "m1");
        assert!(
            head.starts_with("GET /s?id=m1 HTTP/1.1\r\nHost: h\r\n") && head.ends_with("\r\n\r\n"),
            "{head}"
        );
        assert!(head.contains("\r\nAuthorization: Bearer t\r\n") && !head.contains("Protocol"), "{head}");
        let channels = ["m1".to_owned(), "m2".to_owned()];
        let steps: Vec<_> = (0..4).map_while(|n| speech.step(n, &channels)).map(|s| s.send).collect();
        assert_eq!(steps, ["hello", "sub m1", "sub m2"]);
    }
}
