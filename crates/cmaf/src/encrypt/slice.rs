//! Where a slice header ends (ITU-T H.264, 7.3.3).

use h264_reader::Context;
use h264_reader::nal::pps::PicParameterSet;
use h264_reader::nal::slice::SliceHeader;
use h264_reader::nal::sps::SeqParameterSet;
use h264_reader::nal::{Nal, RefNal};
use h264_reader::rbsp::{BitRead, BitReaderError};
use mp4_atom::Avcc;

use crate::Error;

/// A slice header is some tens of bytes; with the most reference pictures and weights below 2 KiB. Only so much of a
/// slice is looked at.
const HEADER_MAX: usize = 4_096;

/// The parameter sets of a track.
pub(super) struct Headers {
    context: Context,
    /// Bytes of the length before each NAL unit.
    pub(super) length: usize,
}

impl Headers {
    pub(super) fn new(config: &Avcc) -> Result<Headers, Error> {
        let mut context = Context::new();
        for bytes in &config.sequence_parameter_sets {
            let set = nal(bytes).and_then(|nal| SeqParameterSet::from_bits(nal.rbsp_bits()).ok());
            context.put_seq_param_set(set.ok_or(Error::Slice("a sequence parameter set cannot be read"))?);
        }
        for bytes in &config.picture_parameter_sets {
            let set = nal(bytes).and_then(|nal| PicParameterSet::from_bits(&context, nal.rbsp_bits()).ok());
            let set = set.ok_or(Error::Slice("a picture parameter set cannot be read"))?;
            context.put_pic_param_set(set);
        }
        Ok(Headers { context, length: usize::from(config.length_size) })
    }

    /// Bytes of the NAL unit's header and slice header, as they stand in the NAL unit: the last one may hold bits of
    /// the slice's data.
    pub(super) fn clear(&self, unit: &[u8]) -> Result<usize, Error> {
        let looked_at = &unit[..unit.len().min(HEADER_MAX)];
        let nal = nal(looked_at).ok_or(Error::Slice("a NAL unit is empty"))?;
        let header = nal.header().map_err(|_| Error::Slice("a NAL unit's header is not one"))?;
        let mut bits = Counted { inner: nal.rbsp_bits(), read: 0 };
        SliceHeader::from_bits(&self.context, &mut bits, header, None)
            .map_err(|_| Error::Slice("a slice header cannot be read"))?;
        Ok(1 + raw(&looked_at[1..], bits.read.div_ceil(8)))
    }
}

/// A NAL unit that is not empty.
fn nal(bytes: &[u8]) -> Option<RefNal<'_>> {
    (!bytes.is_empty()).then(|| RefNal::new(bytes, &[], true))
}

/// How many bytes of a NAL unit's body hold its first `payload` ones, with the bytes that prevent emulation
/// (7.4.1).
fn raw(body: &[u8], payload: usize) -> usize {
    let (mut zeros, mut seen) = (0, 0);
    for (at, byte) in body.iter().enumerate() {
        if seen == payload {
            return at;
        }
        if zeros >= 2 && *byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if *byte == 0 { zeros + 1 } else { 0 };
        seen += 1;
    }
    body.len()
}

/// Counts the bits that are read.
struct Counted<R> {
    inner: R,
    read: usize,
}

/// Bits of an unsigned Exp-Golomb code (9.1).
fn golomb(value: u32) -> usize {
    2 * (u64::from(value) + 1).ilog2() as usize + 1
}

impl<R: BitRead> BitRead for Counted<R> {
    fn read_ue(&mut self, name: &'static str) -> Result<u32, BitReaderError> {
        let value = self.inner.read_ue(name)?;
        self.read += golomb(value);
        Ok(value)
    }

    fn read_se(&mut self, name: &'static str) -> Result<i32, BitReaderError> {
        let value = self.inner.read_se(name)?;
        // 9.1.1: 1, -1, 2, -2 … are the codes 1, 2, 3, 4 …
        self.read += golomb(value.unsigned_abs().saturating_mul(2).saturating_sub(u32::from(value > 0)));
        Ok(value)
    }

    fn read_bit(&mut self, name: &'static str) -> Result<bool, BitReaderError> {
        self.read += 1;
        self.inner.read_bit(name)
    }

    fn read<const BITS: u32, I: h264_reader::rbsp::Integer>(
        &mut self,
        name: &'static str,
    ) -> Result<I, BitReaderError> {
        self.read += BITS as usize;
        self.inner.read::<BITS, I>(name)
    }

    fn read_var<I: h264_reader::rbsp::Integer>(
        &mut self,
        bit_count: u32,
        name: &'static str,
    ) -> Result<I, BitReaderError> {
        self.read += bit_count as usize;
        self.inner.read_var(bit_count, name)
    }

    fn read_to<V: h264_reader::rbsp::Primitive>(&mut self, name: &'static str) -> Result<V, BitReaderError> {
        self.read += 8 * size_of::<V>();
        self.inner.read_to(name)
    }

    fn skip(&mut self, bit_count: u32, name: &'static str) -> Result<(), BitReaderError> {
        self.read += bit_count as usize;
        self.inner.skip(bit_count, name)
    }

    fn byte_aligned(&self) -> bool {
        self.inner.byte_aligned()
    }

    fn has_more_rbsp_data(&mut self, name: &'static str) -> Result<bool, BitReaderError> {
        self.inner.has_more_rbsp_data(name)
    }

    fn finish_rbsp(self) -> Result<(), BitReaderError> {
        self.inner.finish_rbsp()
    }

    fn finish_sei_payload(self) -> Result<(), BitReaderError> {
        self.inner.finish_sei_payload()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_prevent_emulation_count() {
        assert_eq!(raw(&[1, 2, 3, 4], 3), 3);
        assert_eq!(raw(&[0, 0, 3, 1, 9], 3), 4);
        assert_eq!(raw(&[0, 0, 3, 0, 0, 3, 1, 9], 5), 7);
        // One after the last byte wanted belongs to what follows.
        assert_eq!(raw(&[0, 0, 3, 1], 2), 2);
        assert_eq!(raw(&[7], 9), 1);
    }

    #[test]
    fn codes_are_as_long_as_they_are() {
        assert_eq!([0, 1, 2, 3, 6, 7, u32::MAX - 1].map(golomb), [1, 3, 3, 5, 5, 7, 63]);
    }
}
