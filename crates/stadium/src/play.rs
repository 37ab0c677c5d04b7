//! What moves at the ground: one delivery after another, always the same, and a crowd that waves.
//! Coordinates are those of a 1280x720 picture about the middle of the backdrop.

use crate::backdrop::HORIZON;
use crate::frame::{Colour, Frame};

/// Milliseconds from one ball to the next.
const BALL_MS: i64 = 10_000;

/// Seconds into the delivery at which the bowler lets go, the bat meets the ball, and the ball is at the rope.
const RELEASE: f32 = 3.2;
const HIT: f32 = 3.9;
const ROPE: f32 = 6.6;

/// Where the fielders stand.
const FIELD: [(f32, f32); 9] = [
    (-520.0, 450.0),
    (-300.0, 395.0),
    (-190.0, 560.0),
    (250.0, 400.0),
    (450.0, 430.0),
    (330.0, 540.0),
    (520.0, 600.0),
    (-420.0, 620.0),
    (110.0, 352.0),
];

/// Draws onto a picture whose middle of the backdrop is at `middle` pixels.
pub(crate) fn draw(frame: &mut Frame, middle: f32, utc_ms: i64) {
    let unit = frame.height as f32 / 720.0;
    let seconds = utc_ms.rem_euclid(BALL_MS) as f32 / 1_000.0;
    let at = |x: f32, y: f32| (middle + x * unit, y * unit);
    crowd(frame, middle, utc_ms, unit);

    let white = Colour::rgb(240, 240, 236);
    let blue = Colour::rgb(52, 92, 176);
    for (n, &(x, y)) in FIELD.iter().enumerate() {
        // All walk in with the bowler, one runs after the ball.
        let walk = (seconds / RELEASE).min(1.0) - ((seconds - 7.0) / 2.5).clamp(0.0, 1.0);
        let chase = if n == 4 { ease((seconds - HIT) / 2.6) - ease((seconds - 7.0) / 2.8) } else { 0.0 };
        let (x, y) = (x * (1.0 - 0.06 * walk) + 70.0 * chase, y - 22.0 * chase);
        let (px, py) = at(x, y);
        player(frame, (px, py), size(y) * unit, white, seconds * 2.0 + n as f32, walk > 0.05 && walk < 0.95);
    }
    let (px, py) = at(-20.0, 420.0);
    player(frame, (px, py), size(420.0) * unit, blue, 0.0, false);
    let run = ease(seconds / RELEASE) - ease((seconds - 6.8) / 3.0);
    let (x, y) = (190.0 - 214.0 * run, 700.0 - 118.0 * run);
    let (px, py) = at(16.0 + 38.0, 560.0);
    player(frame, (px, py), size(540.0) * unit, blue, 0.0, false);
    let (px, py) = at(x, y);
    player(frame, (px, py), size(y) * unit, white, seconds * 4.0, run > 0.01 && run < 0.99);

    if let Some((x, y, lift)) = ball(seconds) {
        let (px, py) = at(x, y);
        let radius = size(y) * 0.055 * unit + 1.0;
        frame.ellipse(px, py, radius, radius * 0.5, Colour::rgb(46, 96, 40));
        frame.ellipse(px, py - lift * unit, radius, radius, Colour::rgb(176, 36, 40));
    }
}

/// How tall somebody is who stands there.
fn size(y: f32) -> f32 {
    let near = (y / 720.0 - HORIZON) / (1.0 - HORIZON);
    44.0 + 76.0 * near
}

/// Starts and ends gently; stays within 0 to 1.
fn ease(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Where the ball's shadow is, and how high the ball is above it.
fn ball(seconds: f32) -> Option<(f32, f32, f32)> {
    if (RELEASE..HIT).contains(&seconds) {
        let t = (seconds - RELEASE) / (HIT - RELEASE);
        let bounce = if t < 0.7 { 86.0 * (1.0 - t / 0.7) } else { 60.0 * (t - 0.7) };
        Some((-16.0 + 4.0 * t, 584.0 - 164.0 * t, bounce))
    } else if (HIT..ROPE).contains(&seconds) {
        let t = (seconds - HIT) / (ROPE - HIT);
        let far = 1.0 - (1.0 - t) * (1.0 - t);
        Some((
            -12.0 + 560.0 * far,
            420.0 - 34.0 * far,
            150.0 * (t * std::f32::consts::PI).sin() * (1.0 - 0.5 * t),
        ))
    } else {
        None
    }
}

/// Somebody seen from afar, feet at the given point.
fn player(frame: &mut Frame, (x, y): (f32, f32), tall: f32, shirt: Colour, step: f32, running: bool) {
    frame.ellipse(x + tall * 0.12, y, tall * 0.30, tall * 0.06, Colour::rgb(52, 104, 44));
    let stride = if running { (step * 6.0).sin() * tall * 0.12 } else { tall * 0.05 };
    let leg = |side: f32| (x + side * tall * 0.05 + side * stride * 0.5, y - tall * 0.2);
    for (lx, ly) in [leg(-1.0), leg(1.0)] {
        frame.ellipse(lx, ly, tall * 0.06, tall * 0.22, shirt.shade(-28));
    }
    frame.ellipse(x, y - tall * 0.56, tall * 0.14, tall * 0.24, shirt);
    let arm = if running { (step * 6.0).cos() * tall * 0.10 } else { 0.0 };
    frame.ellipse(x - tall * 0.16, y - tall * 0.56 + arm, tall * 0.05, tall * 0.15, shirt.shade(-14));
    frame.ellipse(x + tall * 0.16, y - tall * 0.56 - arm, tall * 0.05, tall * 0.15, shirt.shade(-14));
    frame.ellipse(x, y - tall * 0.88, tall * 0.09, tall * 0.10, Colour::rgb(150, 104, 78));
    frame.ellipse(x, y - tall * 0.94, tall * 0.10, tall * 0.06, Colour::rgb(36, 46, 84));
}

/// Flags in the stands, more of them after a good shot.
fn crowd(frame: &mut Frame, middle: f32, utc_ms: i64, unit: f32) {
    let seconds = utc_ms.rem_euclid(BALL_MS) as f32 / 1_000.0;
    let cheer = ease((seconds - HIT) * 2.0) - ease((seconds - 8.0) / 2.0);
    for n in 0..28 {
        let x = ((n * 617) % 1540) as f32 - 770.0;
        let y = if n % 2 == 0 { 150.0 } else { 232.0 } + ((n * 29) % 30) as f32;
        let beat =
            (utc_ms.rem_euclid(60_000) as f32 / 1_000.0 * (2.0 + 0.2 * (n % 5) as f32) + n as f32).sin();
        let (left, top) = (middle + (x + beat * 9.0) * unit, (y - cheer * 10.0 * (1.0 + beat)) * unit);
        let flag = [Colour::rgb(250, 214, 60), Colour::rgb(230, 60, 60), Colour::rgb(70, 140, 230)][n % 3];
        frame.rect(left as i32, top as i32, (20.0 * unit) as i32, (13.0 * unit) as i32, flag);
    }
}
