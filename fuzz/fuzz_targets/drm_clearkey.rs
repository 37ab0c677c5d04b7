//! What a ClearKey player sends.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drm::fuzz::clearkey(bytes));
