//! What a viewer may have. The endpoint asks [`grant`] and sends what it gives; a proxy to a licence server sends the
//! [`Policy`] along.

use serde::{Deserialize, Serialize};
use timeline::Utc;
use timeline::protection::Kid;

use crate::{Class, Key, Provider, Schedule};

/// How well a device keeps a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Security {
    /// In software: ClearKey, Widevine L3 and L2, PlayReady SL2000.
    Software,
    /// In hardware: Widevine L1, PlayReady SL3000, FairPlay.
    Hardware,
}

/// What a licence allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The best picture that the viewer's plan has.
    pub plan: Class,
    /// The best picture for devices that keep keys in software.
    pub software: Class,
    /// When the licence ends, UTC microseconds.
    pub expires_us: i64,
}

/// What is known of the match when a licence is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The instant.
    pub utc: Utc,
    /// The first segment that can still be played.
    pub first_msn: u64,
    /// The segment on air.
    pub edge_msn: u64,
}

/// Why a licence is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The right to watch has ended.
    #[error("the right to watch this match has ended")]
    Expired,
    /// Not a key of this match, or of a period that is neither on air nor announced.
    #[error("none of the keys that are asked for belongs to this match now")]
    Unknown,
    /// Keys of pictures that the plan or the device may not have.
    #[error("the plan or this device's security does not allow this picture size")]
    Quality,
}

impl Policy {
    /// Whether tracks of a class may be played.
    pub fn allows(&self, class: Class, security: Security) -> bool {
        let device = if security == Security::Software { self.software } else { Class::Hd };
        class == Class::Audio || class <= self.plan.min(device)
    }
}

/// The keys that a viewer is given of those that were asked for; those of better pictures than allowed are left out.
///
/// # Errors
/// When there is none to give.
pub fn grant(
    keys: &dyn Provider,
    schedule: &Schedule,
    now: Now,
    policy: &Policy,
    security: Security,
    kids: &[Kid],
) -> Result<Vec<Key>, Refusal> {
    if now.utc.0 >= policy.expires_us {
        return Err(Refusal::Expired);
    }
    let periods = schedule.needed(now.first_msn, now.edge_msn);
    let found: Vec<(Class, Key)> = kids
        .iter()
        .filter_map(|kid| keys.find(*kid, periods.clone()).map(|(class, _, key)| (class, key)))
        .collect();
    if found.is_empty() {
        return Err(Refusal::Unknown);
    }
    let given: Vec<Key> =
        found.into_iter().filter(|(class, _)| policy.allows(*class, security)).map(|(_, key)| key).collect();
    if given.is_empty() { Err(Refusal::Quality) } else { Ok(given) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Local, Scope};

    #[test]
    fn nobody_gets_more_than_their_own() {
        let scope = Scope { r#match: "demo".parse().unwrap(), programme: "main".parse().unwrap() };
        let local = Local::new("0123456789abcdef0123456789abcdef", scope.clone()).unwrap();
        let schedule = Schedule { clear: 0, period: std::num::NonZeroU64::new(10) };
        let now = Now { utc: Utc(5), first_msn: 20, edge_msn: 41 };
        let policy = Policy { plan: Class::Hd, software: Class::Sd, expires_us: 100 };
        let ask = |policy: &Policy, now, security, wanted: &[(Class, u64)]| {
            let kids: Vec<Kid> = wanted.iter().map(|(class, period)| scope.kid(*class, *period)).collect();
            let given = grant(&local, &schedule, now, policy, security, &kids)?;
            Ok(given
                .iter()
                .map(|key| kids.iter().position(|kid| *kid == key.kid).unwrap())
                .collect::<Vec<_>>())
        };
        use Class::{Audio, Hd, Sd};
        use Security::{Hardware, Software};
        let all = [(Audio, 4), (Sd, 4), (Hd, 4), (Hd, 2)];
        assert_eq!(ask(&policy, now, Hardware, &all), Ok(vec![0, 1, 2, 3]));
        assert_eq!(ask(&policy, now, Software, &all), Ok(vec![0, 1]));
        assert_eq!(ask(&policy, now, Software, &[(Hd, 4)]), Err(Refusal::Quality));
        let cheap = Policy { plan: Sd, ..policy.clone() };
        assert_eq!(ask(&cheap, now, Hardware, &all), Ok(vec![0, 1]));
        // Period 5 is announced from segment 45 on; period 1 has left the window.
        assert_eq!(ask(&policy, now, Hardware, &[(Sd, 5), (Sd, 1)]), Err(Refusal::Unknown));
        assert_eq!(ask(&policy, Now { edge_msn: 45, ..now }, Hardware, &[(Sd, 5)]), Ok(vec![0]));
        assert_eq!(ask(&policy, Now { utc: Utc(100), ..now }, Hardware, &all), Err(Refusal::Expired));
        assert_eq!(grant(&local, &schedule, now, &policy, Hardware, &[Kid([7; 16])]), Err(Refusal::Unknown));
    }
}
