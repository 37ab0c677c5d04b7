//! What clients are advised to do: how to come again after a failure, how often to ask, what to leave off.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::limits::{FEATURE_BYTES_MAX, FEATURES_MAX};

/// The advice, as it stands in the registers under `lever/advice`, and as clients get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    /// After a failure.
    #[serde(default)]
    pub back_off: BackOff,
    /// Seconds between two looks, by what is looked at.
    #[serde(default = "refresh")]
    pub refresh_s: BTreeMap<String, u32>,
    /// Features that are off: `recommendations`, `moments`.
    #[serde(default)]
    pub off: BTreeSet<String>,
}

/// How to come again: each wait is drawn between the least and three times the last one (decorrelated jitter), up to the
/// longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackOff {
    /// The least wait.
    pub base_ms: u32,
    /// The longest.
    pub cap_ms: u32,
    /// Tries again in a minute, over everything that is asked.
    pub per_minute: u32,
}

impl Default for BackOff {
    fn default() -> BackOff {
        BackOff { base_ms: 500, cap_ms: 30_000, per_minute: 10 }
    }
}

impl Default for Advice {
    fn default() -> Advice {
        Advice { back_off: BackOff::default(), refresh_s: refresh(), off: BTreeSet::new() }
    }
}

fn refresh() -> BTreeMap<String, u32> {
    [("matches", 30), ("card", 15), ("moments", 30), ("advice", 60)]
        .map(|(what, s)| (what.to_owned(), s))
        .into()
}

impl Advice {
    /// What it must be, as a sentence if it is not.
    ///
    /// # Errors
    ///
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        let BackOff { base_ms, cap_ms, per_minute } = self.back_off;
        if !(50..=60_000).contains(&base_ms) || cap_ms < base_ms || cap_ms > 600_000 {
            return Err("base_ms must be from 50 to 60000, and cap_ms from base_ms to 600000".into());
        }
        if per_minute > 600 {
            return Err("per_minute must be 600 or less".into());
        }
        if self.refresh_s.values().any(|s| !(1..=3_600).contains(s)) {
            return Err("each refresh_s must be from 1 to 3600 seconds".into());
        }
        let names = self.refresh_s.keys().chain(&self.off);
        let name = |n: &String| {
            (1..=FEATURE_BYTES_MAX).contains(&n.len())
                && n.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
        };
        if names.clone().count() > FEATURES_MAX || !names.clone().all(name) {
            return Err(format!(
                "there may be {FEATURES_MAX} names of {FEATURE_BYTES_MAX} letters, digits, - and _"
            ));
        }
        Ok(())
    }

    /// While the door is crowded everything that can wait is looked at less often, and waits are longer.
    #[must_use]
    pub fn under(&self, pressure: f64) -> Advice {
        let times = 1 + (pressure * 3.0) as u32;
        let mut now = self.clone();
        now.refresh_s.values_mut().for_each(|s| *s = (*s * times).min(3_600));
        now.back_off.base_ms = (now.back_off.base_ms * times).min(now.back_off.cap_ms);
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_begins_with_is_good_and_rubbish_is_said() {
        Advice::default().check().unwrap();
        Advice::default().under(1.0).check().unwrap();
        assert_eq!(serde_json::from_str::<Advice>("{}").unwrap(), Advice::default());
        for (text, says) in [
            (r#"{"back_off": {"base_ms": 0, "cap_ms": 1, "per_minute": 1}}"#, "base_ms"),
            (r#"{"refresh_s": {"card": 0}}"#, "refresh_s"),
            (r#"{"off": ["a b"]}"#, "letters"),
        ] {
            let error = serde_json::from_str::<Advice>(text).unwrap().check().unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn in_a_crowd_clients_ask_less() {
        let calm = Advice::default();
        assert_eq!(calm.under(0.0), calm);
        assert_eq!(calm.under(0.99).refresh_s["matches"], 90);
    }
}
