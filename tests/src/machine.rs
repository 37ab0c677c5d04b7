//! Whether the machine did its part. Media comes in real time; on a machine that is shared, all of it may stand still for
//! a second, or get so little time that nothing is in time. What a viewer misses then is no fault of the product,
//! and a test that says it were is one that nobody believes. So what a viewer saw is excused where there is evidence, taken
//! independently of the product, that nothing could have shown it; what is wrong at any speed is never excused.

use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use timeline::Utc;

/// How often the watch wants to wake.
const TICK: Duration = Duration::from_millis(20);
/// A machine that wakes it later than this stood still: a third of what a low-latency viewer has in hand.
const LATE: Duration = Duration::from_millis(300);
/// In each second somebody may wait for a processor for so much of it, by the kernel's count (`/proc/pressure/cpu`). More
/// is a machine with more to do than it can: it does not stand still, but nothing on it is in time.
const PRESSED: Duration = Duration::from_millis(800);
/// Kept: more than any test has, the newest.
const PAUSES_MAX: usize = 10_000;
/// For so long after it viewers may feel it: the most that one is behind, and a restart that it made longer.
const FELT_US: i64 = 12_000_000;
/// What came of it may be dated before the watch has noted it, by this much.
const BEFORE_US: i64 = 2_000_000;

/// When there was trouble.
static PAUSES: OnceLock<Mutex<VecDeque<Utc>>> = OnceLock::new();

/// Watches from now on, once for each process.
pub fn watch() {
    PAUSES.get_or_init(|| {
        std::thread::spawn(|| {
            let (mut second, mut waited) = (Instant::now(), waited());
            loop {
                // By the clock that goes on while a machine is suspended.
                let slept = SystemTime::now();
                std::thread::sleep(TICK);
                let mut trouble = slept.elapsed().is_ok_and(|took| took > TICK + LATE);
                if second.elapsed() >= Duration::from_secs(1) {
                    let now = self::waited();
                    trouble |= now.saturating_sub(waited) > PRESSED.mul_f64(second.elapsed().as_secs_f64());
                    (second, waited) = (Instant::now(), now);
                }
                if trouble {
                    let mut pauses = pauses().lock().unwrap_or_else(PoisonError::into_inner);
                    pauses.push_back(now());
                    if pauses.len() > PAUSES_MAX {
                        pauses.pop_front();
                    }
                }
            }
        });
        Mutex::default()
    });
}

/// For how long somebody has waited for a processor since this machine was started. Nothing where the kernel does not count.
fn waited() -> Duration {
    let counts = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = counts.lines().next().and_then(|some| some.rsplit_once("total="));
    Duration::from_micros(total.and_then(|(_, total)| total.parse().ok()).unwrap_or_default())
}

fn now() -> Utc {
    Utc(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64))
}

fn pauses() -> &'static Mutex<VecDeque<Utc>> {
    PAUSES.get_or_init(Mutex::default)
}

/// When the machine was in no state to show anything: what was noted since [`watch`], and when a ground wrote into its log that
/// it was late.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Vec<Utc>);

impl Trouble {
    /// Up to now, with the log of a match.
    pub fn of(log: &str) -> Trouble {
        let late = |line: &&str| line.contains("ground: late") || line.contains("ground: stood still");
        let grounds = log.lines().filter(late).filter_map(|line| line.split(' ').next()?.parse().ok());
        let machine = pauses().lock().unwrap_or_else(PoisonError::into_inner);
        Trouble(machine.iter().copied().chain(grounds).collect())
    }

    /// How often.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a viewer may have felt it in this time.
    pub fn excuses(&self, from: Utc, to: Utc) -> bool {
        self.0.iter().any(|at| at.0 > from.0 - FELT_US && at.0 < to.0 + BEFORE_US)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_ground_excuses_what_comes_soon_after() {
        let log = "2026-11-29T14:00:10.5Z  WARN stadium::ground: ground: late; frames left out frames=11\n\
                   2026-11-29T14:02:00Z  WARN pipeline: something else\n";
        let trouble = Trouble::of(log);
        assert_eq!(trouble.len(), 1);
        let at = |s: &str| format!("2026-11-29T14:{s}Z").parse::<Utc>().unwrap();
        assert!(trouble.excuses(at("00:12"), at("00:13")));
        assert!(trouble.excuses(at("00:08"), at("00:09")));
        assert!(!trouble.excuses(at("00:40"), at("00:41")));
        assert!(!trouble.excuses(at("02:00"), at("02:01")));
    }
}
