//! A pass from anyone: as text, as a token's bytes, and as the claims of one that we signed; and a file of keys.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pass::fuzz::pass(bytes));
