//! Answers of any server to our player model.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| loadgen::player::fuzz(bytes));
