//! Whose a segment is: decided at its first part, from what is here of both pipelines.

use timeline::Utc;
use timeline::name::Letter;

use super::limits::{PREFER_A_WAIT, after};

/// What is here of a segment's first part, by one pipeline.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// When it arrived.
    pub arrived: Utc,
    /// It has defects.
    pub flawed: bool,
}

/// The decision, or until when to wait for the other pipeline: A before B, a good object before a flawed
/// one, and no wait for a pipeline that is known to be silent, or so far behind that the wait would be in vain.
/// `expected`: when the first part of a living pipeline should be here. `None` when there is nothing of either.
pub fn select(
    first: [Option<First>; 2],
    expected: [Option<Utc>; 2],
    now: Utc,
) -> Option<Result<Letter, Utc>> {
    let [a, b] = first;
    let (letter, found, preferred) = match (a, b) {
        (None, None) => return None,
        (Some(a), Some(b)) if a.flawed && !b.flawed => (Letter::B, b, None),
        (Some(a), Some(_)) => (Letter::A, a, None),
        (Some(a), None) => (Letter::A, a, a.flawed.then_some(Letter::B)),
        (None, Some(b)) => (Letter::B, b, Some(Letter::A)),
    };
    // One that is usually in the second half of the wait would miss it every now and then: it is better never
    // waited for than sometimes in vain.
    let (usual, until) = (after(found.arrived, PREFER_A_WAIT / 2), after(found.arrived, PREFER_A_WAIT));
    match preferred {
        Some(other) if now < until && expected[other.index()].is_some_and(|at| at <= usual) => {
            Some(Err(until))
        }
        _ => Some(Ok(letter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Utc = Utc(1_000_000);
    const GOOD: Option<First> = Some(First { arrived: T, flawed: false });
    const FLAWED: Option<First> = Some(First { arrived: T, flawed: true });

    const SOON: Option<Utc> = Some(T);

    #[test]
    fn a_before_b_and_good_before_flawed() {
        let both = [SOON, SOON];
        assert_eq!(select([None, None], both, T), None);
        assert_eq!(select([GOOD, None], both, T), Some(Ok(Letter::A)));
        assert_eq!(select([GOOD, GOOD], both, T), Some(Ok(Letter::A)));
        assert_eq!(select([FLAWED, GOOD], both, T), Some(Ok(Letter::B)));
        assert_eq!(select([FLAWED, FLAWED], both, T), Some(Ok(Letter::A)));
    }

    #[test]
    fn waits_only_for_the_living_and_not_for_long() {
        let until = after(T, PREFER_A_WAIT);
        assert_eq!(select([None, GOOD], [SOON, SOON], T), Some(Err(until)));
        assert_eq!(select([None, GOOD], [SOON, SOON], until), Some(Ok(Letter::B)));
        assert_eq!(select([None, GOOD], [None, SOON], T), Some(Ok(Letter::B)));
        assert_eq!(select([FLAWED, None], [SOON, SOON], T), Some(Err(until)));
        assert_eq!(select([FLAWED, None], [SOON, None], T), Some(Ok(Letter::A)));
    }

    #[test]
    fn a_path_that_is_always_slower_is_not_waited_for() {
        let (usual, until) = (after(T, PREFER_A_WAIT / 2), after(T, PREFER_A_WAIT));
        assert_eq!(select([None, GOOD], [Some(usual), SOON], T), Some(Err(until)));
        assert_eq!(select([None, GOOD], [Some(Utc(usual.0 + 1)), SOON], T), Some(Ok(Letter::B)));
    }
}
