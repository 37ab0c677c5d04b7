//! What comes on a connection between a shard and a taker.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| relay::fuzz::frames(bytes));
