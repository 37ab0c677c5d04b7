//! A look into media objects: enough ISO BMFF (ISO/IEC 14496-12) to see that one is what it should be.

/// The timescale of an init segment's first track (`moov/trak/mdia/mdhd`).
///
/// # Errors
/// In one sentence what it lacks.
pub fn timescale(init: &[u8]) -> Result<u32, String> {
    let mdhd = ["moov", "trak", "mdia", "mdhd"]
        .iter()
        .try_fold(init, |inside, name| find(inside, name))
        .ok_or("an init segment without moov/trak/mdia/mdhd")?;
    // Version and flags, then two times of 4 or 8 bytes.
    let at = if mdhd.first() == Some(&1) { 20 } else { 12 };
    match be32(mdhd, at) {
        Some(scale) if scale > 0 => Ok(scale),
        _ => Err("an init segment without a timescale".to_owned()),
    }
}

/// The decode time of a part's or segment's first fragment (`moof/traf/tfdt`), in its track's timescale. The
/// object must begin with `moof`, after an optional `styp`, and its `mdat` must be all there.
///
/// # Errors
/// In one sentence what is wrong with it.
pub fn decode_time(object: &[u8]) -> Result<u64, String> {
    let mut rest = object;
    let mut first = None;
    let mut last = "nothing".to_owned();
    while !rest.is_empty() {
        let (name, inside, after) = next(rest).ok_or_else(|| format!("it breaks off after {last}"))?;
        match (name, first) {
            (b"moof", None) => first = Some(inside),
            (b"styp" | b"prft" | b"emsg" | b"sidx", None) | (_, Some(_)) => {}
            (other, None) => {
                return Err(format!("it begins with {}, not moof", String::from_utf8_lossy(other)));
            }
        }
        last = String::from_utf8_lossy(name).into_owned();
        rest = after;
    }
    if last != "mdat" {
        return Err(format!("it ends with {last}, not mdat"));
    }
    let tfdt = first.and_then(|moof| find(find(moof, "traf")?, "tfdt")).ok_or("no moof/traf/tfdt")?;
    let time = match tfdt.first() {
        Some(1) => tfdt.get(4..12).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes),
        _ => be32(tfdt, 4).map(u64::from),
    };
    time.ok_or_else(|| "tfdt is too short".to_owned())
}

/// For a fuzz target: any bytes, no panic.
pub fn fuzz(bytes: &[u8]) {
    let _ = timescale(bytes);
    let _ = decode_time(bytes);
}

fn find<'a>(mut boxes: &'a [u8], wanted: &str) -> Option<&'a [u8]> {
    loop {
        let (name, inside, after) = next(boxes)?;
        if name == wanted.as_bytes() {
            return Some(inside);
        }
        boxes = after;
    }
}

/// The first box: its name, what is inside, and what comes after.
fn next(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let name = bytes.get(4..8)?;
    let (header, size) = match be32(bytes, 0)? {
        0 => (8, bytes.len()),
        1 => (16, usize::try_from(u64::from_be_bytes(bytes.get(8..16)?.try_into().ok()?)).ok()?),
        size => (8, size as usize),
    };
    Some((name, bytes.get(header..size)?, bytes.get(size..)?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    fn boxed(name: &str, inside: &[u8]) -> Vec<u8> {
        let mut all = (inside.len() as u32 + 8).to_be_bytes().to_vec();
        all.extend(name.as_bytes());
        all.extend(inside);
        all
    }

    /// A part with nothing but what a player model looks at.
    pub(crate) fn part(decode_time: u64) -> Vec<u8> {
        let tfdt = boxed("tfdt", &[&[1, 0, 0, 0][..], &decode_time.to_be_bytes()].concat());
        [boxed("styp", b"msdh"), boxed("moof", &boxed("traf", &tfdt)), boxed("mdat", b"x")].concat()
    }

    /// An init segment likewise.
    pub(crate) fn init(timescale: u32) -> Vec<u8> {
        let mdhd = boxed("mdhd", &[&[0; 12][..], &timescale.to_be_bytes()].concat());
        [boxed("ftyp", b"cmfc"), boxed("moov", &boxed("trak", &boxed("mdia", &mdhd)))].concat()
    }

    #[test]
    fn what_is_right() {
        assert_eq!(timescale(&init(48_000)), Ok(48_000));
        assert_eq!(decode_time(&part(1 << 40)), Ok(1 << 40));
        let two = [part(5), part(6)].concat();
        assert_eq!(decode_time(&two), Ok(5));
    }

    #[test]
    fn what_is_wrong() {
        let good = part(7);
        for (bad, why) in [
            (&good[..good.len() - 1], "breaks off"),
            (&good[..12], "ends with styp"),
            (&b""[..], "ends with nothing"),
            (&boxed("mdat", b"x")[..], "begins with mdat"),
            (&init(1)[..], "begins with ftyp"),
        ] {
            let said = decode_time(bad).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        assert!(timescale(&good).is_err());
        assert!(timescale(&init(0)).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes(bytes: Vec<u8>, at in 0usize..60, with: u8) {
            fuzz(&bytes);
            let mut near = part(7);
            if let Some(byte) = near.get_mut(at) {
                *byte = with;
            }
            fuzz(&near);
        }
    }
}
