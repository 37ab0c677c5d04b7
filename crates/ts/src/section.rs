//! Sections (ISO/IEC 13818-1, 2.4.4): put together from packets, checked, and their table header read.

use mpeg2ts_reader::mpegts_crc;
use mpeg2ts_reader::psi::{CurrentNext, SectionCommonHeader, TableSyntaxHeader};

/// table_id of the programme association table.
pub(crate) const PAT: u8 = 0x00;
/// table_id of a programme map table.
pub(crate) const PMT: u8 = 0x02;

/// table_id of what fills the rest of a packet.
const STUFFING: u8 = 0xff;
/// Bytes of a CRC_32.
const CRC: usize = 4;

/// Puts sections of one PID together. Holds at most one: 4,098 bytes, as section_length has 12 bits.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    /// Bytes of a section that goes on in the next packet; empty when there is none.
    partial: Vec<u8>,
}

impl Assembler {
    /// Takes the payload of the next packet. `start`: payload_unit_start_indicator; `whole`: no packet is
    /// missing before this one.
    pub(crate) fn push(&mut self, payload: &[u8], start: bool, whole: bool, mut on: impl FnMut(&[u8])) {
        if !whole {
            self.partial.clear();
        }
        let (before, after) = if start {
            let Some((pointer, rest)) = payload.split_first() else { return };
            rest.split_at(usize::from(*pointer).min(rest.len()))
        } else {
            (payload, &[][..])
        };
        if !self.partial.is_empty() {
            self.partial.extend_from_slice(before);
            let joined = std::mem::take(&mut self.partial);
            self.sections(&joined, &mut on);
        }
        if start {
            // What the pointer cut off will not be completed.
            self.partial.clear();
            self.sections(after, &mut on);
        }
    }

    fn sections(&mut self, mut bytes: &[u8], on: &mut impl FnMut(&[u8])) {
        while let [table, ..] = bytes {
            if *table == STUFFING {
                return;
            }
            let length = match bytes {
                [_, high, low, ..] => 3 + (usize::from(high & 0x0f) << 8 | usize::from(*low)),
                _ => usize::MAX,
            };
            if bytes.len() < length {
                self.partial.extend_from_slice(bytes);
                return;
            }
            let (section, rest) = bytes.split_at(length);
            on(section);
            bytes = rest;
        }
    }
}

/// The section, if its CRC is right.
pub(crate) fn checked(section: &[u8]) -> Option<&[u8]> {
    (section.len() > CRC && mpegts_crc::sum32(section) == 0).then_some(section)
}

/// A table in force.
pub(crate) struct Table<'a> {
    /// table_id_extension: the programme's number in a PMT.
    pub(crate) id: u16,
    pub(crate) body: &'a [u8],
}

/// A [`checked`] section as a table of this kind, if it is one and applies now.
pub(crate) fn table(section: &[u8], kind: u8) -> Option<Table<'_>> {
    let (common, rest) = section.split_at_checked(SectionCommonHeader::SIZE)?;
    let common = SectionCommonHeader::new(common);
    let (header, rest) = rest.split_at_checked(TableSyntaxHeader::SIZE)?;
    let header = TableSyntaxHeader::new(header);
    let body = rest.get(..rest.len().checked_sub(CRC)?)?;
    // A PMT has one section; of a longer PAT the first is enough to choose from.
    let current = header.current_next_indicator() == CurrentNext::Current && header.section_number() == 0;
    (common.table_id == kind && common.section_syntax_indicator && current)
        .then_some(Table { id: header.id(), body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(packets: &[(&[u8], bool, bool)]) -> Vec<Vec<u8>> {
        let mut assembler = Assembler::default();
        let mut found = Vec::new();
        for (payload, start, whole) in packets {
            assembler.push(payload, *start, *whole, |section| found.push(section.to_vec()));
        }
        found
    }

    const A: &[u8] = &[1, 0, 2, 10, 11];
    const B: &[u8] = &[2, 0, 1, 20];

    #[test]
    fn several_in_one_packet() {
        assert_eq!(collect(&[(&[&[0], A, B, &[0xff, 0xff]].concat(), true, true)]), [A, B]);
    }

    #[test]
    fn one_over_several_packets() {
        // Cut even inside the length.
        assert_eq!(
            collect(&[(&[0, 1, 0], true, true), (&[2, 10], false, true), (&[11, 0xff], false, true)]),
            [A]
        );
        assert_eq!(
            collect(&[(&[0, 1, 0, 2], true, true), (&[&[2, 10, 11], B].concat(), true, true)]),
            [A, B]
        );
    }

    #[test]
    fn a_gap_spoils_what_it_cuts_and_no_more() {
        assert_eq!(collect(&[(&[0, 1, 0, 2], true, true), (&[&[2, 10, 11], B].concat(), true, false)]), [B]);
        assert_eq!(collect(&[(&[0, 1, 0, 2], true, true), (&[10, 11], false, false)]), [[0u8; 0]; 0]);
        // In the middle of one from the beginning.
        assert_eq!(collect(&[(&[10, 11], false, true), (&[&[0], B].concat(), true, true)]), [B]);
        // A pointer beyond the packet.
        assert_eq!(collect(&[(&[200, 1], true, true)]), [[0u8; 0]; 0]);
    }
}
