//! What a key server answers.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drm::fuzz::cpix(bytes));
