//! What a pipeline says of an object and of its programme: whatever is understood is said again alike.

#![no_main]

use timeline::object::Meta;
use timeline::programme::Programme;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(meta) = serde_json::from_slice::<Meta>(bytes) {
        let said = serde_json::to_vec(&meta).expect("a meta can be written");
        assert_eq!(serde_json::from_slice::<Meta>(&said).ok(), Some(meta));
    }
    if let Ok(programme) = serde_json::from_slice::<Programme>(bytes) {
        // The grid comes from outside: none may make the arithmetic panic once it has been let in.
        let _ = (programme.grid.parts(), programme.grid.frame_rate.hz());
    }
});
