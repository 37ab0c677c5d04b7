//! A token, or a key set, from anyone.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| pass::fuzz::token(text));
