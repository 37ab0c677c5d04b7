//! A request target from anyone.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| edge::fuzz::target(text));
