//! Entries for fuzzing: they must return, whatever the bytes.

/// A licence request; what is accepted can be answered.
pub fn clearkey(bytes: &[u8]) {
    if let Ok(request) = crate::clearkey::request(bytes) {
        assert!(!request.kids.is_empty());
    }
}

/// A key server's answer.
pub fn cpix(bytes: &[u8]) {
    if let Ok(keys) = crate::cpix::response(bytes) {
        assert!(!keys.is_empty() && keys.len() <= crate::cpix::KEYS_MAX);
    }
}
