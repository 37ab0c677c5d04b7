//! An array of format "wire".

#![no_main]

libfuzzer_sys::fuzz_target!(|array: &[u8]| scores::feeds::wire::fuzz(array));
