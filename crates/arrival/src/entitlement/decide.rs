//! Who may watch what, from what they bought.

use super::Held;
use crate::catalog::{Plan, Product, Show};

/// They may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Granted<'a> {
    /// By what.
    pub product: &'a Product,
    /// With this.
    pub plan: &'a Plan,
    /// UTC, milliseconds: not from then on. None: for ever.
    pub until_ms: Option<i64>,
}

/// They may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody is logged in, and it is not free.
    LogIn,
    /// They have bought nothing that opens it, or it is over. The names of what would.
    NotBought(Vec<String>),
    /// What they bought begins later: UTC, milliseconds.
    Early(i64),
}

/// Whether somebody who bought this (None: nobody is logged in) may watch at an instant (UTC, milliseconds). With several
/// plans the highest tier counts, and of several purchases for it the one that ends last.
///
/// # Errors
///
/// Why not.
pub fn decide<'a>(show: &'a Show, held: Option<&[Held]>, now_ms: i64) -> Result<Granted<'a>, Refusal> {
    let mut early: Option<i64> = None;
    // Offers come with the highest tier first.
    for (product, plan) in &show.offers {
        if product.free {
            return Ok(Granted { product, plan, until_ms: None });
        }
        let bought =
            held.unwrap_or_default().iter().filter(|h| *h.product == *product.id && h.until_ms > now_ms);
        let mut until_ms = None;
        for one in bought {
            if one.from_ms <= now_ms {
                until_ms = until_ms.max(Some(one.until_ms));
            } else {
                early = Some(early.map_or(one.from_ms, |e| e.min(one.from_ms)));
            }
        }
        if until_ms.is_some() {
            return Ok(Granted { product, plan, until_ms });
        }
    }
    match (held, early) {
        (None, _) => Err(Refusal::LogIn),
        (Some(_), Some(from)) => Err(Refusal::Early(from)),
        (Some(_), None) => {
            Err(Refusal::NotBought(show.offers.iter().map(|(product, _)| product.name.clone()).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::{Catalog, Copy, Kind};

    /// Products by (id, tier, free), each of a plan of its own.
    fn show(products: &[(&str, u8, bool)]) -> Show {
        let mut catalog = Catalog::default();
        let mut put = |kind, id: &str, document: serde_json::Value| {
            catalog.insert(kind, id, &document.to_string()).unwrap();
        };
        put(
            Kind::Match,
            "final",
            serde_json::json!({"id": "final", "title": "Final", "league": "premier", "status": "live", "start_ms": 0}),
        );
        for (id, tier, free) in products {
            put(Kind::Plan, id, serde_json::json!({"id": id, "name": id, "tier": tier}));
            put(Kind::Product, id, serde_json::json!({"id": id, "name": id, "plan": id, "free": free}));
        }
        Copy::of(catalog).show("final").unwrap().as_ref().clone()
    }

    fn held(product: &str, from_ms: i64, until_ms: i64) -> Held {
        Held { id: product.into(), product: product.into(), from_ms, until_ms }
    }

    #[test]
    fn the_highest_tier_counts_and_what_is_free_needs_nobody() {
        let show = show(&[("free", 0, true), ("gold", 2, false), ("silver", 1, false)]);
        let plan = |held: Option<&[Held]>| decide(&show, held, 5).map(|g| (g.plan.id.as_str(), g.until_ms));
        assert_eq!(plan(None), Ok(("free", None)));
        assert_eq!(plan(Some(&[])), Ok(("free", None)));
        assert_eq!(plan(Some(&[held("silver", 0, 10), held("gold", 0, 8)])), Ok(("gold", Some(8))));
        assert_eq!(
            plan(Some(&[held("gold", 0, 8), held("gold", 0, 9), held("gold", 0, 7)])),
            Ok(("gold", Some(9)))
        );
        assert_eq!(plan(Some(&[held("gold", 6, 8), held("silver", 0, 5)])), Ok(("free", None)));
    }

    #[test]
    fn a_refusal_says_what_would_help() {
        let show = show(&[("gold", 2, false)]);
        assert_eq!(decide(&show, None, 5), Err(Refusal::LogIn));
        assert_eq!(decide(&show, Some(&[]), 5), Err(Refusal::NotBought(vec!["gold".into()])));
        assert_eq!(decide(&show, Some(&[held("gold", 7, 9), held("gold", 6, 9)]), 5), Err(Refusal::Early(6)));
        assert_eq!(
            decide(&show, Some(&[held("other", 0, 9)]), 5),
            Err(Refusal::NotBought(vec!["gold".into()]))
        );
    }

    #[test]
    fn a_product_is_for_its_matches_and_leagues() {
        let product = |matches: Option<&str>, leagues: Option<&str>| Product {
            id: "p".into(),
            name: "p".into(),
            plan: "p".into(),
            free: false,
            matches: matches.map(|m| vec![m.to_owned()]),
            leagues: leagues.map(|l| vec![l.to_owned()]),
        };
        let one = show(&[]).r#match;
        assert!(product(None, None).opens(&one) && product(Some("final"), Some("premier")).opens(&one));
        assert!(!product(Some("semi"), None).opens(&one) && !product(None, Some("la-liga")).opens(&one));
    }

    proptest! {
        /// Nobody watches without a purchase that covers the instant, everybody with one does, and never beyond it.
        #[test]
        fn granted_exactly_while_something_covers(
            bought in proptest::collection::vec((0usize..3, -5i64..5, 1i64..6), 0..6), now in -6i64..12,
        ) {
            let products = [("a", 1, false), ("b", 2, false), ("c", 3, false)];
            let show = show(&products[..2]);
            let all: Vec<_> = bought.iter().map(|(p, from, long)| held(products[*p].0, *from, from + long)).collect();
            let covers: Vec<_> = all
                .iter()
                .filter(|h| &*h.product != "c" && h.from_ms <= now && h.until_ms > now)
                .collect();
            match decide(&show, Some(&all), now) {
                Ok(granted) => {
                    prop_assert!(covers.iter().any(|h| *h.product == granted.product.id && granted.until_ms == Some(h.until_ms)));
                    prop_assert!(covers.iter().all(|h| *h.product <= *granted.product.id), "the highest tier");
                    // One purchase more takes nothing away.
                    let mut more = all.clone();
                    more.push(held("b", now, now + 1));
                    prop_assert!(decide(&show, Some(&more), now).is_ok());
                }
                Err(_) => prop_assert!(covers.is_empty()),
            }
        }
    }
}
