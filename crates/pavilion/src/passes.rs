//! Passes, as the binary puts them together: the file of keys that door and edge share, and where an edge's clients are.

use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use arrival::whereabouts::{Files, Whereabouts};

/// Who issues passes here.
const ISSUER: &str = "pavilion";

/// Makes a file of keys that only we can read, if there is none yet.
pub(crate) fn make_keys(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let making = || format!("making {}", file.display());
    let document = pass::Document::generate(ISSUER, "first").with_context(making)?;
    // Whole or not at all: the next start would take half a file for keys.
    let new = file.with_extension("new");
    let _ = std::fs::remove_file(&new);
    let mut open = std::fs::OpenOptions::new();
    let mut to = open.write(true).create_new(true).mode(0o600).open(&new).with_context(making)?;
    to.write_all(&serde_json::to_vec_pretty(&document)?).with_context(making)?;
    std::fs::rename(&new, file).with_context(making)
}

/// Has an edge know where its clients are, if there is a file that says so: the door's, or another copy of it.
pub(crate) fn place(edge: &edge::Edge, files: &Files) -> anyhow::Result<()> {
    if *files != Files::default() {
        edge.set_whereabouts(Arc::new(Known(Whereabouts::open(files)?)));
    }
    Ok(())
}

struct Known(Whereabouts);

impl edge::Whereabouts for Known {
    fn find(&self, client: IpAddr) -> pass::Place {
        let place = self.0.place(client);
        pass::Place {
            country: place.country().map(Into::into),
            subdivision: place.subdivision.as_deref().map(Into::into),
            asn: place.asn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn keys_are_made_once_and_are_ours_alone() {
        let file = std::env::temp_dir().join(format!("pavilion-pass-keys-{}", std::process::id()));
        make_keys(&file).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(pass::Gate::from_json(&text).is_ok());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        make_keys(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        std::fs::remove_file(&file).unwrap();
    }
}
