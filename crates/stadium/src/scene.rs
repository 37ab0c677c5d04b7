//! The whole picture at an instant. It depends on the instant alone.

use crate::backdrop;
use crate::blockcode;
use crate::bug;
use crate::clock::FRAME_MS;
use crate::config::Size;
use crate::font;
use crate::frame::{Colour, Frame};
use crate::play;
use crate::scoreboard::Scoreboard;

/// Paints the ground.
#[derive(Clone)]
pub(crate) struct Scene {
    backdrop: Frame,
    frame: Frame,
    score: Option<Score>,
}

/// The match that is played, and its bug as it was drawn last.
#[derive(Clone)]
struct Score {
    board: Scoreboard,
    /// Of the picture's size; only what [`bug::areas`] says is looked at.
    overlay: Frame,
}

impl Scene {
    pub(crate) fn new(size: Size, board: Option<Scoreboard>) -> Scene {
        let (width, height) = (size.width as usize, size.height as usize);
        let score = board.map(|board| {
            let mut overlay = Frame::new(width, height);
            board.bug().draw(&mut overlay);
            Score { board, overlay }
        });
        Scene { backdrop: backdrop::draw(width, height), frame: Frame::new(width, height), score }
    }

    /// The picture of one instant, 4:2:0.
    pub(crate) fn paint(&mut self, utc_ms: i64) -> &Frame {
        let frame = &mut self.frame;
        let room = (self.backdrop.width - frame.width) as i64;
        // There and back, a pixel a frame: whole pixels do not shimmer.
        let step = (utc_ms / FRAME_MS).rem_euclid(2 * room);
        let left = step.min(2 * room - step) as usize;
        frame.copy_window(&self.backdrop, left);
        play::draw(frame, self.backdrop.width as f32 / 2.0 - left as f32, utc_ms);
        let areas = bug::areas(frame.width, frame.height);
        // The clock ends where the code at its right begins.
        let right = if self.score.is_some() { areas[0][0] } else { frame.width };
        clock(frame, utc_ms, right);
        code(frame, utc_ms);
        if let Some(score) = &mut self.score {
            if score.board.advance(utc_ms) {
                score.board.bug().draw(&mut score.overlay);
            }
            areas.into_iter().for_each(|area| frame.copy_area(&score.overlay, area));
        }
        frame
    }
}

/// UTC for people, at the top left, ending before `right`.
fn clock(frame: &mut Frame, utc_ms: i64, right: usize) {
    let unit = frame.height as f32 / 720.0;
    let px = |v: f32| ((v * unit).round() as usize).max(1);
    let (left, top) = (px(32.0), px(28.0));
    let text = time_of_day(utc_ms);
    let (pad, label) = (px(16.0), px(2.0).max(1));
    let dots = text.len() * font::ADVANCE - 1;
    let dot = px(8.0).min(right.saturating_sub(left + 2 * pad) / dots).max(1);
    let width = dots * dot + 2 * pad;
    frame.dim(left, top, width, 2 * pad + font::HEIGHT * (dot + label) + pad / 2);
    frame.text((left + pad) as i32, (top + pad) as i32, label as i32, "VENUE UTC", Colour::WHITE.shade(-40));
    let below = top + pad + font::HEIGHT * label + pad / 2;
    frame.text((left + pad) as i32, below as i32, dot as i32, &text, Colour::WHITE);
}

/// `HH:MM:SS.mmm` of UTC.
fn time_of_day(utc_ms: i64) -> String {
    let ms = utc_ms.rem_euclid(86_400_000);
    format!("{:02}:{:02}:{:02}.{:03}", ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000)
}

/// UTC for machines, on grey so that no colour of the grass bleeds in.
fn code(frame: &mut Frame, utc_ms: i64) {
    let (width, height) = (frame.width, frame.height);
    let margin = (width / 160) as i32;
    let (left, top) = ((width / 40) as i32, (height * 39 / 45) as i32);
    let (wide, tall) = ((width / 2) as i32, (height * 4 / 45) as i32);
    let grey = Colour::BLACK.shade(40);
    frame.rect((left - margin) & !1, (top - margin) & !1, wide + 2 * margin + 1, tall + 2 * margin + 1, grey);
    blockcode::draw(frame.luma(), width, height, width, utc_ms);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_paints_a_readable_code() {
        for size in ["320x180", "426x240", "640x360", "1280x720"] {
            let mut scene = Scene::new(size.parse().unwrap(), None);
            // A whole delivery and both ends of the pan.
            for utc_ms in (1_796_000_000_000..1_796_000_012_000).step_by(1_960) {
                let frame = scene.paint(utc_ms);
                let read = blockcode::read(&frame.data, frame.width, frame.height, frame.width);
                assert_eq!(read, Some(utc_ms as u32), "{size}");
            }
        }
    }

    #[test]
    fn the_clock_is_utc() {
        assert_eq!(time_of_day(1_796_000_000_040), "00:53:20.040");
    }
}
