//! One object as it lies on disk. Pure.
//!
//! `checksum magic head-length body-length head body`, all numbers in little endian; the checksum (CRC-32) is of
//! all that follows it. The head is `times status key (name value)*`, the strings with their lengths before them.

use bytes::{Buf, BufMut, Bytes};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::{Stored, journal};
use crate::limits::DISK_HEAD_BYTES_MAX;

/// Says what the record is, and of which version.
const MAGIC: u32 = u32::from_le_bytes(*b"pvd1");

/// Bytes before the head.
const PREFIX: usize = 16;

/// Bytes of a checksum.
pub(super) const SUM: usize = 4;

/// All of a record but the body, which follows it. `None` if the object is not fit to be kept: too large a head.
pub(super) fn encode(key: &str, stored: &Stored) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(512);
    head.put_bytes(0, PREFIX);
    head.put_u64_le(stored.stored_ms);
    head.put_u64_le(stored.born_ms);
    head.put_u64_le(stored.fresh_until_ms);
    head.put_u64_le(stored.stale_while_revalidate_until_ms);
    head.put_u64_le(stored.stale_if_error_until_ms);
    head.put_u16_le(stored.status.as_u16());
    put_string(&mut head, key.as_bytes())?;
    for (name, value) in &stored.headers {
        put_string(&mut head, name.as_str().as_bytes())?;
        put_string(&mut head, value.as_bytes())?;
    }
    if head.len() > PREFIX + DISK_HEAD_BYTES_MAX {
        return None;
    }
    seal(&mut head, &stored.body)?;
    Some(head)
}

/// What a record holds, if it is whole and of that key.
pub(super) fn decode(key: &str, record: Bytes) -> Option<Stored> {
    let (of, stored) = parse(record)?;
    (of == key.as_bytes()).then_some(stored)
}

/// Fills in what stands before the head.
fn seal(head: &mut [u8], body: &[u8]) -> Option<()> {
    let lengths = [head.len() - PREFIX, body.len()].map(|len| u32::try_from(len).ok());
    let mut prefix = &mut head[SUM..PREFIX];
    prefix.put_u32_le(MAGIC);
    prefix.put_u32_le(lengths[0]?);
    prefix.put_u32_le(lengths[1]?);
    let sum = checksum(&[&head[SUM..], body]);
    head[..SUM].copy_from_slice(&sum.to_le_bytes());
    Some(())
}

fn parse(record: Bytes) -> Option<(Bytes, Stored)> {
    let mut prefix = record.get(..PREFIX)?;
    let (sum, magic, head_len, body_len) =
        (prefix.get_u32_le(), prefix.get_u32_le(), prefix.get_u32_le(), prefix.get_u32_le());
    let body_at = PREFIX.checked_add(head_len as usize)?;
    let fits = body_at.checked_add(body_len as usize) == Some(record.len());
    if magic != MAGIC || !fits || checksum(&[&record[SUM..]]) != sum {
        return None;
    }
    let mut head = record.slice(PREFIX..body_at);
    let mut time = || head.try_get_u64_le().ok();
    let (stored_ms, born_ms, fresh_until_ms) = (time()?, time()?, time()?);
    let (stale_while_revalidate_until_ms, stale_if_error_until_ms) = (time()?, time()?);
    let status = StatusCode::from_u16(head.try_get_u16_le().ok()?).ok()?;
    let key = take_string(&mut head)?;
    let mut headers = HeaderMap::new();
    while head.has_remaining() {
        let name = HeaderName::from_bytes(&take_string(&mut head)?).ok()?;
        let value = HeaderValue::from_maybe_shared(take_string(&mut head)?).ok()?;
        headers.try_append(name, value).ok()?;
    }
    let stored = Stored {
        status,
        headers,
        body: record.slice(body_at..),
        stored_ms,
        born_ms,
        fresh_until_ms,
        stale_while_revalidate_until_ms,
        stale_if_error_until_ms,
    };
    Some((key, stored))
}

fn put_string(out: &mut Vec<u8>, string: &[u8]) -> Option<()> {
    out.put_u16_le(u16::try_from(string.len()).ok()?);
    out.put_slice(string);
    Some(())
}

fn take_string(from: &mut Bytes) -> Option<Bytes> {
    let len = usize::from(from.try_get_u16_le().ok()?);
    (len <= from.len()).then(|| from.split_to(len))
}

/// CRC-32 (IEEE) of pieces that follow each other.
pub(super) fn checksum(pieces: &[&[u8]]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| sum.update(piece));
    sum.finalize()
}

/// Whatever is on disk: read as it stands, and as a head and a journal entry whose checksums are right. What is
/// understood is written again alike.
pub(crate) fn fuzz(bytes: &[u8]) {
    parse(Bytes::copy_from_slice(bytes));
    journal::fuzz(bytes);
    let mut record = [&[0; PREFIX], bytes].concat();
    seal(&mut record, b"body");
    record.extend_from_slice(b"body");
    if let Some((key, stored)) = parse(record.into())
        && let Ok(key) = str::from_utf8(&key)
        && let Some(mut again) = encode(key, &stored)
    {
        again.extend_from_slice(&stored.body);
        assert_eq!(decode(key, again.into()), Some(stored));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::object;
    use proptest::prelude::*;

    fn record(key: &str, stored: &Stored) -> Bytes {
        [&encode(key, stored).unwrap()[..], &stored.body].concat().into()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut stored = object(7, 1_000);
        stored.headers.append("x-pavilion", "one".parse().unwrap());
        stored.headers.append("x-pavilion", HeaderValue::from_bytes(b"tw\xf6").unwrap());
        assert_eq!(decode("/m/7", record("/m/7", &stored)).unwrap(), stored);
        assert_eq!(decode("/m/8", record("/m/7", &stored)), None);
        let empty = Stored { headers: HeaderMap::new(), body: Bytes::new(), ..stored };
        assert_eq!(decode("", record("", &empty)).unwrap(), empty);
    }

    #[test]
    fn any_changed_byte_and_any_cut_is_seen() {
        let stored = object(7, 200);
        let whole = record("/m/7", &stored);
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut broken = whole.to_vec();
                broken[at] ^= flip;
                assert_eq!(decode("/m/7", broken.into()), None, "{at} {flip}");
            }
            assert_eq!(decode("/m/7", whole.slice(..at)), None);
        }
        assert_eq!(decode("/m/7", [&whole[..], b"x"].concat().into()), None);
    }

    #[test]
    fn what_is_too_large_is_not_written() {
        let mut stored = object(1, 10);
        assert_eq!(encode(&"k".repeat(DISK_HEAD_BYTES_MAX), &stored), None);
        stored.headers.insert("x-large", "v".repeat(DISK_HEAD_BYTES_MAX - 10).parse().unwrap());
        assert_eq!(encode("/m/1", &stored), None);
        stored.headers.insert("x-large", "v".repeat(DISK_HEAD_BYTES_MAX / 2).parse().unwrap());
        assert!(encode("/m/1", &stored).is_some());
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            fuzz(&bytes);
        }

        /// As above, with what lets a parser through to the fields.
        #[test]
        fn no_head_panics(
            times in any::<[u8; 40]>(),
            status in 90u16..1_010,
            strings in proptest::collection::vec(("[a-zA-Z \\x00-]{0,5}", 0u16..8), 0..8),
        ) {
            let mut head = times.to_vec();
            head.put_u16_le(status);
            for (text, len) in strings {
                head.put_u16_le(len);
                head.put_slice(text.as_bytes());
            }
            fuzz(&head);
        }
    }
}
