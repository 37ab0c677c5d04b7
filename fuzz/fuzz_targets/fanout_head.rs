//! The head of a request from anyone, and what it asks of the stream.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fanout::fuzz::head(bytes));
