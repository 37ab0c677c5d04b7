//! A Range header from anyone.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| edge::fuzz::range(text));
