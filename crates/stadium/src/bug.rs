//! The score on the picture, as broadcasters call it: the bug. For people a panel at the lower right, for machines the
//! code [`BALLS`].

use crate::blockcode::BALLS;
use crate::font;
use crate::frame::{Colour, Frame};

/// Rows of the panel below its title.
pub(crate) const ROWS: usize = 4;

/// What the bug says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bug {
    /// The score, and how far the innings or the clock is.
    pub(crate) title: [String; 2],
    /// What stands at the left and at the right of each row.
    pub(crate) rows: [[String; 2]; ROWS],
    /// Deliveries bowled in the match so far.
    pub(crate) balls: u32,
}

/// Left, top, width and height, all even.
type Area = [usize; 4];

impl Bug {
    /// Draws it on a picture, all of it inside [`areas`].
    pub(crate) fn draw(&self, frame: &mut Frame) {
        let (width, height) = (frame.width, frame.height);
        let [code, panel] = areas(width, height);
        // On grey, so that no colour bleeds in.
        fill(frame, code, Colour::BLACK.shade(40));
        BALLS.draw(frame.luma(), width, height, width, self.balls);

        let layout = Layout::of(height);
        fill(frame, panel, Colour::rgb(14, 22, 42));
        let [left, top, wide, _] = panel;
        fill(frame, [left, top, wide, layout.title_tall()], Colour::rgb(22, 62, 116));
        fill(frame, [left, top, layout.pad / 2, layout.tall()], Colour::rgb(250, 206, 60));
        let (inner, room) = (left + layout.pad, wide.saturating_sub(2 * layout.pad));
        row(frame, [inner, top + layout.pad, room], layout.title_dot, &self.title, Colour::WHITE);
        for (n, words) in self.rows.iter().enumerate() {
            let y = top + layout.row_top(n);
            row(frame, [inner, y, room], layout.dot, words, Colour::WHITE.shade(-20));
        }
    }
}

/// Where the code and the panel are.
pub(crate) fn areas(width: usize, height: usize) -> [Area; 2] {
    let margin = width / 160;
    let [left, top, right, bottom] = BALLS.edges(width, height);
    let even = |n: usize| n & !1;
    let (left, top) = (even(left - margin), even(top - margin));
    let code = [left, top, even(right + margin + 1 - left), even(bottom + margin + 1 - top)];
    // Right of the venue time's code, and as low as that.
    let (left, right, bottom) = (width * 22 / 40, width * 39 / 40, height * 29 / 30);
    let tall = even(Layout::of(height).tall() + 1).min(bottom);
    [code, [even(left), even(bottom - tall), even(right - left), tall]]
}

/// Sizes of the panel in pixels.
struct Layout {
    pad: usize,
    gap: usize,
    title_dot: usize,
    dot: usize,
}

impl Layout {
    fn of(height: usize) -> Layout {
        let px = |v: f32| ((v * height as f32 / 720.0).round() as usize).max(1);
        Layout { pad: px(12.0).max(2), gap: px(9.0), title_dot: px(5.0), dot: px(3.0) }
    }

    fn title_tall(&self) -> usize {
        2 * self.pad + font::HEIGHT * self.title_dot
    }

    fn row_top(&self, n: usize) -> usize {
        self.title_tall() + self.gap + n * (font::HEIGHT * self.dot + self.gap)
    }

    fn tall(&self) -> usize {
        self.row_top(ROWS)
    }
}

fn fill(frame: &mut Frame, [left, top, width, height]: Area, colour: Colour) {
    frame.rect(left as i32, top as i32, width as i32, height as i32, colour);
}

/// Words at the left and at the right; the left ones are cut where the right ones begin.
fn row(
    frame: &mut Frame,
    [left, top, wide]: [usize; 3],
    dot: usize,
    [words, end]: &[String; 2],
    colour: Colour,
) {
    let advance = font::ADVANCE * dot;
    let letters = (wide + dot) / advance;
    let end: Vec<char> = upper(end).take(letters).collect();
    let room = letters - end.len() - usize::from(!end.is_empty() && end.len() < letters);
    let words: String = upper(words).take(room).collect();
    frame.text(left as i32, top as i32, dot as i32, &words, colour);
    let from = left + wide + dot - end.len() * advance;
    frame.text(from as i32, top as i32, dot as i32, &end.iter().collect::<String>(), colour);
}

/// As the font has it.
fn upper(words: &str) -> impl Iterator<Item = char> {
    words.chars().flat_map(char::to_uppercase).map(|letter| match letter {
        '–' | '—' => '-',
        '’' => '\'',
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bug(balls: u32) -> Bug {
        let row = |left: &str, right: &str| [left.to_owned(), right.to_owned()];
        let title = row("CSK 145/2", "15.3");
        let long = "A name that is much too long for any panel of any size that there is";
        Bug { title, rows: [row(long, "23 (14)"), row("", ""), row(long, long), row("x", "")], balls }
    }

    #[test]
    fn all_of_it_is_inside_its_areas_at_every_size() {
        for (width, height) in [(320, 180), (426, 240), (640, 360), (854, 480), (1280, 720), (3840, 2160)] {
            let mut frame = Frame::new(width, height);
            bug(33).draw(&mut frame);
            assert_eq!(BALLS.read(&frame.data, width, height, width), Some(33), "{width}x{height}");
            for [left, top, wide, tall] in areas(width, height) {
                assert!([left, top, wide, tall].iter().all(|n| n % 2 == 0), "{width}x{height}");
                fill(&mut frame, [left, top, wide, tall], Colour::BLACK);
            }
            assert!(frame.data == Frame::new(width, height).data, "{width}x{height} is drawn on outside");
        }
    }

    #[test]
    fn it_covers_neither_the_clock_nor_its_code() {
        for (width, height) in [(320, 180), (426, 240), (1280, 720)] {
            let [_, [left, ..]] = areas(width, height);
            let [.., right, _] = crate::blockcode::TIME.edges(width, height);
            assert!(left > right + width / 160, "{width}x{height}");
        }
    }
}
