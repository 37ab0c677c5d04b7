//! What an encoder makes, to be encrypted.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cmaf::fuzz::fuzz_encrypt(bytes));
