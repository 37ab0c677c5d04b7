//! What there is to watch, where it may be shown, and what is sold. Small documents; everybody who decides has all of
//! them in memory, so no decision waits for a database.
//!
//! [`documents`] says what is kept, [`check`] what is refused, [`rights`] where a match may be shown, [`keep`] how
//! documents stand in the registers, [`file`] how they come in and go out together.

mod admin;
mod area;
mod check;
mod documents;
mod file;
mod keep;
mod kind;
mod limits;
mod rights;
mod score;
mod seed;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(crate) use admin::router;
pub use check::Fault;
pub use documents::{Area, Blackout, Language, Match, Plan, Product, Programme, Right, Status};
pub use file::File;
pub use keep::Keeper;
pub(crate) use keep::{stopped as keep_stopped, write as write_register};
pub use kind::Kind;
pub use rights::{Dark, Shown};
pub(crate) use seed::seed;

/// Every document, as they stood at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// By id, as everything here.
    pub matches: BTreeMap<String, Match>,
    /// Pictures.
    pub programmes: BTreeMap<String, Programme>,
    /// Commentary.
    pub languages: BTreeMap<String, Language>,
    /// Where and when.
    pub rights: BTreeMap<String, Right>,
    /// Where not.
    pub blackouts: BTreeMap<String, Blackout>,
    /// What comes with a product.
    pub plans: BTreeMap<String, Plan>,
    /// What is sold.
    pub products: BTreeMap<String, Product>,
    /// Blackouts that stand in the store and cannot be read, by their keys, with the matches that they seem to name.
    /// None: not even that can be told.
    pub unreadable: BTreeMap<String, Option<Vec<String>>>,
}

/// All that a decision about one match needs, found once.
#[derive(Clone, Debug)]
pub struct Show {
    /// The match.
    pub r#match: Match,
    /// Its pictures, the one that everybody gets first.
    pub programmes: Vec<Programme>,
    /// Where and when it may be shown.
    pub rights: Vec<Right>,
    /// Where it must not.
    pub blackouts: Vec<Blackout>,
    /// A blackout that cannot be read may be meant for it.
    pub unreadable: bool,
    /// What opens it, with what it comes with, the highest tier first.
    pub offers: Vec<(Product, Plan)>,
}

/// A catalog with what follows from it.
#[derive(Clone, Debug, Default)]
pub struct Copy {
    /// The documents.
    pub catalog: Catalog,
    shows: HashMap<String, Arc<Show>>,
}

impl Copy {
    /// Works out what follows.
    pub fn of(catalog: Catalog) -> Copy {
        let shows = catalog.matches.values().map(|m| (m.id.clone(), Arc::new(catalog.show(m)))).collect();
        Copy { catalog, shows }
    }

    /// A match by its id.
    pub fn show(&self, id: &str) -> Option<&Arc<Show>> {
        self.shows.get(id)
    }
}

impl Catalog {
    fn show(&self, one: &Match) -> Show {
        let names = |matches: &[String]| matches.contains(&one.id);
        let mut programmes: Vec<_> =
            self.programmes.values().filter(|p| p.r#match == one.id).cloned().collect();
        programmes.sort_by_key(|p| p.angle);
        let mut offers: Vec<_> = self
            .products
            .values()
            .filter(|product| product.opens(one))
            .filter_map(|product| Some((product.clone(), self.plans.get(&product.plan)?.clone())))
            .collect();
        offers.sort_by_key(|(_, plan)| std::cmp::Reverse(plan.tier));
        Show {
            programmes,
            rights: self.rights.values().filter(|r| names(&r.matches)).cloned().collect(),
            blackouts: self.blackouts.values().filter(|b| names(&b.matches)).cloned().collect(),
            unreadable: self.unreadable.values().any(|matches| matches.as_deref().is_none_or(names)),
            offers,
            r#match: one.clone(),
        }
    }
}
