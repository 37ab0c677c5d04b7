//! What the pipelines have delivered of one segment.

use bytes::Bytes;
use timeline::name::{InitId, Letter};
use timeline::object::{Defect, Meta};
use timeline::protection::Protection;
use timeline::{Ticks, Utc};

/// One published part or segment.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its bytes.
    pub bytes: Bytes,
    /// What its pipeline says of it.
    pub meta: Meta,
    /// When all of it was here.
    pub arrived: Utc,
}

/// One pipeline's objects of a segment.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// By index; `None` where one has not come.
    pub parts: Vec<Option<Object>>,
    /// The segment in one piece, when the pipeline published that.
    pub whole: Option<Object>,
}

/// Both pipelines' objects of a segment.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    sides: [Side; 2],
}

/// A segment in one piece, or in the pieces that it came in.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Its bytes in order, shared with its parts.
    pub chunks: Vec<Bytes>,
    /// Length of its media.
    pub duration: Ticks,
    /// The init segment that it decodes with.
    pub init: InitId,
    /// What it is encrypted with.
    pub key: Option<Protection>,
    /// Frames are missing, or it ends before the grid says.
    pub flawed: bool,
}

impl Slot {
    /// A pipeline's objects.
    pub fn side(&self, letter: Letter) -> &Side {
        &self.sides[letter.index()]
    }

    /// A pipeline's objects, to add to.
    pub fn side_mut(&mut self, letter: Letter) -> &mut Side {
        &mut self.sides[letter.index()]
    }

    /// All objects of both.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.sides.iter().flat_map(|side| side.parts.iter().flatten().chain(&side.whole))
    }

    /// When the first object arrived that holds part `part` or what comes after it.
    pub fn heard_from(&self, part: u32) -> Option<Utc> {
        let parts = self.sides.iter().flat_map(|s| s.parts.iter().skip(part as usize).flatten());
        parts.chain(self.sides.iter().filter_map(|s| s.whole.as_ref())).map(|o| o.arrived).min()
    }

    /// Whether either pipeline says that part `part` is its segment's last.
    pub fn ends_at(&self, part: u32) -> bool {
        self.sides.iter().any(|s| s.part(part).is_some_and(|o| o.meta.last))
    }
}

impl Side {
    /// A part.
    pub fn part(&self, part: u32) -> Option<&Object> {
        self.parts.get(part as usize)?.as_ref()
    }

    /// What there is of the segment's beginning.
    pub fn first(&self) -> Option<&Object> {
        self.part(0).or(self.whole.as_ref())
    }

    /// Adds a part that was not there.
    pub fn insert(&mut self, part: u32, object: Object) {
        let at = part as usize;
        if self.parts.len() <= at {
            self.parts.resize(at + 1, None);
        }
        self.parts[at] = Some(object);
    }

    /// The whole segment of `parts` parts, if it can be made: from its parts in order, or as it was published.
    /// All parts must decode with one init segment and one key.
    pub fn complete(&self, parts: u32) -> Option<Whole> {
        self.joined(parts).or_else(|| {
            let Object { bytes, meta, .. } = self.whole.as_ref()?;
            let (duration, init, key, flawed) = (meta.duration, meta.init, meta.protection, flawed(meta));
            Some(Whole { chunks: vec![bytes.clone()], duration, init, key, flawed })
        })
    }

    fn joined(&self, parts: u32) -> Option<Whole> {
        let Meta { init, protection: key, .. } = self.part(0)?.meta;
        let mut whole = Whole { chunks: Vec::new(), duration: Ticks(0), init, key, flawed: false };
        for part in 0..parts {
            let Object { bytes, meta, .. } =
                self.part(part).filter(|p| p.meta.init == init && same_key(p.meta.protection, key))?;
            whole.chunks.push(bytes.clone());
            whole.duration = whole.duration + meta.duration;
            whole.flawed |= flawed(meta);
            if meta.last {
                whole.flawed |= part + 1 < parts;
                break;
            }
        }
        Some(whole)
    }
}

/// Whether two are encrypted with the same key, or neither is.
pub fn same_key(a: Option<Protection>, b: Option<Protection>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_key(&b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Less valid than an object without such defects. A time jump is no flaw: the feed made it.
pub fn flawed(meta: &Meta) -> bool {
    meta.defects.iter().any(|d| matches!(d, Defect::Short | Defect::Missing))
}

/// Whether `chunks` in order are the same bytes as `whole`.
pub fn same_bytes(chunks: &[Bytes], whole: &[u8]) -> bool {
    let mut rest = whole;
    chunks.iter().all(|chunk| {
        let (head, tail) = rest.split_at(chunk.len().min(rest.len()));
        rest = tail;
        head == chunk.as_ref()
    }) && rest.is_empty()
}
