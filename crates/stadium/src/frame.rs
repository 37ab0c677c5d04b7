//! A 4:2:0 picture in memory, and the few shapes that are drawn on it. Everything clips.

use crate::font;

/// Y, Cb, Cr (ITU-R BT.709, narrow range).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colour(pub(crate) u8, pub(crate) u8, pub(crate) u8);

impl Colour {
    pub(crate) const WHITE: Colour = Colour(235, 128, 128);
    pub(crate) const BLACK: Colour = Colour(16, 128, 128);

    /// From red, green and blue, 0 to 255.
    pub(crate) fn rgb(r: u8, g: u8, b: u8) -> Colour {
        let [r, g, b] = [r, g, b].map(|c| f32::from(c) / 255.0);
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let scale = |value: f32, range: f32, zero: f32| (value * range + zero).round() as u8;
        Colour(
            scale(y, 219.0, 16.0),
            scale((b - y) / 1.8556, 224.0, 128.0),
            scale((r - y) / 1.5748, 224.0, 128.0),
        )
    }

    /// Lighter or darker.
    pub(crate) fn shade(self, by: i16) -> Colour {
        Colour((i16::from(self.0) + by).clamp(16, 235) as u8, self.1, self.2)
    }
}

/// Planar Y, Cb, Cr in one buffer, rows without padding. Width and height are even.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) data: Vec<u8>,
}

impl Frame {
    pub(crate) fn new(width: usize, height: usize) -> Frame {
        let mut data = vec![16; width * height];
        data.resize(width * height * 3 / 2, 128);
        Frame { width, height, data }
    }

    /// Offset, width and height of each plane.
    pub(crate) fn planes(&self) -> [(usize, usize, usize); 3] {
        let (luma, half) = (self.width * self.height, (self.width / 2, self.height / 2));
        [(0, self.width, self.height), (luma, half.0, half.1), (luma + luma / 4, half.0, half.1)]
    }

    pub(crate) fn luma(&mut self) -> &mut [u8] {
        &mut self.data[..self.width * self.height]
    }

    /// Copies the part of a wider frame of the same height that begins `left` pixels in.
    pub(crate) fn copy_window(&mut self, wide: &Frame, left: usize) {
        for ((to, width, height), (from, wide_width, _)) in self.planes().into_iter().zip(wide.planes()) {
            let left = if width == self.width { left } else { left / 2 };
            for y in 0..height {
                let source = from + y * wide_width + left;
                let target = to + y * width;
                self.data[target..target + width].copy_from_slice(&wide.data[source..source + width]);
            }
        }
    }

    /// Copies an area of a frame of the same size; left, top, width and height are even.
    pub(crate) fn copy_area(&mut self, from: &Frame, [left, top, width, height]: [usize; 4]) {
        for (n, (plane, stride, _)) in self.planes().into_iter().enumerate() {
            let part = if n == 0 { 1 } else { 2 };
            for y in top / part..(top + height) / part {
                let at = plane + y * stride + left / part;
                let run = at..at + width / part;
                if let (Some(to), Some(from)) = (self.data.get_mut(run.clone()), from.data.get(run)) {
                    to.copy_from_slice(from);
                }
            }
        }
    }

    /// A run of pixels of one row, from `left` up to `right`.
    pub(crate) fn run(&mut self, y: i32, left: i32, right: i32, colour: Colour) {
        let (left, right) = (left.max(0) as usize, right.clamp(0, self.width as i32) as usize);
        let Ok(y) = usize::try_from(y) else { return };
        if y >= self.height || left >= right {
            return;
        }
        let [_, (blue, half, _), (red, _, _)] = self.planes();
        let row = y * self.width;
        self.data[row + left..row + right].fill(colour.0);
        if y % 2 == 0 {
            let (left, right) = (y / 2 * half + left / 2, y / 2 * half + right.div_ceil(2).min(half));
            self.data[blue + left..blue + right].fill(colour.1);
            self.data[red + left..red + right].fill(colour.2);
        }
    }

    pub(crate) fn rect(&mut self, left: i32, top: i32, width: i32, height: i32, colour: Colour) {
        for y in top..top + height {
            self.run(y, left, left + width, colour);
        }
    }

    /// A filled ellipse about a centre.
    pub(crate) fn ellipse(&mut self, x: f32, y: f32, radius_x: f32, radius_y: f32, colour: Colour) {
        for row in (y - radius_y).floor() as i32..=(y + radius_y).ceil() as i32 {
            let part = (row as f32 + 0.5 - y) / radius_y;
            if part.abs() < 1.0 {
                let half = radius_x * (1.0 - part * part).sqrt();
                self.run(row, (x - half).round() as i32, (x + half).round() as i32, colour);
            }
        }
    }

    /// Text from its top left corner, `dot` pixels a dot.
    pub(crate) fn text(&mut self, left: i32, top: i32, dot: i32, text: &str, colour: Colour) {
        for (n, letter) in text.chars().enumerate() {
            let x = left + n as i32 * font::ADVANCE as i32 * dot;
            for (row, bits) in font::glyph(letter).into_iter().enumerate() {
                for column in 0..font::WIDTH {
                    if bits & (0x10 >> column) != 0 {
                        self.rect(x + column as i32 * dot, top + row as i32 * dot, dot, dot, colour);
                    }
                }
            }
        }
    }

    /// Darkens a rectangle, so that text on it is read on any ground.
    pub(crate) fn dim(&mut self, left: usize, top: usize, width: usize, height: usize) {
        for y in top..(top + height).min(self.height) {
            let (from, to) = (y * self.width + left, y * self.width + (left + width).min(self.width));
            for value in &mut self.data[from..to] {
                *value = 16 + value.saturating_sub(16) / 4;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_clip_on_every_side() {
        let mut frame = Frame::new(32, 18);
        frame.rect(-100, -100, 300, 300, Colour::WHITE);
        assert!(frame.luma().iter().all(|&y| y == 235));
        frame.ellipse(40.0, -3.0, 20.0, 20.0, Colour::BLACK);
        frame.text(-3, 15, 2, "00:00", Colour::BLACK);
        frame.dim(20, 10, 100, 100);
        frame.run(-1, 0, 9, Colour::BLACK);
        assert_eq!(frame.data.len(), 32 * 18 * 3 / 2);
    }

    #[test]
    fn an_area_is_copied_in_every_plane() {
        let (mut from, mut to) = (Frame::new(32, 18), Frame::new(32, 18));
        let (red, blue) = (Colour::rgb(255, 0, 0), Colour::rgb(0, 0, 255));
        from.rect(0, 0, 32, 18, red);
        to.rect(0, 0, 32, 18, blue);
        to.copy_area(&from, [4, 2, 8, 6]);
        let mut wanted = Frame::new(32, 18);
        wanted.rect(0, 0, 32, 18, blue);
        wanted.rect(4, 2, 8, 6, red);
        assert!(to.data == wanted.data);
    }

    #[test]
    fn colours_are_bt709() {
        let Colour(y, cb, cr) = Colour::rgb(255, 0, 0);
        assert_eq!((y, cb, cr), (63, 102, 240));
    }
}
