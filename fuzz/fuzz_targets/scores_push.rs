//! A line of format "push".

#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| scores::feeds::push::fuzz(line));
