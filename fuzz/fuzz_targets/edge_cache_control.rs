//! What an upstream says of caching.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| edge::fuzz::cache_control(text));
