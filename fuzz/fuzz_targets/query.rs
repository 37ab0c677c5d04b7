//! What a player asks with a playlist.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hls::fuzz::query(bytes));
