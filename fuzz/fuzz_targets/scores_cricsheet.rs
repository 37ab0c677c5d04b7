//! A match in Cricsheet's JSON.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scores::recording::fuzz_cricsheet(bytes));
