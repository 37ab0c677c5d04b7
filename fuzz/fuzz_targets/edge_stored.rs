//! What an edge finds on its disk.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| edge::fuzz::stored(bytes));
