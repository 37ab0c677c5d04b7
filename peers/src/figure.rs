//! A figure, its goal, and how it was come by.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    /// As issues name it.
    pub(crate) id: &'static str,
    /// In [`Self::unit`].
    pub(crate) value: f64,
    /// Such as `ms`.
    pub(crate) unit: &'static str,
    /// The same of other products, by their lower-case names.
    pub(crate) peers: BTreeMap<&'static str, f64>,
    /// What it should be.
    #[serde(skip)]
    pub(crate) goal: Goal,
    /// What went wrong while it was taken: then it is no pass, whatever the value.
    #[serde(skip)]
    pub(crate) spoiled: Option<String>,
    /// What was measured, and how, and what stood beside it; one line each.
    #[serde(skip)]
    pub(crate) how: Vec<String>,
}

/// What a value should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
    /// This.
    Exactly(f64),
    /// Nobody has said; any that was measured.
    Any,
}

impl Figure {
    /// One without peers.
    pub(crate) fn new(id: &'static str, value: f64, unit: &'static str, goal: Goal) -> Figure {
        Figure { id, value, unit, goal, peers: BTreeMap::new(), spoiled: None, how: Vec::new() }
    }

    /// Says how it was measured.
    pub(crate) fn how(mut self, line: impl Into<String>) -> Figure {
        self.how.push(line.into());
        self
    }

    /// Says what went wrong, if something did.
    pub(crate) fn spoiled(mut self, why: Option<String>) -> Figure {
        self.spoiled = why;
        self
    }

    /// Whether the goal is met by a measurement that nothing spoiled.
    pub(crate) fn passes(&self) -> bool {
        let met = match self.goal {
            Goal::AtMost(most) => self.value <= most,
            Goal::AtLeast(least) => self.value >= least,
            Goal::Exactly(value) => (self.value - value).abs() < 1e-9,
            Goal::Any => self.value.is_finite(),
        };
        met && self.spoiled.is_none()
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passes() { "pass" } else { "FAIL" };
        write!(
            f,
            "{verdict}  {:<26}{:>10} {:<10} goal {}",
            self.id,
            figures(self.value),
            self.unit,
            self.goal
        )?;
        if let Some(why) = &self.spoiled {
            write!(f, "\n      spoiled: {why}")?;
        }
        if !self.peers.is_empty() {
            let peers: Vec<_> =
                self.peers.iter().map(|(name, v)| format!("{name} {}", figures(*v))).collect();
            write!(f, "\n      peers: {}", peers.join(", "))?;
        }
        self.how.iter().try_for_each(|line| write!(f, "\n      {line}"))
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::AtMost(most) => write!(f, "at most {}", rounded(*most)),
            Goal::AtLeast(least) => write!(f, "at least {least}"),
            Goal::Exactly(value) => write!(f, "exactly {value}"),
            Goal::Any => f.write_str("none"),
        }
    }
}

/// A goal that was computed from peers, without the digits that say nothing.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// As many decimals as say something.
pub(crate) fn figures(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_or_not() {
        let cores = |value| Figure::new("own_cores", value, "cores", Goal::AtMost(0.05));
        assert!(cores(0.05).passes() && !cores(0.0501).passes());
        assert!(!cores(0.01).spoiled(Some("x".to_owned())).passes());
        let requests = |value| Figure::new("origin_requests_per_part", value, "requests", Goal::Exactly(1.0));
        assert!(requests(1.0).passes() && !requests(1.02).passes() && !requests(0.98).passes());
        let passed = |value| Figure::new("cache_tests_passed", value, "tests", Goal::AtLeast(150.0));
        assert!(passed(150.0).passes() && !passed(149.0).passes() && !passed(f64::NAN).passes());
        let logins = |value| Figure::new("login_per_s", value, "logins/s", Goal::Any);
        assert!(logins(0.0).passes() && !logins(f64::NAN).passes());
        // Nothing measured is no pass.
        assert!(!cores(f64::NAN).passes() && !requests(f64::NAN).passes());
    }

    #[test]
    fn json_is_as_the_design_says() {
        let figure = Figure::new("own_rss_mb", 120.5, "MB", Goal::AtMost(300.0)).how("x");
        let json = serde_json::to_string(&figure).unwrap();
        assert_eq!(json, r#"{"id":"own_rss_mb","value":120.5,"unit":"MB","peers":{}}"#);
    }
}
