//! A match in our format.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scores::recording::fuzz(bytes));
