//! The kinds of documents, and what differs between them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Blackout, Catalog, Fault, Language, Match, Plan, Product, Programme, Right};

/// What a document is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// [`Language`].
    Language,
    /// [`Plan`].
    Plan,
    /// [`Match`].
    Match,
    /// [`Programme`].
    Programme,
    /// [`Product`].
    Product,
    /// [`Right`].
    Right,
    /// [`Blackout`].
    Blackout,
}

impl Kind {
    /// Each after those that it may name, and what opens after what closes: written in this order a match is never open
    /// before its blackouts stand.
    pub const ALL: [Kind; 7] = [
        Kind::Language,
        Kind::Plan,
        Kind::Match,
        Kind::Programme,
        Kind::Blackout,
        Kind::Product,
        Kind::Right,
    ];

    /// As it stands in keys and URLs.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Language => "language",
            Kind::Plan => "plan",
            Kind::Match => "match",
            Kind::Programme => "programme",
            Kind::Product => "product",
            Kind::Right => "right",
            Kind::Blackout => "blackout",
        }
    }

    /// The other way.
    pub fn of(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Catalog {
    /// Takes a document in, as it was read. What it says is not checked; see [`Catalog::check`].
    ///
    /// # Errors
    ///
    /// It is not one of this kind, or its id is another.
    pub fn insert(&mut self, kind: Kind, id: &str, document: &str) -> Result<(), Fault> {
        match kind {
            Kind::Language => put(&mut self.languages, kind, id, document, |d: &Language| &d.id),
            Kind::Plan => put(&mut self.plans, kind, id, document, |d: &Plan| &d.id),
            Kind::Match => put(&mut self.matches, kind, id, document, |d: &Match| &d.id),
            Kind::Programme => put(&mut self.programmes, kind, id, document, |d: &Programme| &d.id),
            Kind::Product => put(&mut self.products, kind, id, document, |d: &Product| &d.id),
            Kind::Right => put(&mut self.rights, kind, id, document, |d: &Right| &d.id),
            Kind::Blackout => put(&mut self.blackouts, kind, id, document, |d: &Blackout| &d.id),
        }
    }

    /// Takes a document out. False: there was none.
    pub fn remove(&mut self, kind: Kind, id: &str) -> bool {
        match kind {
            Kind::Language => self.languages.remove(id).is_some(),
            Kind::Plan => self.plans.remove(id).is_some(),
            Kind::Match => self.matches.remove(id).is_some(),
            Kind::Programme => self.programmes.remove(id).is_some(),
            Kind::Product => self.products.remove(id).is_some(),
            Kind::Right => self.rights.remove(id).is_some(),
            Kind::Blackout => self.blackouts.remove(id).is_some(),
        }
    }

    /// The documents of a kind as JSON, in the order of their ids.
    pub fn documents(&self, kind: Kind) -> Vec<(String, serde_json::Value)> {
        match kind {
            Kind::Language => all(&self.languages),
            Kind::Plan => all(&self.plans),
            Kind::Match => all(&self.matches),
            Kind::Programme => all(&self.programmes),
            Kind::Product => all(&self.products),
            Kind::Right => all(&self.rights),
            Kind::Blackout => all(&self.blackouts),
        }
    }
}

type Documents<T> = std::collections::BTreeMap<String, T>;

fn put<T: DeserializeOwned>(
    documents: &mut Documents<T>,
    kind: Kind,
    id: &str,
    text: &str,
    own: fn(&T) -> &String,
) -> Result<(), Fault> {
    let fault = |why: String| Fault::new(kind, id, &why);
    let document: T = crate::object(text.as_bytes()).map_err(&fault)?;
    if own(&document) != id {
        return Err(fault(format!(
            "its id says '{}'; both must be the same",
            super::check::short(own(&document))
        )));
    }
    documents.insert(id.to_owned(), document);
    Ok(())
}

fn all<T: Serialize>(documents: &Documents<T>) -> Vec<(String, serde_json::Value)> {
    documents.iter().map(|(id, document)| (id.clone(), serde_json::json!(document))).collect()
}
