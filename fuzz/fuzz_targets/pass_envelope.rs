//! A token's bytes, which nobody signed; and a file of keys.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pass::fuzz::envelope(bytes));
