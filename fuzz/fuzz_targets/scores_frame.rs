//! A frame as a client reads it, in JSON or Protobuf.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scores::frame::fuzz(bytes));
