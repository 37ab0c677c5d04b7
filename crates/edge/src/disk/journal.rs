//! What a segment says of its records: which key is where, and which is no longer. Pure.
//!
//! Entries of `checksum key-length length offset stored-ms key`, numbers in little endian, the checksum (CRC-32)
//! of all that follows it. Of several for one key the last holds.

use bytes::{Buf, BufMut};

use super::record::{SUM, checksum};

/// Where a record lies in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) offset: u64,
    /// Never 0.
    pub(super) len: u32,
    pub(super) stored_ms: u64,
}

/// Bytes before the key.
const PREFIX: usize = 26;

/// An entry: the key is there, or (`None`) no longer. `None` if the key is too long for one.
pub(super) fn entry(key: &str, span: Option<Span>) -> Option<Vec<u8>> {
    let span = span.unwrap_or(Span { offset: 0, len: 0, stored_ms: 0 });
    let mut out = Vec::with_capacity(PREFIX + key.len());
    out.put_bytes(0, SUM);
    out.put_u16_le(u16::try_from(key.len()).ok()?);
    out.put_u32_le(span.len);
    out.put_u64_le(span.offset);
    out.put_u64_le(span.stored_ms);
    out.put_slice(key.as_bytes());
    let sum = checksum(&[&out[SUM..]]);
    out[..SUM].copy_from_slice(&sum.to_le_bytes());
    Some(out)
}

/// The entries of a journal, up to its end or to the first that is broken: without it the next cannot be found.
pub(super) struct Replay<'a>(&'a [u8]);

impl<'a> Replay<'a> {
    pub(super) fn new(journal: &'a [u8]) -> Replay<'a> {
        Replay(journal)
    }

    /// Whether the entries went on to the end; to be asked after the last.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a> Iterator for Replay<'a> {
    type Item = (&'a str, Option<Span>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut prefix = self.0.get(..PREFIX)?;
        let (sum, key_len, len) = (prefix.get_u32_le(), prefix.get_u16_le(), prefix.get_u32_le());
        let (offset, stored_ms) = (prefix.get_u64_le(), prefix.get_u64_le());
        let end = PREFIX + usize::from(key_len);
        let entry = self.0.get(..end).filter(|entry| checksum(&[&entry[SUM..]]) == sum)?;
        let key = str::from_utf8(&entry[PREFIX..]).ok()?;
        self.0 = &self.0[end..];
        Some((key, (len > 0).then_some(Span { offset, len, stored_ms })))
    }
}

/// A journal as it stands, and an entry whose checksum is right.
pub(super) fn fuzz(bytes: &[u8]) {
    Replay::new(bytes).for_each(drop);
    let mut sealed = [&[0; SUM], bytes].concat();
    let sum = checksum(&[bytes]);
    sealed[..SUM].copy_from_slice(&sum.to_le_bytes());
    if let Some((key, span)) = Replay::new(&sealed).next() {
        assert_eq!(Replay::new(&entry(key, span).unwrap_or_default()).next(), Some((key, span)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_up_to_the_first_that_is_broken() {
        let span = |n| Some(Span { offset: n, len: 9, stored_ms: 7 });
        let entries = [("/m/1", span(0)), ("/m/2", span(9)), ("/m/1", None), ("", span(u64::MAX))];
        let journal: Vec<_> = entries.iter().flat_map(|(key, span)| entry(key, *span).unwrap()).collect();
        let mut replay = Replay::new(&journal);
        assert_eq!(replay.by_ref().collect::<Vec<_>>(), entries);
        assert!(replay.is_whole());
        let ends: Vec<_> = (0..=entries.len())
            .map(|n| entries[..n].iter().map(|(key, _)| PREFIX + key.len()).sum::<usize>())
            .collect();
        for at in 0..journal.len() {
            let before = ends.iter().filter(|end| **end <= at).count() - 1;
            let mut broken = journal.clone();
            broken[at] ^= 0x10;
            for journal in [&broken[..], &journal[..at]] {
                let mut replay = Replay::new(journal);
                assert_eq!(replay.by_ref().collect::<Vec<_>>(), entries[..before], "{at}");
                assert_eq!(replay.is_whole(), journal.len() == ends[before]);
            }
        }
        assert_eq!(entry(&"k".repeat(1 << 16), None), None);
    }
}
