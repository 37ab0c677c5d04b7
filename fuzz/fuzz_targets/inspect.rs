//! What is put to an origin.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cmaf::fuzz::fuzz_inspect(bytes));
