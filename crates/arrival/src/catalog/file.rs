//! All documents as one file.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::keep::Edit;
use super::{Catalog, Fault, Kind};

/// What stands in the file: `{"pavilion_catalog": 1, "documents": {"match": [{"id": …}, …], …}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The version of the form: 1.
    pub pavilion_catalog: u32,
    /// By kind.
    pub documents: BTreeMap<Kind, Vec<Value>>,
}

impl File {
    /// Of everything.
    pub fn of(catalog: &Catalog) -> File {
        let all = |kind| catalog.documents(kind).into_iter().map(|(_, document)| document).collect();
        File { pavilion_catalog: 1, documents: Kind::ALL.into_iter().map(|kind| (kind, all(kind))).collect() }
    }

    /// Reads one.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn read(text: &[u8]) -> Result<File, Fault> {
        let file: File = crate::object(text).map_err(|error| {
            let form = r#"{"pavilion_catalog": 1, "documents": {"match": [{"id": "final", …}]}}"#;
            Fault::file(&format!("{error}; it has the form {form}"))
        })?;
        if file.pavilion_catalog != 1 {
            let why = format!("its form is {}, and only 1 is known here", file.pavilion_catalog);
            return Err(Fault::file(&why));
        }
        Ok(file)
    }

    /// What is to be changed so that the catalog says what the file says. `replace`: and nothing else.
    ///
    /// # Errors
    ///
    /// A document has no id, or one that another has.
    pub(crate) fn edits(&self, catalog: &Catalog, replace: bool) -> Result<Vec<Edit>, Fault> {
        let mut edits = Vec::new();
        for kind in Kind::ALL {
            let documents = self.documents.get(&kind).map_or(&[][..], Vec::as_slice);
            let standing: BTreeMap<_, _> = catalog.documents(kind).into_iter().collect();
            let mut seen = BTreeSet::new();
            for document in documents {
                let id = document.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                if id.is_empty() {
                    return Err(Fault::file(&format!("a {} has no id", kind.name())));
                }
                if !seen.insert(id.clone()) {
                    return Err(Fault::new(kind, &id, "it stands in the file twice"));
                }
                // In the order of the text that would be read of it, so that what is the same is not written again.
                if standing.get(&id) != Some(document) {
                    edits.push(Edit { kind, id, document: Some(document.to_string()) });
                }
            }
            if replace {
                let gone = standing.into_keys().filter(|id| !seen.contains(id));
                edits.extend(gone.map(|id| Edit { kind, id, document: None }));
            }
        }
        Ok(edits)
    }
}
