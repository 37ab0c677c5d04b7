//! A path below a programme, as a client or a pipeline sends it: whatever parses is the one name of an object.

#![no_main]

use timeline::name::Object;

libfuzzer_sys::fuzz_target!(|path: &str| {
    if let Ok(object) = path.parse::<Object>() {
        assert_eq!(object.to_string(), path);
    }
});
