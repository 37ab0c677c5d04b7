//! Where a taker stands.

use std::fmt;
use std::str::FromStr;

/// Where in a topic: which life of its log, and the last message that was taken. The two are one: an offset says
/// nothing in another epoch. As text `"{epoch:x}-{offset}"`, opaque to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// The life of the topic's log: drawn at random when it was made; 0 while there is no log yet.
    pub epoch: u32,
    /// Of the last message taken; 0: none yet.
    pub offset: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.epoch, self.offset)
    }
}

/// A text that is no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
pub struct NotACursor;

impl FromStr for Cursor {
    type Err = NotACursor;

    /// Only what [`fmt::Display`] writes, so that a cursor has one spelling and may stand in a cache's key.
    fn from_str(text: &str) -> Result<Cursor, NotACursor> {
        let (epoch, offset) = text.split_once('-').ok_or(NotACursor)?;
        let cursor = Cursor {
            epoch: u32::from_str_radix(epoch, 16).map_err(|_| NotACursor)?,
            offset: offset.parse().map_err(|_| NotACursor)?,
        };
        if cursor.to_string() == text { Ok(cursor) } else { Err(NotACursor) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_one_spelling() {
        let cursor = Cursor { epoch: 0x1f3a, offset: 412 };
        assert_eq!(cursor.to_string(), "1f3a-412");
        assert_eq!("1f3a-412".parse(), Ok(cursor));
        for bad in [
            "",
            "-",
            "1f3a",
            "1f3a-",
            "-412",
            "1F3A-412",
            "+1-2",
            "01-2",
            "1-02",
            "1-2-3",
            "1ffffffff-1",
            "1- 2",
        ] {
            assert_eq!(bad.parse::<Cursor>(), Err(NotACursor), "{bad}");
        }
    }
}
