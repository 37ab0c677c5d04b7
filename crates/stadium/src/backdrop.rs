//! What stands still at the ground: sky, stands, boards, grass. Drawn once, wider than the picture, so that the
//! camera can pan over it.

use crate::frame::{Colour, Frame};

/// How much wider than the picture, in percent of it.
const PAN_PERCENT: usize = 25;

/// Where the grass begins, as a part of the height. Players stand below.
pub(crate) const HORIZON: f32 = 0.42;

/// Colours that people wear.
const SHIRTS: [(u8, u8, u8); 8] = [
    (220, 70, 60),
    (240, 200, 70),
    (70, 120, 210),
    (235, 235, 230),
    (60, 160, 110),
    (230, 140, 60),
    (150, 90, 170),
    (90, 75, 65),
];

/// The backdrop for a picture of this size.
pub(crate) fn draw(width: usize, height: usize) -> Frame {
    let wide = (width * (100 + PAN_PERCENT) / 100) & !1;
    let mut frame = Frame::new(wide, height);
    let mut random = fastrand::Rng::with_seed(11);
    let at = |part: f32| (part * height as f32).round() as i32;
    let unit = height as f32 / 720.0;
    let full = wide as i32;

    for y in 0..at(0.2) {
        let t = y as f32 / at(0.2) as f32;
        let mix = |from: f32, to: f32| (from + (to - from) * t) as u8;
        frame.run(y, 0, full, Colour::rgb(mix(96.0, 190.0), mix(158.0, 214.0), mix(214.0, 232.0)));
    }
    for n in 0..7 {
        let x = wide as f32 * (n as f32 + 0.4) / 6.5;
        let y = height as f32 * (0.045 + 0.03 * ((n * 5 % 3) as f32));
        for (dx, r) in [(-46.0, 15.0), (0.0, 22.0), (44.0, 16.0)] {
            frame.ellipse(
                x + dx * unit,
                y - r * 0.3 * unit,
                52.0 * unit,
                r * unit,
                Colour::rgb(226, 236, 242),
            );
        }
    }
    stands(&mut frame, &mut random, unit);
    grass(&mut frame, &mut random);
    pitch(&mut frame, unit);
    for n in 0..=4 {
        floodlight(&mut frame, full * n / 4 + (full / 16) * (2 - n) / 2, unit);
    }
    frame
}

/// Two tiers full of people under a roof, and the advertising boards before them.
fn stands(frame: &mut Frame, random: &mut fastrand::Rng, unit: f32) {
    let full = frame.width as i32;
    let at = |part: f32| (part * 720.0 * unit).round() as i32;
    frame.rect(0, at(0.135), full, at(0.025), Colour::rgb(228, 231, 235));
    frame.rect(0, at(0.16), full, at(HORIZON) - at(0.16), Colour::rgb(62, 68, 80));
    let seat = (7.0 * unit).max(2.0) as i32;
    for (top, bottom) in [(0.185, 0.275), (0.295, 0.375)] {
        let mut y = at(top);
        while y + seat <= at(bottom) {
            let mut x = random.i32(0..seat);
            while x < full {
                // Some seats are empty, and there is an aisle now and then.
                if random.u8(..) < 225 && (x / seat) % 31 > 1 {
                    let (r, g, b) = SHIRTS[random.usize(..SHIRTS.len())];
                    let shirt = Colour::rgb(r, g, b).shade(random.i16(-45..0));
                    frame.rect(x, y + seat / 3, seat - 1, seat - seat / 3, shirt);
                    frame.rect(
                        x + seat / 4,
                        y,
                        (seat / 2).max(1),
                        (seat / 3).max(1),
                        Colour::rgb(176, 126, 96),
                    );
                }
                x += seat;
            }
            y += seat + 1;
        }
        frame.rect(0, at(bottom) + 1, full, at(0.012), Colour::rgb(206, 210, 216));
    }
    let boards = [
        ("PAVILION", (24, 60, 110)),
        ("THE GROUND END", (130, 40, 44)),
        ("FAIR PLAY", (18, 96, 78)),
        ("ON AIR", (40, 40, 48)),
    ];
    let (top, tall) = (at(0.388), at(HORIZON) - at(0.388));
    let dot = ((tall as f32) / 11.0).max(1.0) as i32;
    let board = full / 8;
    for n in 0..8 {
        let (text, (r, g, b)) = boards[n as usize % boards.len()];
        frame.rect(n * board, top, board - 1, tall, Colour::rgb(r, g, b));
        let length = text.len() as i32 * 6 * dot;
        frame.text(
            n * board + (board - length) / 2,
            top + (tall - 7 * dot) / 2,
            dot,
            text,
            Colour::WHITE.shade(-20),
        );
    }
}

/// Mown stripes that meet at a point far away, a rope, and a little texture.
fn grass(frame: &mut Frame, random: &mut fastrand::Rng) {
    let (width, height) = (frame.width, frame.height);
    let horizon = (HORIZON * height as f32) as usize;
    let vanish = (width as f32 / 2.0, height as f32 * -0.15);
    let (light, dark) = (Colour::rgb(98, 164, 74), Colour::rgb(78, 142, 62));
    for y in horizon..height {
        let spread = (y as f32 - vanish.1) / (height as f32 - vanish.1);
        for x in 0..width {
            let across = (x as f32 - vanish.0) / spread / (width as f32 * 0.075);
            let stripe = if across.floor() as i32 & 1 == 0 { light } else { dark };
            frame.run(y as i32, x as i32, x as i32 + 1, stripe);
        }
        let row = y * width;
        for value in &mut frame.data[row..row + width] {
            *value = (*value).saturating_add_signed(random.i8(-3..=3));
        }
    }
    let rope = (height / 180).max(2) as f32;
    let centre = (width as f32 / 2.0, height as f32 * 0.86);
    let radius = (width as f32 * 0.62, height as f32 * 0.40);
    let turns = width * 6;
    for n in 0..turns {
        let turn = std::f32::consts::TAU * n as f32 / turns as f32;
        let (x, y) = (centre.0 + radius.0 * turn.cos(), centre.1 + radius.1 * turn.sin());
        frame.rect(x as i32, y as i32, rope as i32, rope as i32, Colour::WHITE.shade(-10));
    }
}

/// The strip with its creases and both wickets.
fn pitch(frame: &mut Frame, unit: f32) {
    let middle = frame.width as f32 / 2.0;
    let (top, bottom) = ((395.0 * unit) as i32, (590.0 * unit) as i32);
    for y in top..bottom {
        let t = (y - top) as f32 / (bottom - top) as f32;
        let half = (34.0 + 42.0 * t) * unit;
        frame.run(
            y,
            (middle - half) as i32,
            (middle + half) as i32,
            Colour::rgb(205, 182, 134).shade(-(y % 3) as i16),
        );
    }
    for (y, half, tall) in [(408.0, 34.0, 26.0), (566.0, 66.0, 46.0)] {
        let line = (3.0 * unit).max(1.0) as i32;
        frame.rect(
            ((middle - half * unit) as i32) & !1,
            (y * unit) as i32,
            (2.0 * half * unit) as i32,
            line,
            Colour::WHITE,
        );
        for stump in -1..=1 {
            let x = middle + stump as f32 * tall * 0.2 * unit;
            frame.rect(
                x as i32,
                ((y - tall) * unit) as i32,
                line,
                (tall * unit) as i32,
                Colour::rgb(236, 206, 140),
            );
        }
    }
}

fn floodlight(frame: &mut Frame, x: i32, unit: f32) {
    let px = |v: f32| ((v * unit) as i32).max(1);
    frame.rect(x - px(4.0), px(50.0), px(8.0), px(70.0), Colour::rgb(120, 128, 138));
    frame.rect(x - px(46.0), px(14.0), px(92.0), px(40.0), Colour::rgb(86, 94, 106));
    for row in 0..2 {
        for column in 0..5 {
            let centre = (x as f32 + (column as f32 - 2.0) * 17.0 * unit, (25.0 + 18.0 * row as f32) * unit);
            frame.ellipse(centre.0, centre.1, 6.5 * unit, 6.5 * unit, Colour::rgb(255, 252, 226));
        }
    }
}
