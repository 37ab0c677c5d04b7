//! What is published: 180 bytes of JSON that say when, as a score event of the reference is long.

/// Before the instant of publication, in microseconds of UTC.
pub(crate) const MARK: &str = "\"us\":";

/// Bytes of a payload.
pub(crate) const BYTES: usize = 180;

/// A payload, published now.
pub(crate) fn payload(published_us: u64) -> String {
    let start = format!(
        "{{\"type\":\"score_event\",\"match_id\":\"m0\",{MARK}{published_us},\"event_id\":1005003000,\"revision\":1,\"text\":\""
    );
    let rest = BYTES - start.len() - 2;
    format!("{start}{}\"}}", "x".repeat(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_json_of_its_length() {
        let payload = payload(1_796_000_000_000_000);
        assert_eq!(payload.len(), BYTES);
        let value: serde_json::Value = serde_json::from_str(&payload).unwrap();
        assert_eq!(value["us"], 1_796_000_000_000_000u64);
    }
}
