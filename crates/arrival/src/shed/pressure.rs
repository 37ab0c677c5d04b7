//! Whether the process itself is late. A request that is only worked on is never seen waiting: it waits before it begins,
//! in the queue of the runtime. So a clock that ticks there is watched. Pure.

use super::Class;
use super::limits::{CROWD_PER_S, EASE, LAG_MS, PRESS};

/// From 0, when all are let in, to 1, when hardly anybody is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pressure(f64);

impl Pressure {
    /// The tick came so late, in milliseconds, while so many requests a second came. Where hardly any come it is somebody
    /// else who uses the machine, and refusing them would help nobody.
    pub fn observe(&mut self, late_ms: f64, per_s: f64) {
        let by = if late_ms > LAG_MS && per_s >= CROWD_PER_S {
            PRESS * (late_ms / LAG_MS).min(4.0)
        } else {
            -EASE
        };
        self.0 = (self.0 + by).clamp(0.0, MOST);
    }

    /// A request of this class is let in, by a throw from 0 to 1. Each class is thinned out before the dearer one is
    /// touched.
    pub fn admits(self, class: Class, throw: f64) -> bool {
        let (from, to) = match class {
            Class::Settings => (0.0, 0.2),
            Class::Home => (0.2, 0.4),
            Class::Play => (0.4, 1.0),
        };
        throw >= (self.0 - from) / (to - from)
    }

    /// How much it is.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// Some are always let in, so that it is seen when the rush is over.
const MOST: f64 = 0.99;

#[cfg(test)]
mod tests {
    use super::*;

    fn share(pressure: Pressure, class: Class) -> f64 {
        (0..1_000).filter(|n| pressure.admits(class, f64::from(*n) / 1_000.0)).count() as f64 / 1_000.0
    }

    #[test]
    fn settings_go_before_home_and_home_before_play() {
        let mut pressure = Pressure::default();
        let mut before = [1.0; 3];
        let all = [Class::Settings, Class::Home, Class::Play];
        assert_eq!(all.map(|class| share(pressure, class)), before);
        for _ in 0..100 {
            pressure.observe(LAG_MS + 1.0, CROWD_PER_S);
            let now = all.map(|class| share(pressure, class));
            assert!(now.iter().zip(before).all(|(now, before)| *now <= before));
            assert!(now[1] == 1.0 || now[0] == 0.0, "{now:?}");
            assert!(now[2] == 1.0 || now[1] == 0.0, "{now:?}");
            before = now;
        }
        assert!(before[2] > 0.0 && before[2] < 0.05, "{before:?}");
        (0..100).for_each(|_| pressure.observe(0.0, CROWD_PER_S));
        assert_eq!(all.map(|class| share(pressure, class)), [1.0; 3]);
        (0..100).for_each(|_| pressure.observe(1_000.0, CROWD_PER_S - 1.0));
        assert_eq!(pressure.value(), 0.0, "a machine that others keep busy");
    }
}
