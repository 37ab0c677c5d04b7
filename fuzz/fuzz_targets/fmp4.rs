//! What an encoder writes on its pipe.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cmaf::fuzz::fuzz_reader(bytes));
