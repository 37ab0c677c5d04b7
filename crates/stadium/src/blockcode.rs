//! Numbers as black and white blocks, so that a machine can read them off a picture that was encoded, scaled and
//! decoded.
//!
//! **Where.** For a picture of width W and height H a code is a rectangle W/2 wide and 4H/45 high: two rows of
//! twenty blocks, each W/40 by 2H/45. At 1280x720 that is 32x32 pixels a block; at 320x180 it is 8x8, on the
//! encoder's own block grid. Edges that are no whole pixel are rounded down. There are two:
//!
//! | code | left edge | top edge | at 1280x720 | number |
//! |---|---|---|---|---|
//! | [`TIME`] | W/40 | 39H/45 | (32, 624) to (672, 688) | UTC in milliseconds mod 2^32 |
//! | [`BALLS`] | 19W/40 | 2H/45 | (608, 32) to (1248, 96) | how many deliveries of the match have been bowled; only while one is played |
//!
//! **What.** 40 bits, most significant first, left to right, the upper row first: the number, then a CRC-8 of its
//! four bytes (big-endian; polynomial 0x07, initial value 0, result XOR 0x55, known as CRC-8/ITU), so that neither
//! a black nor a white picture is a valid code. A 1 is white (luma 235), a 0 is black (16). A reader averages the
//! middle half of each block and compares with 126.

/// Blocks in a row.
pub const COLUMNS: usize = 20;

/// Rows of blocks.
pub const ROWS: usize = 2;

/// Luma of a 0 and of a 1 (ITU-R BT.709 narrow range).
pub const LUMA: [u8; 2] = [16, 235];

const THRESHOLD: u32 = 126;

/// The venue time.
pub const TIME: Code = Code { left: 1, top: 39 };

/// Deliveries bowled so far.
pub const BALLS: Code = Code { left: 19, top: 2 };

/// Where a code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its left edge, in fortieths of the width.
    left: usize,
    /// Its top edge, in forty-fifths of the height.
    top: usize,
}

fn crc8(bytes: [u8; 4]) -> u8 {
    let mut crc = 0u8;
    for byte in bytes {
        crc ^= byte;
        for _ in 0..8 {
            crc = if crc & 0x80 != 0 { (crc << 1) ^ 0x07 } else { crc << 1 };
        }
    }
    crc ^ 0x55
}

impl Code {
    /// Its pixel edges: left, top, right, bottom.
    pub(crate) fn edges(self, width: usize, height: usize) -> [usize; 4] {
        let [left, top, ..] = self.block(width, height, 0, 0);
        let [.., right, bottom] = self.block(width, height, COLUMNS - 1, ROWS - 1);
        [left, top, right, bottom]
    }

    /// Pixel edges of a block.
    fn block(self, width: usize, height: usize, column: usize, row: usize) -> [usize; 4] {
        let x = |column: usize| width * (self.left + column) / 40;
        let y = |row: usize| height * (self.top + 2 * row) / 45;
        [x(column), y(row), x(column + 1), y(row + 1)]
    }

    /// Draws a number on a luma plane whose rows are `stride` bytes apart. Chroma below it should be neutral. Draws
    /// nothing outside a plane that is shorter than it says.
    pub fn draw(self, luma: &mut [u8], width: usize, height: usize, stride: usize, number: u32) {
        let word = (u64::from(number) << 8) | u64::from(crc8(number.to_be_bytes()));
        for n in 0..COLUMNS * ROWS {
            let value = LUMA[(word >> (COLUMNS * ROWS - 1 - n)) as usize & 1];
            let [left, top, right, bottom] = self.block(width, height, n % COLUMNS, n / COLUMNS);
            for y in top..bottom {
                if let Some(run) = luma.get_mut(y * stride + left..y * stride + right) {
                    run.fill(value);
                }
            }
        }
    }

    /// Reads the number off a luma plane; `None` when the check fails.
    pub fn read(self, luma: &[u8], width: usize, height: usize, stride: usize) -> Option<u32> {
        let mut word = 0u64;
        for n in 0..COLUMNS * ROWS {
            let [left, top, right, bottom] = self.block(width, height, n % COLUMNS, n / COLUMNS);
            let (margin_x, margin_y) = ((right - left) / 4, (bottom - top) / 4);
            let (mut sum, mut count) = (0, 0);
            for y in top + margin_y..bottom - margin_y {
                for &value in luma.get(y * stride + left + margin_x..y * stride + right - margin_x)? {
                    sum += u32::from(value);
                    count += 1;
                }
            }
            word = (word << 1) | u64::from(sum > THRESHOLD * count);
        }
        let number = (word >> 8) as u32;
        (crc8(number.to_be_bytes()) == word as u8).then_some(number)
    }
}

/// Draws the venue time: [`Code::draw`] of [`TIME`].
pub fn draw(luma: &mut [u8], width: usize, height: usize, stride: usize, utc_ms: i64) {
    TIME.draw(luma, width, height, stride, utc_ms as u32);
}

/// Reads the venue time: [`Code::read`] of [`TIME`].
pub fn read(luma: &[u8], width: usize, height: usize, stride: usize) -> Option<u32> {
    TIME.read(luma, width, height, stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_draws_at_any_size_and_stride() {
        for (width, height, stride) in [(1280, 720, 1280), (640, 360, 704), (426, 240, 448), (320, 180, 320)]
        {
            for ms in [0, 1, 0x5555_5555, 1_796_000_000_040, i64::from(u32::MAX)] {
                let mut luma = vec![90; stride * height];
                draw(&mut luma, width, height, stride, ms);
                BALLS.draw(&mut luma, width, height, stride, !(ms as u32));
                assert_eq!(read(&luma, width, height, stride), Some(ms as u32), "{width}x{height} {ms}");
                assert_eq!(BALLS.read(&luma, width, height, stride), Some(!(ms as u32)), "{width}x{height}");
            }
        }
    }

    #[test]
    fn the_place_is_what_the_page_says() {
        assert_eq!(TIME.block(1280, 720, 0, 0), [32, 624, 64, 656]);
        assert_eq!(TIME.block(320, 180, 1, 1), [16, 164, 24, 172]);
        assert_eq!(TIME.edges(1280, 720), [32, 624, 672, 688]);
        assert_eq!(BALLS.edges(1280, 720), [608, 32, 1248, 96]);
        assert_eq!(BALLS.edges(320, 180), [152, 8, 312, 24]);
    }

    #[test]
    fn blank_short_and_damaged_pictures_are_no_code() {
        assert_eq!(read(&[0; 320 * 180], 320, 180, 320), None);
        assert_eq!(read(&[255; 320 * 180], 320, 180, 320), None);
        assert_eq!(read(&[], 320, 180, 320), None);
        assert_eq!(read(&[0; 64], 0, 0, 0), None);
        let mut luma = vec![90; 320 * 180];
        draw(&mut luma, 320, 180, 320, 1_796_000_000_040);
        for y in 156..164 {
            for value in &mut luma[y * 320 + 8..y * 320 + 16] {
                *value = 251 - *value;
            }
        }
        assert_eq!(read(&luma, 320, 180, 320), None);
    }
}
