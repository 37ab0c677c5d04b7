//! CBOR (RFC 8949) as far as tokens use it: definite lengths, no simple values beyond booleans and null, nothing that
//! claims to be longer than what is there. The reader borrows and never allocates.

use crate::Refusal;

/// Arrays, maps and tags inside one another, in what is skipped: a token has four.
const DEPTH_MAX: usize = 8;

/// One data item, or the head of one that holds others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
    Array(usize),
    Map(usize),
    Tag(u64),
    Float(f64),
    Other,
}

/// Reads items one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

const BAD: Refusal = Refusal::Malformed;

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Nothing may follow.
    pub(crate) fn end(self) -> Result<(), Refusal> {
        if self.rest.is_empty() { Ok(()) } else { Err(BAD) }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Refusal> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(BAD)?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next item.
    pub(crate) fn item(&mut self) -> Result<Item<'a>, Refusal> {
        let first = self.take(1)?[0];
        let low = first & 31;
        let value = match low {
            0..=23 => u64::from(low),
            // 1, 2, 4 or 8 bytes.
            24..=27 => self.take(1 << (low - 24))?.iter().fold(0, |value, b| value << 8 | u64::from(*b)),
            _ => return Err(BAD),
        };
        let length = || usize::try_from(value).map_err(|_| BAD);
        Ok(match first >> 5 {
            0 => Item::Int(i64::try_from(value).map_err(|_| BAD)?),
            1 => Item::Int(-1 - i64::try_from(value).map_err(|_| BAD)?),
            2 => Item::Bytes(self.take(length()?)?),
            3 => Item::Text(std::str::from_utf8(self.take(length()?)?).map_err(|_| BAD)?),
            // Each element has a byte at least, each entry of a map two.
            4 => Item::Array(length().ok().filter(|n| *n <= self.rest.len()).ok_or(BAD)?),
            5 => Item::Map(length().ok().filter(|n| *n <= self.rest.len() / 2).ok_or(BAD)?),
            6 => Item::Tag(value),
            _ => match low {
                20..=23 => Item::Other,
                26 => Item::Float(f64::from(f32::from_bits(value as u32))),
                27 => Item::Float(f64::from_bits(value)),
                _ => return Err(BAD),
            },
        })
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Refusal> {
        match self.item()? {
            Item::Bytes(bytes) => Ok(bytes),
            _ => Err(BAD),
        }
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Refusal> {
        match self.item()? {
            Item::Text(text) => Ok(text),
            _ => Err(BAD),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i64, Refusal> {
        match self.item()? {
            Item::Int(int) => Ok(int),
            _ => Err(BAD),
        }
    }

    /// How many elements follow, at most `most`.
    pub(crate) fn array(&mut self, most: usize) -> Result<usize, Refusal> {
        match self.item()? {
            Item::Array(count) if count <= most => Ok(count),
            _ => Err(BAD),
        }
    }

    /// How many entries follow, at most `most`.
    pub(crate) fn map(&mut self, most: usize) -> Result<usize, Refusal> {
        match self.item()? {
            Item::Map(count) if count <= most => Ok(count),
            _ => Err(BAD),
        }
    }

    /// Passes over one item with all that it holds.
    pub(crate) fn skip(&mut self) -> Result<(), Refusal> {
        self.skip_below(DEPTH_MAX)
    }

    fn skip_below(&mut self, depth: usize) -> Result<(), Refusal> {
        let held = match self.item()? {
            Item::Array(count) => count,
            Item::Map(count) => 2 * count,
            Item::Tag(_) => 1,
            _ => return Ok(()),
        };
        let depth = depth.checked_sub(1).ok_or(BAD)?;
        (0..held).try_for_each(|_| self.skip_below(depth))
    }
}

/// Writes items in their shortest form (RFC 8949, 4.2.1).
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    fn head(&mut self, major: u8, value: u64) -> &mut Writer {
        let major = major << 5;
        match value {
            0..=23 => self.0.push(major | value as u8),
            24..=0xff => self.0.extend_from_slice(&[major | 24, value as u8]),
            0x100..=0xffff => {
                self.0.push(major | 25);
                self.0.extend_from_slice(&(value as u16).to_be_bytes());
            }
            0x1_0000..=0xffff_ffff => {
                self.0.push(major | 26);
                self.0.extend_from_slice(&(value as u32).to_be_bytes());
            }
            _ => {
                self.0.push(major | 27);
                self.0.extend_from_slice(&value.to_be_bytes());
            }
        }
        self
    }

    pub(crate) fn int(&mut self, value: i64) -> &mut Writer {
        if value < 0 { self.head(1, !value as u64) } else { self.head(0, value as u64) }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Writer {
        self.head(2, bytes.len() as u64).0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Writer {
        self.head(3, text.len() as u64).0.extend_from_slice(text.as_bytes());
        self
    }

    pub(crate) fn array(&mut self, count: usize) -> &mut Writer {
        self.head(4, count as u64)
    }

    pub(crate) fn map(&mut self, count: usize) -> &mut Writer {
        self.head(5, count as u64)
    }

    pub(crate) fn tag(&mut self, tag: u64) -> &mut Writer {
        self.head(6, tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_lies_about_its_length_is_refused() {
        for bad in [
            &[][..],
            &[0x1c],                // reserved
            &[0x18],                // cut
            &[0x42, 1],             // two bytes, one there
            &[0x5f, 0x41, 1, 0xff], // indefinite
            &[0x9f, 0xff],          // indefinite
            &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0xba, 0xff, 0xff, 0xff, 0xff, 1, 1], // four billion entries
            &[0x61, 0xff],                         // not UTF-8
            &[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[0xf8, 32],
        ] {
            assert_eq!(Reader::new(bad).skip(), Err(Refusal::Malformed), "{bad:x?}");
        }
        let deep = [[0x81; 40].as_slice(), &[0]].concat();
        assert_eq!(Reader::new(&deep).skip(), Err(Refusal::Malformed));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(int: i64, bytes: Vec<u8>, text in "\\PC{0,40}") {
            let mut writer = Writer::default();
            writer.array(3).int(int).bytes(&bytes).text(&text);
            let mut reader = Reader::new(&writer.0);
            prop_assert_eq!(reader.array(3), Ok(3));
            prop_assert_eq!(reader.int(), Ok(int));
            prop_assert_eq!(reader.bytes(), Ok(&bytes[..]));
            prop_assert_eq!(reader.text(), Ok(&text[..]));
            prop_assert_eq!(reader.end(), Ok(()));
        }

        #[test]
        fn nothing_panics(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes);
            while reader.skip().is_ok() {}
        }
    }
}
