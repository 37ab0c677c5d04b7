//! A client's WebSocket: frames, and the operations in them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fanout::fuzz::frame(bytes));
