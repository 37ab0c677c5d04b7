//! The head of a request from anyone.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| edge::fuzz::head(bytes));
