//! Cursors as text, of one match and of all that a client had.
//!
//! `1f3a-412`: epoch in hexadecimal, offset in decimal. `a:1f3a-412,b:20-7`: one for each match, what `id:` and
//! `Last-Event-ID` carry. Opaque to clients.

use std::fmt::{self, Write};

use relay::Cursor;

use crate::limits::{MATCH_BYTES_MAX, MATCHES_PER_SOCKET_MAX};

/// Where a client says that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It was nowhere: what is new.
    New,
    /// There.
    After(Cursor),
    /// Somewhere that we cannot read, so it must begin anew.
    Unknown,
}

impl Asked {
    /// What a client wrote.
    pub(crate) fn read(text: &str) -> Asked {
        read(text).map_or(Asked::Unknown, Asked::After)
    }
}

/// A cursor that is written as text.
pub(crate) struct Text(pub(crate) Cursor);

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.0.epoch, self.0.offset)
    }
}

/// Reads `1f3a-412`, and nothing that [`Text`] would not write.
pub(crate) fn read(text: &str) -> Option<Cursor> {
    let (epoch, offset) = text.split_once('-')?;
    let plain = |digits: &str, hex: bool| {
        let digit = |b: u8| b.is_ascii_digit() || (hex && (b'a'..=b'f').contains(&b));
        digits.bytes().all(digit) && (digits == "0" || !digits.starts_with('0'))
    };
    if !plain(epoch, true) || !plain(offset, false) {
        return None;
    }
    Some(Cursor { epoch: u32::from_str_radix(epoch, 16).ok()?, offset: offset.parse().ok()? })
}

/// Whether a match can have that name: what stands in ids, paths and queries as it is.
pub(crate) fn is_match(name: &str) -> bool {
    (1..=MATCH_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~:".contains(&b))
}

/// Writes the cursor of one more match behind those that stand in `to`.
pub(crate) fn push(to: &mut String, name: &str, cursor: Cursor) {
    let comma = if to.is_empty() { "" } else { "," };
    let _ = write!(to, "{comma}{name}:{}", Text(cursor));
}

/// Reads what [`push`] wrote. What cannot be read is left out, or [`Asked::Unknown`] where the match can be told: a
/// client must get an answer, whatever it kept.
pub(crate) fn read_all(text: &str) -> Vec<(String, Asked)> {
    let mut all: Vec<(String, Asked)> = Vec::new();
    for one in text.split(',') {
        let Some((name, cursor)) = one.trim().rsplit_once(':') else { continue };
        if is_match(name) && all.len() < MATCHES_PER_SOCKET_MAX && all.iter().all(|(known, _)| known != name)
        {
            all.push((name.to_owned(), Asked::read(cursor)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_a_cursor_is_unknown() {
        for bad in
            ["", "-", "1-", "-1", "1f3a", "1F3A-1", "01-1", "1-01", "+1-1", "1-+1", "1-1-1", "123456789-1"]
        {
            assert_eq!(Asked::read(bad), Asked::Unknown, "{bad}");
        }
        assert_eq!(read("0-0"), Some(Cursor { epoch: 0, offset: 0 }));
    }

    #[test]
    fn ids_of_matches_may_have_colons() {
        let all = read_all("epl:LIV-ARS:1f-2, demo:x,nonsense,demo:1-1,b/d:1-1");
        let at = Asked::After(Cursor { epoch: 0x1f, offset: 2 });
        assert_eq!(all, [("epl:LIV-ARS".into(), at), ("demo".into(), Asked::Unknown)]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(some in proptest::collection::btree_map("[A-Za-z0-9._~:-]{1,64}", any::<(u32, u64)>(), 0..10)) {
            let mut text = String::new();
            for (name, (epoch, offset)) in &some {
                push(&mut text, name, Cursor { epoch: *epoch, offset: *offset });
            }
            let all: Vec<_> = some
                .into_iter()
                .map(|(name, (epoch, offset))| (name, Asked::After(Cursor { epoch, offset })))
                .collect();
            prop_assert_eq!(read_all(&text), all);
        }
    }
}
