//! The little Protobuf that this room speaks itself: its own control frames, and what clients say
//! (`crates/scores/proto/scores.proto`, `Frame` and `ClientFrame`). Events come encoded. Pure.

/// Appends a varint.
fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Appends a field with text or bytes; like every encoder, none for an empty one.
pub(crate) fn bytes(to: &mut Vec<u8>, tag: u32, value: &[u8]) {
    if !value.is_empty() {
        message(to, tag, value);
    }
}

/// Appends a field with a message, which may be empty.
pub(crate) fn message(to: &mut Vec<u8>, tag: u32, value: &[u8]) {
    varint(to, u64::from(tag << 3 | 2));
    varint(to, value.len() as u64);
    to.extend_from_slice(value);
}

/// Appends a field with a number.
pub(crate) fn number(to: &mut Vec<u8>, tag: u32, value: u64) {
    if value != 0 {
        varint(to, u64::from(tag << 3));
        varint(to, value);
    }
}

/// The fields of a message that hold bytes, by tag; others are passed over, since a newer client may send them.
pub(crate) struct Fields<'b>(pub(crate) &'b [u8]);

/// Not a Protobuf message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl<'b> Fields<'b> {
    /// The next one.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, &'b [u8])>, Malformed> {
        while !self.0.is_empty() {
            let key = u32::try_from(self.varint()?).map_err(|_| Malformed)?;
            let tag = key >> 3;
            if tag == 0 {
                return Err(Malformed);
            }
            match key & 7 {
                0 => drop(self.varint()?),
                1 => drop(self.take(8)?),
                2 => {
                    let len = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
                    return Ok(Some((tag, self.take(len)?)));
                }
                5 => drop(self.take(4)?),
                _ => return Err(Malformed),
            }
        }
        Ok(None)
    }

    fn take(&mut self, len: usize) -> Result<&'b [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            if shift == 63 && byte > 1 {
                return Err(Malformed);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(fields in proptest::collection::vec((1_u32..1_000, proptest::collection::vec(any::<u8>(), 0..300), any::<u64>()), 0..10)) {
            let mut all = Vec::new();
            for (tag, value, other) in &fields {
                number(&mut all, *tag, *other);
                message(&mut all, *tag, value);
            }
            let mut read = Fields(&all);
            for (tag, value, _) in &fields {
                prop_assert_eq!(read.next(), Ok(Some((*tag, &value[..]))));
            }
            prop_assert_eq!(read.next(), Ok(None));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut read = Fields(&bytes);
            while let Ok(Some(_)) = read.next() {}
        }
    }
}
