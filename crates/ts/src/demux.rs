//! Packets: synchronisation, continuity, and who gets which payload.

use mpeg2ts_reader::packet::{ContinuityCounter, Packet, Pid};
use mpeg2ts_reader::psi::pat::{PatSection, ProgramDescriptor};

use crate::pes::{self, Pes};
use crate::programme::{Kind, Programme};
use crate::section::{self, Assembler};

/// What was observed, in the order of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The programme's streams are known, or are others than before.
    Programme(Programme),
    /// A PES packet begins: for video a frame, for audio one or several.
    Pes(Pes),
    /// A whole section on a cue stream, with its CRC, which has been checked.
    Section {
        /// Of the stream.
        pid: u16,
        /// From table_id to CRC_32.
        data: Vec<u8>,
    },
}

/// What went wrong, counted since the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults {
    /// Times that the next packet did not begin where it should.
    pub sync_losses: u64,
    /// Bytes that belong to no packet.
    pub bytes_skipped: u64,
    /// Packets that a demodulator or receiver marked as damaged (transport_error_indicator).
    pub transport_errors: u64,
    /// Places where packets of the programme are missing (continuity_counter).
    pub continuity_errors: u64,
    /// Sections that failed their CRC or contradict themselves.
    pub section_errors: u64,
}

/// What a PID is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Pat,
    Pmt,
    Stream(Kind),
}

/// A PID that is looked at.
#[derive(Debug)]
struct Slot {
    pid: u16,
    role: Role,
    /// Last continuity_counter.
    counter: Option<ContinuityCounter>,
    /// Of tables and cues.
    sections: Assembler,
    /// Packets of a table since its last beginning, and of the last one that was whole: see [`Demux::tables`].
    coming: Vec<u8>,
    whole: Vec<u8>,
}

/// Bytes of packets kept of a table: a section has at most 1,024 bytes, so six packets.
const TABLE_MAX: usize = 8 * Packet::SIZE;

impl Slot {
    fn new(pid: u16, role: Role) -> Self {
        Slot {
            pid,
            role,
            counter: None,
            sections: Assembler::default(),
            coming: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// Remembers a packet of a table that is on its way.
    fn keep(&mut self, packet: &Packet<'_>, start: bool) {
        if start {
            self.coming.clear();
        }
        if self.coming.len() < TABLE_MAX {
            self.coming.extend_from_slice(packet.buffer());
        }
    }

    /// The table is whole.
    fn kept(&mut self) {
        self.whole.clone_from(&self.coming);
    }
}

/// Observes the first programme of a transport stream of 188-byte packets.
#[derive(Debug)]
pub struct Demux {
    /// Bytes that are not a whole packet yet (or, while searching, not two): fewer than 189.
    rest: Vec<u8>,
    synchronised: bool,
    faults: Faults,
    /// The PAT, then the PMT once it is known, then the streams: at most 204, as a PMT has 1,021 bytes. They are
    /// few, so they are searched in order.
    slots: Vec<Slot>,
    /// Number and PMT PID of the programme.
    chosen: Option<(u16, u16)>,
    programme: Option<Programme>,
}

impl Default for Demux {
    fn default() -> Self {
        Demux {
            rest: Vec::new(),
            synchronised: false,
            faults: Faults::default(),
            slots: vec![Slot::new(Pid::PAT.into(), Role::Pat)],
            chosen: None,
            programme: None,
        }
    }
}

impl Demux {
    /// One that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// What went wrong so far.
    pub fn faults(&self) -> Faults {
        self.faults
    }

    /// The programme as last announced.
    pub fn programme(&self) -> Option<&Programme> {
        self.programme.as_ref()
    }

    /// The packets of the last PAT and PMT as they came: what a decoder must see first if it is to begin in
    /// the middle of the stream.
    pub fn tables(&self) -> Vec<u8> {
        self.slots.iter().flat_map(|slot| &slot.whole).copied().collect()
    }

    /// Takes the next bytes, cut anywhere, and tells what they mean.
    pub fn push(&mut self, bytes: &[u8], mut on: impl FnMut(Event)) {
        // A datagram of whole packets, the usual case, is looked at where it lies.
        if self.rest.is_empty() {
            let used = self.packets(bytes, &mut on);
            self.rest.extend_from_slice(&bytes[used..]);
        } else {
            let mut joined = std::mem::take(&mut self.rest);
            joined.extend_from_slice(bytes);
            let used = self.packets(&joined, &mut on);
            joined.drain(..used);
            self.rest = joined;
        }
    }

    /// All whole packets of these bytes; returns how many bytes are done with.
    fn packets(&mut self, bytes: &[u8], on: &mut impl FnMut(Event)) -> usize {
        let mut at = 0;
        loop {
            if !self.synchronised {
                // Two sync bytes a packet apart, so that one in a payload is not believed.
                let Some(next) = (at + Packet::SIZE < bytes.len()).then(|| &bytes[at..]) else { return at };
                let found = next
                    .iter()
                    .zip(&next[Packet::SIZE..])
                    .position(|(a, b)| Packet::is_sync_byte(*a) && Packet::is_sync_byte(*b));
                let skipped = found.unwrap_or(next.len() - Packet::SIZE);
                self.faults.bytes_skipped += skipped as u64;
                at += skipped;
                self.synchronised = found.is_some();
            } else {
                let Some(packet) = bytes.get(at..at + Packet::SIZE) else { return at };
                match Packet::try_new(packet) {
                    Some(packet) => {
                        self.packet(&packet, on);
                        at += Packet::SIZE;
                    }
                    None => {
                        self.faults.sync_losses += 1;
                        self.synchronised = false;
                    }
                }
            }
        }
    }

    fn packet(&mut self, packet: &Packet<'_>, on: &mut impl FnMut(Event)) {
        // The PID itself cannot be trusted then.
        if packet.transport_error_indicator() {
            self.faults.transport_errors += 1;
            return;
        }
        let pid = u16::from(packet.pid());
        let Some(at) = self.slots.iter().position(|slot| slot.pid == pid) else { return };
        let Some(payload) = packet.payload() else { return };
        let Some(whole) = self.continues(at, packet) else { return };
        let start = packet.payload_unit_start_indicator();
        let role = self.slots[at].role;
        if let Role::Stream(kind) = role
            && kind != Kind::Scte35
        {
            if start && let Some(pes) = pes::begin(pid, kind, packet, payload) {
                on(Event::Pes(pes));
            }
            return;
        }
        if let Role::Pat | Role::Pmt = role {
            self.slots[at].keep(packet, start);
        }
        // A table changes only slots after its own, so this one is still there afterwards.
        let mut sections = std::mem::take(&mut self.slots[at].sections);
        sections.push(payload, start, whole, |section| match section::checked(section) {
            None => self.faults.section_errors += 1,
            Some(section) => match role {
                Role::Pat => self.pat(at, section),
                Role::Pmt => self.pmt(at, section, on),
                Role::Stream(_) => on(Event::Section { pid, data: section.to_vec() }),
            },
        });
        self.slots[at].sections = sections;
    }

    /// Whether this packet is the next one of its PID (true) or some before it are missing (false); `None` for
    /// one that is sent again (2.4.3.3).
    fn continues(&mut self, at: usize, packet: &Packet<'_>) -> Option<bool> {
        let now = packet.continuity_counter();
        let declared = || packet.adaptation_field().is_some_and(|field| field.discontinuity_indicator());
        match self.slots[at].counter.replace(now) {
            None => Some(true),
            Some(before) if now.follows(before) => Some(true),
            Some(_) if declared() => Some(false),
            Some(before) if now == before => None,
            Some(_) => {
                self.faults.continuity_errors += 1;
                Some(false)
            }
        }
    }

    fn pat(&mut self, at: usize, section: &[u8]) {
        let Some(table) = section::table(section, section::PAT) else { return };
        self.slots[at].kept();
        let mut first = None;
        for entry in PatSection::new(table.body).programs() {
            let ProgramDescriptor::Program { program_number, pid } = entry else { continue };
            let entry = (program_number, u16::from(pid));
            // The same one for as long as it is listed where it was.
            if self.chosen == Some(entry) {
                return;
            }
            if pid != Pid::PAT {
                first = first.or(Some(entry));
            }
        }
        if let Some((_, pid)) = first {
            self.chosen = first;
            self.programme = None;
            self.slots.truncate(1);
            self.slots.push(Slot::new(pid, Role::Pmt));
        }
    }

    fn pmt(&mut self, at: usize, section: &[u8], on: &mut impl FnMut(Event)) {
        let Some(table) = section::table(section, section::PMT) else { return };
        if self.chosen.is_none_or(|(number, _)| number != table.id) {
            return;
        }
        let Some(programme) = Programme::parse(table.id, table.body) else {
            self.faults.section_errors += 1;
            return;
        };
        self.slots[at].kept();
        if self.programme.as_ref() == Some(&programme) {
            return;
        }
        self.slots.truncate(2);
        for stream in programme.streams.iter().filter(|stream| stream.kind != Kind::Other) {
            self.slots.push(Slot::new(stream.pid, Role::Stream(stream.kind)));
        }
        self.programme = Some(programme.clone());
        on(Event::Programme(programme));
    }
}
