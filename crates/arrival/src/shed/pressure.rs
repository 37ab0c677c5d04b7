//! Whether the process itself is late. A request that is only worked on is never seen waiting: it waits before it begins,
//! in the queue of the runtime. So a clock that ticks there is watched. Pure.

use super::Class;
use super::limits::{CROWD_PER_S, EASE, LAG_MS, MOST, PRESS};

/// When all others are refused, those who want to play are the next.
const PLAY_FROM: f64 = 0.4;

/// From 0, when all are let in, towards 1, when nobody would be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pressure(f64);

impl Pressure {
    /// The tick came so late, and somebody has waited for their turn for so long, in milliseconds, while so many requests a
    /// second came. Where hardly any come it is somebody else who uses the machine, and refusing them would help nobody.
    pub fn observe(&mut self, late_ms: f64, waited_ms: f64, per_s: f64) {
        let crowd = per_s >= CROWD_PER_S;
        self.0 = if crowd && late_ms > LAG_MS {
            (self.0 + PRESS * (late_ms / LAG_MS).min(4.0)).min(MOST)
        } else if crowd && waited_ms > LAG_MS && self.0 <= PLAY_FROM {
            // Who wants to play has the turns of all others, and there are no more.
            (self.0 + PRESS).min(PLAY_FROM)
        } else {
            (self.0 - EASE).max(0.0)
        };
    }

    /// A request of this class is let in, by a throw from 0 to 1. Each class is thinned out before the dearer one is
    /// touched.
    pub fn admits(self, class: Class, throw: f64) -> bool {
        let (from, to) = match class {
            Class::Settings => (0.0, 0.2),
            Class::Home => (0.2, PLAY_FROM),
            Class::Play => (PLAY_FROM, 1.0),
        };
        throw >= (self.0 - from) / (to - from)
    }

    /// How much it is.
    pub fn value(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(pressure: Pressure, class: Class) -> f64 {
        (0..1_000).filter(|n| pressure.admits(class, f64::from(*n) / 1_000.0)).count() as f64 / 1_000.0
    }

    /// A core that takes 100 us for a play and 12 for a refusal, and ten times as many plays as it can, over so many
    /// connections: plays of those that it could.
    fn flooded(connections: f64) -> f64 {
        const PLAY_MS: f64 = 0.100;
        const REFUSAL_MS: f64 = 0.012;
        let (mut pressure, mut now_ms, mut look_ms, mut ready, mut played) =
            (Pressure::default(), 0.0, 10.0, 0.0, 0.0);
        while now_ms < 20_000.0 {
            // Whatever has come since the last round is worked on before anything else has its turn.
            let plays = ready * share(pressure, Class::Play);
            let round_ms = (ready * REFUSAL_MS + plays * (PLAY_MS - REFUSAL_MS)).max(0.5);
            now_ms += round_ms;
            played += plays;
            if now_ms >= look_ms {
                pressure.observe(now_ms - look_ms, 0.0, CROWD_PER_S);
                look_ms = now_ms + 10.0;
            }
            ready = (10.0 * round_ms / PLAY_MS).min(connections);
        }
        played * PLAY_MS / now_ms
    }

    #[test]
    fn a_flood_of_which_even_the_refusals_are_too_many_starves_nobody() {
        // Nine refusals beside each play leave half of the core for plays.
        for connections in [256.0, 2_048.0, 10_000.0] {
            let goodput = flooded(connections);
            assert!(goodput > 0.4, "{connections} connections: {goodput}");
        }
    }

    #[test]
    fn settings_go_before_home_and_home_before_play() {
        let mut pressure = Pressure::default();
        let mut before = [1.0; 3];
        let all = [Class::Settings, Class::Home, Class::Play];
        assert_eq!(all.map(|class| share(pressure, class)), before);
        for _ in 0..100 {
            pressure.observe(LAG_MS + 1.0, 0.0, CROWD_PER_S);
            let now = all.map(|class| share(pressure, class));
            assert!(now.iter().zip(before).all(|(now, before)| *now <= before));
            assert!(now[1] == 1.0 || now[0] == 0.0, "{now:?}");
            assert!(now[2] == 1.0 || now[1] == 0.0, "{now:?}");
            before = now;
        }
        assert!((0.09..0.11).contains(&before[2]), "{before:?}");
        (0..100).for_each(|_| pressure.observe(0.0, 0.0, CROWD_PER_S));
        assert_eq!(all.map(|class| share(pressure, class)), [1.0; 3]);
        (0..100).for_each(|_| pressure.observe(1_000.0, 1_000.0, CROWD_PER_S - 1.0));
        assert_eq!(pressure.value(), 0.0, "a machine that others keep busy");
        (0..100).for_each(|_| pressure.observe(0.0, LAG_MS + 1.0, CROWD_PER_S));
        assert_eq!(all.map(|class| share(pressure, class)), [0.0, 0.0, 1.0], "who waits has others' turns");
    }
}
