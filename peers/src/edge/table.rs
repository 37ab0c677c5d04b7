//! What every product did in one case, and the figure that comes of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::client::alone;
use super::origin::Origin;
use super::product::Product;
use super::rig::{Served, Target};
use crate::figure::{Figure, Goal, figures};
use crate::stats;

/// What one round of a case saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// One for each client.
    pub(crate) ms: Vec<f64>,
    /// What reached the origin.
    pub(crate) fetches: u64,
    /// How long the origin itself took.
    pub(crate) origin_ms: f64,
    /// What the clients should have had and had not.
    pub(crate) fault: Option<String>,
}

/// All rounds of one product.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) ms: Vec<f64>,
    fetches: Vec<u64>,
    origin_ms: Vec<f64>,
    fault: Option<String>,
}

/// By product.
pub(crate) type Table = BTreeMap<&'static str, Row>;

/// Runs a case in rounds, every product in turn, each on a thread of its own. A case sees `N` things.
pub(crate) async fn rounds<const N: usize, F>(
    served: &[Served],
    origin: &Arc<Origin>,
    rounds: u32,
    case: impl Fn(Target, Arc<Origin>) -> F + Clone + Send + 'static,
) -> [Table; N]
where
    F: Future<Output = anyhow::Result<[Seen; N]>> + 'static,
{
    let mut tables = [(); N].map(|()| Table::new());
    for _ in 0..rounds {
        for one in served {
            let (case, target, origin) = (case.clone(), one.target, origin.clone());
            let seen = match one.child.check() {
                Ok(()) => alone(move || case(target, origin)).await,
                Err(error) => Err(error),
            };
            let name = one.target.name;
            match seen {
                Ok(seen) => tables.iter_mut().zip(seen).for_each(|(t, s)| t.entry(name).or_default().add(s)),
                Err(error) => {
                    let fault = Seen { fault: Some(format!("{error:#}")), ..Seen::default() };
                    tables.iter_mut().for_each(|t| t.entry(name).or_default().add(fault.clone()));
                }
            }
        }
    }
    tables
}

impl Row {
    fn add(&mut self, seen: Seen) {
        self.fault = self.fault.take().or(seen.fault.clone());
        if seen.fault.is_none() {
            self.ms.extend(seen.ms);
            self.fetches.push(seen.fetches);
            self.origin_ms.push(seen.origin_ms);
        }
    }

    /// The most that any round took; NaN when there was none.
    pub(crate) fn most_fetches(&self) -> f64 {
        self.fetches.iter().max().map_or(f64::NAN, |n| *n as f64)
    }

    /// In one phrase.
    fn says(&self) -> String {
        let Some(most) = self.fetches.iter().max() else {
            return self.fault.clone().unwrap_or_else(|| "not measured".into());
        };
        let mut text = format!(
            "{}/{}/{}, {most}",
            figures(stats::median(&self.ms)),
            figures(stats::p99(&self.ms)),
            figures(stats::max(&self.ms)),
        );
        if let Some(fault) = &self.fault {
            text += &format!(" ({fault}: not counted)");
        }
        text
    }
}

/// A figure from a table. `fetches`: how many there must be for it to be a pass.
pub(crate) fn figure(
    id: &'static str,
    unit: &'static str,
    goal: Goal,
    table: &Table,
    fetches: Option<u64>,
    value: impl Fn(&Row) -> f64,
) -> Figure {
    let none = Row::default();
    let own = table.get(Product::Pavilion.name()).unwrap_or(&none);
    let most = own.most_fetches();
    let wrong = fetches.filter(|n| *n as f64 != most).map(|n| format!("{most} fetches, not {n}"));
    let mut figure = Figure::new(id, value(own), unit, goal).spoiled(own.fault.clone().or(wrong));
    let others = table.iter().filter(|(name, _)| **name != Product::Pavilion.name());
    // A peer that did not give what was asked for is no measure.
    figure.peers =
        others.filter(|(_, row)| row.fault.is_none()).map(|(name, row)| (*name, value(row))).collect();
    let rows: Vec<_> = table.iter().map(|(name, row)| format!("{name} {}", row.says())).collect();
    let origin = stats::median(&own.origin_ms);
    let origin =
        if origin > 0.5 { format!("; of it the origin {} ms", figures(origin)) } else { String::new() };
    figure.how(format!("ms p50/p99/max, most fetches{origin}: {}", rows.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(own: Seen) -> Table {
        let mut table = Table::new();
        table.entry("pavilion").or_default().add(own);
        let peer = Seen { ms: vec![5.0, 9.0], fetches: 2, ..Seen::default() };
        table.entry("nginx").or_default().add(peer);
        let broken = Seen { fault: Some("cut".into()), ..Seen::default() };
        table.entry("varnish").or_default().add(broken);
        table
    }

    #[test]
    fn a_figure_is_no_pass_with_a_fault_or_too_many_fetches() {
        let of =
            |seen| figure("x_ms", "ms", Goal::AtMost(10.0), &table(seen), Some(1), |row| stats::max(&row.ms));
        let good = Seen { ms: vec![3.0, 4.0], fetches: 1, ..Seen::default() };
        let figure = of(good.clone());
        assert!(figure.passes());
        assert_eq!(figure.value, 4.0);
        assert_eq!(figure.peers, [("nginx", 9.0)].into());
        assert!(!of(Seen { fetches: 2, ..good.clone() }).passes());
        assert!(!of(Seen { fault: Some("cut".into()), ..good }).passes());
    }
}
