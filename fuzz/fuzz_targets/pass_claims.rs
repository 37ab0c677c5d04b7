//! A pass from anyone, as text; and as the claims of a token that we signed.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pass::fuzz::pass(bytes));
