//! Walking boxes (ISO/IEC 14496-12, 4.2) without decoding them.

use mp4_atom::{Atom, FourCC};

use crate::Error;

/// Bytes of the usual header: 32-bit size and type.
const SHORT: usize = 8;
/// Bytes of a header with a 64-bit size.
const LONG: usize = 16;

/// A box's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: FourCC,
    /// Of the header itself.
    pub(crate) header: usize,
    /// Of header and body.
    pub(crate) total: u64,
}

impl Header {
    /// The header at the beginning of `bytes`; `None` when they end inside it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Header>, Error> {
        let Some((size, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
        let Some((kind, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let kind = FourCC::from(kind);
        let (header, total) = match u32::from_be_bytes(*size) {
            1 => match rest.first_chunk::<8>() {
                Some(size) => (LONG, u64::from_be_bytes(*size)),
                None => return Ok(None),
            },
            size => (SHORT, u64::from(size)),
        };
        // Size 0, "to the end of the file", has no place in a stream that goes on.
        if total < header as u64 {
            return Err(damaged(kind, format!("its size is {total}")));
        }
        Ok(Some(Header { kind, header, total }))
    }
}

/// The boxes inside a body, each as its type and its own body.
pub(crate) struct Children<'a> {
    rest: &'a [u8],
    parent: FourCC,
}

impl<'a> Children<'a> {
    pub(crate) fn of(parent: FourCC, body: &'a [u8]) -> Self {
        Children { rest: body, parent }
    }

    /// The body of the first child of this type.
    pub(crate) fn find(self, kind: FourCC) -> Result<&'a [u8], Error> {
        for child in self {
            let (found, body) = child?;
            if found == kind {
                return Ok(body);
            }
        }
        Err(Error::Missing(kind))
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Result<(FourCC, &'a [u8]), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.rest);
        let header = match Header::parse(rest) {
            Ok(Some(header)) if header.total <= rest.len() as u64 => header,
            Ok(_) => return Some(Err(damaged(self.parent, "a box inside runs past its end"))),
            Err(error) => return Some(Err(error)),
        };
        let (child, rest) = rest.split_at(header.total as usize);
        self.rest = rest;
        Some(Ok((header.kind, &child[header.header..])))
    }
}

/// Decodes a whole body.
pub(crate) fn decode<T: Atom>(mut body: &[u8]) -> Result<T, Error> {
    T::decode_body(&mut body).map_err(|error| damaged(T::KIND, error.to_string()))
}

pub(crate) fn damaged(kind: FourCC, why: impl Into<String>) -> Error {
    Error::Damaged { kind, why: why.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let mut long = *b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x12ab";
        let header = Header::parse(&long).unwrap().unwrap();
        assert_eq!((header.header, header.total), (16, 18));
        assert_eq!(Header::parse(&long[..15]).unwrap(), None);
        long[15] = 15;
        assert_eq!(
            Header::parse(&long).unwrap_err().to_string(),
            "the 'mdat' box is damaged: its size is 15"
        );
        assert!(Header::parse(b"\0\0\0\0mdat").is_err());
        assert!(Header::parse(b"\0\0\0\x07mdat").is_err());
    }

    #[test]
    fn a_child_that_runs_past_its_parent_ends_the_walk() {
        let mut children = Children::of(FourCC::new(b"moof"), b"\0\0\0\x08free\0\0\0\x09free");
        assert!(children.next().unwrap().is_ok());
        assert!(children.next().unwrap().is_err());
        assert!(children.next().is_none());
    }
}
