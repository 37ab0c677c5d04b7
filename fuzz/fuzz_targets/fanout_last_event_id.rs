//! A Last-Event-ID from anyone.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fanout::fuzz::last_event_id(text));
