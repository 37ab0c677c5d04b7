//! Media of any server, as our player model looks into it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| loadgen::object::fuzz(bytes));
