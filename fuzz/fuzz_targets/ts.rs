//! What arrives from the ground.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ts::fuzz::fuzz_demux(bytes));
