//! Reads, as it comes, the fragmented MP4 that an encoder writes for one track.
//!
//! What ffmpeg 5.1 writes with `-f mp4 -movflags
//! frag_every_frame+empty_moov+default_base_moof+frag_discont+skip_trailer -avoid_negative_ts disabled`: one
//! `moof` and `mdat` a frame, `tfdt` the frame's own decode time (`-copyts`: the source's), negative ones in
//! two's complement, duration up to the next frame. A frame comes out when the next one has been encoded, for
//! its duration is not known earlier. AAC's first packet is priming: it stands 1,024 samples before the first
//! sample that went in. (`skip_trailer` keeps ffmpeg from remembering every fragment that it ever wrote.)

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use mp4_atom::{Atom, FourCC, Ftyp, Mdat, Moof, Moov};

use crate::boxes::Header;
use crate::fragment::{Defaults, Fragment};
use crate::{Error, Sample, Track, fragment, moov};

/// The largest box that is held. Boxes hold one frame: an intra frame of 2160p at 100 Mbit/s is below 4 MiB.
pub const BOX_MAX: usize = 8 << 20;

/// Bytes that may wait: a box that is not whole yet and one read of a pipe (at most 1 MiB, Linux's
/// `pipe-max-size`).
pub const BUFFERED_MAX: usize = BOX_MAX + (1 << 20);

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The track's configuration: once, before its first sample.
    Init(Track),
    /// The next sample in decode order.
    Sample(Sample),
}

/// An incremental reader. After an error it stays in error: an encoder that writes nonsense is restarted.
#[derive(Debug, Default)]
pub struct Reader {
    /// What has not been used yet; it begins at a box.
    buffer: BytesMut,
    /// Bytes that belong to a box of no interest and are dropped as they come.
    skip: u64,
    defaults: Option<Defaults>,
    /// A `moof` that waits for its `mdat`, and its size.
    fragment: Option<(Fragment, usize)>,
    ready: VecDeque<Event>,
    failed: Option<Error>,
}

impl Reader {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes, cut anywhere. Call [`Self::next_event`] until it is empty after each.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let skipped = self.skip.min(bytes.len() as u64);
        self.skip -= skipped;
        let bytes = &bytes[skipped as usize..];
        if self.buffer.len() + bytes.len() > BUFFERED_MAX {
            self.fail(Error::Backlog(BUFFERED_MAX));
            return;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event; `None` until more bytes come.
    pub fn next_event(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            match self.next_box() {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.failed = Some(error);
        self.buffer = BytesMut::new();
    }

    /// Uses one box; false when it is not whole yet.
    fn next_box(&mut self) -> Result<bool, Error> {
        let Some(header) = Header::parse(&self.buffer)? else { return Ok(false) };
        if !matches!(header.kind, Ftyp::KIND | Moov::KIND | Moof::KIND | Mdat::KIND) {
            let here = header.total.min(self.buffer.len() as u64);
            self.buffer.advance(here as usize);
            self.skip = header.total - here;
            return Ok(true);
        }
        if header.total > BOX_MAX as u64 {
            return Err(Error::TooLarge { kind: header.kind, size: header.total, max: BOX_MAX });
        }
        let total = header.total as usize;
        if self.buffer.len() < total {
            // Once, so that a large box that comes in pieces is not copied at each of them. Bounded by BOX_MAX.
            self.buffer.reserve(total - self.buffer.len());
            return Ok(false);
        }
        let body = self.buffer.split_to(total).freeze().slice(header.header..);
        self.use_box(header, body)?;
        Ok(true)
    }

    fn use_box(&mut self, header: Header, body: Bytes) -> Result<(), Error> {
        match header.kind {
            Moov::KIND => {
                if self.defaults.is_some() {
                    return Err(Error::Misplaced(Moov::KIND));
                }
                let (track, defaults) = moov::parse(&body)?;
                self.defaults = Some(defaults);
                self.ready.push_back(Event::Init(track));
            }
            Moof::KIND => {
                let defaults = self.defaults.ok_or(Error::Missing(Moov::KIND))?;
                if self.fragment.is_some() {
                    return Err(Error::Missing(Mdat::KIND));
                }
                self.fragment = Some((fragment::parse(&body, defaults)?, header.total as usize));
            }
            Mdat::KIND => {
                let (fragment, moof) = self.fragment.take().ok_or(Error::Missing(Moof::KIND))?;
                let payload_at = moof + header.header;
                for entry in fragment.entries {
                    let data = body.slice(entry.range(payload_at, body.len())?);
                    self.ready.push_back(Event::Sample(Sample {
                        dts: entry.dts,
                        cts: entry.cts,
                        duration: entry.duration,
                        keyframe: entry.keyframe,
                        data,
                    }));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The track that a whole init segment configures.
pub fn init(segment: &[u8]) -> Result<Track, Error> {
    const FILE: FourCC = FourCC::new(b"file");
    let body = crate::boxes::Children::of(FILE, segment).find(Moov::KIND)?;
    moov::parse(body).map(|(track, _)| track)
}
