//! Where a match may be shown: a pure decision from the local copy. Fails closed, in a panic as at any other time.

use super::Show;
use crate::whereabouts::Place;

/// It may be shown there, until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// UTC, milliseconds: when the right ends or a blackout begins. None: neither is foreseen.
    pub until_ms: Option<i64>,
    /// It hangs on where the viewer is, so a pass must be bound to their country.
    pub limited: bool,
}

/// Why it may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dark {
    /// Nobody knows where the viewer is, and it matters.
    Unknown,
    /// The viewer's address hides where they are, and it matters.
    Hidden,
    /// No right covers their country.
    Country([u8; 2]),
    /// A right will cover it from then on: UTC, milliseconds.
    Early(i64),
    /// No right covers this instant any more.
    Over,
    /// A blackout, by its name for people; none: it cannot be read.
    Blackout(Option<String>),
}

impl Show {
    /// Whether it may be shown in a place at an instant (UTC, milliseconds).
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn shown(&self, place: &Place, now_ms: i64) -> Result<Shown, Dark> {
        let everywhere = |now: i64| {
            self.rights.iter().any(|r| r.countries.is_none() && within(r.from_ms, r.until_ms, now))
        };
        let limited = !everywhere(now_ms) || !self.blackouts.is_empty() || self.unreadable;
        if limited && place.anonymous {
            return Err(Dark::Hidden);
        }
        if self.unreadable {
            return Err(Dark::Blackout(None));
        }
        let mut until = self.right_until(place, now_ms)?;
        for blackout in &self.blackouts {
            if !blackout.areas.iter().any(|area| area.may_hold(place)) || past(blackout.until_ms, now_ms) {
                continue;
            }
            match blackout.from_ms {
                Some(from) if from > now_ms => until = Some(until.map_or(from, |u| u.min(from))),
                _ if place.country.is_none() => return Err(Dark::Unknown),
                _ => return Err(Dark::Blackout(Some(blackout.name.clone()))),
            }
        }
        Ok(Shown { until_ms: until, limited })
    }

    /// When the rights that cover this place now have ended.
    fn right_until(&self, place: &Place, now_ms: i64) -> Result<Option<i64>, Dark> {
        let here: Vec<_> = self
            .rights
            .iter()
            .filter(|right| match (&right.countries, place.country()) {
                (None, _) => true,
                (Some(countries), Some(country)) => countries.iter().any(|c| c == country),
                (Some(_), None) => false,
            })
            .collect();
        let open: Vec<_> = here.iter().filter(|r| within(r.from_ms, r.until_ms, now_ms)).collect();
        if open.is_empty() {
            // Some right that would hold now, or some time, if we knew where they are.
            if place.country.is_none() && self.rights.iter().any(|r| r.countries.is_some()) {
                return Err(Dark::Unknown);
            }
            return Err(match here.iter().filter_map(|r| r.from_ms.filter(|from| *from > now_ms)).min() {
                Some(from) => Dark::Early(from),
                None if here.is_empty() && !self.rights.is_empty() => {
                    place.country.map_or(Dark::Unknown, Dark::Country)
                }
                None => Dark::Over,
            });
        }
        // The last of them; none ends never.
        Ok(open.iter().map(|r| r.until_ms).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten())
    }
}

fn within(from_ms: Option<i64>, until_ms: Option<i64>, now_ms: i64) -> bool {
    from_ms.is_none_or(|from| from <= now_ms) && !past(until_ms, now_ms)
}

fn past(until_ms: Option<i64>, now_ms: i64) -> bool {
    until_ms.is_some_and(|until| until <= now_ms)
}

#[cfg(test)]
mod tests;
