//! A playlist from any server, as our player model and checker read it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hls::fuzz::playlist(bytes));
