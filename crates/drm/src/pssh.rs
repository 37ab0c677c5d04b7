//! What a DRM system is told of a key: `pssh` boxes (ISO/IEC 23001-7, 8.1), and what stands in playlists.
//! Byte for byte as `shaka-packager` writes them for the same keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use timeline::protection::{Checksum, Kid, Protection, Scheme};

/// Widevine's system id.
pub const WIDEVINE: [u8; 16] =
    [0xed, 0xef, 0x8b, 0xa9, 0x79, 0xd6, 0x4a, 0xce, 0xa3, 0xc8, 0x27, 0xdc, 0xd5, 0x1d, 0x21, 0xed];
/// PlayReady's.
pub const PLAYREADY: [u8; 16] =
    [0x9a, 0x04, 0xf0, 0x79, 0x98, 0x40, 0x42, 0x86, 0xab, 0x92, 0xe6, 0x5b, 0xe0, 0x88, 0x5f, 0x95];
/// The common one of W3C (Encrypted Media Extensions, "cenc" initialization data), which ClearKey uses.
pub const COMMON: [u8; 16] =
    [0x10, 0x77, 0xef, 0xec, 0xc0, 0xb2, 0x4d, 0x02, 0xac, 0xe3, 0x3c, 0x1e, 0x52, 0xe2, 0xfb, 0x4b];
/// FairPlay's, which has no box but a name in CPIX.
pub const FAIRPLAY: [u8; 16] =
    [0x94, 0xce, 0x86, 0xfb, 0x07, 0xff, 0x4f, 0x43, 0xad, 0xb8, 0x93, 0xd2, 0xfa, 0x96, 0x8c, 0xa2];

/// Widevine's box: a `WidevinePsshData` with `key_ids` (2) and `protection_scheme` (9).
pub fn widevine(kid: Kid, scheme: Scheme) -> Vec<u8> {
    let mut data = vec![0x12, 16];
    data.extend_from_slice(&kid.0);
    data.push(0x48);
    let mut rest = u32::from_be_bytes(scheme.fourcc());
    while rest >= 0x80 {
        data.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    data.push(rest as u8);
    boxed(0, &WIDEVINE, &[], &data)
}

/// PlayReady's box: version 0 around [`playready_object`].
pub fn playready(kid: Kid, scheme: Scheme, checksum: Option<Checksum>) -> Vec<u8> {
    boxed(0, &PLAYREADY, &[], &playready_object(kid, scheme, checksum))
}

/// PlayReady Object with one header record: 4.3 for `cbcs`, 4.0 for `cenc`.
pub fn playready_object(kid: Kid, scheme: Scheme, checksum: Option<Checksum>) -> Vec<u8> {
    const SPACE: &str = "http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader";
    let id = STANDARD.encode(guid(kid));
    let (version, inner) = match scheme {
        Scheme::Cbcs => (
            "4.3.0.0",
            format!("<PROTECTINFO><KIDS><KID ALGID=\"AESCBC\" VALUE=\"{id}\"></KID></KIDS></PROTECTINFO>"),
        ),
        Scheme::Cenc => {
            let check = checksum.map(|sum| format!("<CHECKSUM>{}</CHECKSUM>", STANDARD.encode(sum.0)));
            let info = "<PROTECTINFO><KEYLEN>16</KEYLEN><ALGID>AESCTR</ALGID></PROTECTINFO>";
            ("4.0.0.0", format!("{info}<KID>{id}</KID>{}", check.unwrap_or_default()))
        }
    };
    let header =
        format!("<WRMHEADER xmlns=\"{SPACE}\" version=\"{version}\"><DATA>{inner}</DATA></WRMHEADER>");
    let record: Vec<u8> = header.encode_utf16().flat_map(u16::to_le_bytes).collect();
    // Length, number of records, type of the record (1: header), its length.
    let mut object = (record.len() as u32 + 10).to_le_bytes().to_vec();
    object.extend_from_slice(&[1, 0, 1, 0]);
    object.extend_from_slice(&(record.len() as u16).to_le_bytes());
    object.extend_from_slice(&record);
    object
}

/// W3C's common box: version 1 with the names of keys and nothing else.
pub fn common(kids: &[Kid]) -> Vec<u8> {
    boxed(1, &COMMON, kids, &[])
}

/// What a chunk announces to players that take keys from the media: its own key, and the next.
pub fn in_chunk(protection: &Protection) -> Vec<u8> {
    let kids: Vec<Kid> =
        std::iter::once(protection.kid).chain(protection.next.map(|next| next.kid)).collect();
    common(&kids)
}

/// A key's name as Microsoft's GUID: the first three fields are little-endian.
pub(crate) fn guid(kid: Kid) -> [u8; 16] {
    let [a, b, c, d, e, f, g, h, rest @ ..] = kid.0;
    let mut guid = [d, c, b, a, f, e, h, g, 0, 0, 0, 0, 0, 0, 0, 0];
    guid[8..].copy_from_slice(&rest);
    guid
}

/// Five groups of hex digits (RFC 9562).
pub fn uuid(bytes: [u8; 16]) -> String {
    let hex = Kid(bytes).to_string();
    let at = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [at(0, 8), at(8, 12), at(12, 16), at(16, 20), at(20, 32)].join("-")
}

fn boxed(version: u8, system: &[u8; 16], kids: &[Kid], data: &[u8]) -> Vec<u8> {
    let mut body = vec![version, 0, 0, 0];
    body.extend_from_slice(system);
    if version > 0 {
        body.extend_from_slice(&(kids.len() as u32).to_be_bytes());
        kids.iter().for_each(|kid| body.extend_from_slice(&kid.0));
    }
    body.extend_from_slice(&(data.len() as u32).to_be_bytes());
    body.extend_from_slice(data);
    let mut bytes = (body.len() as u32 + 8).to_be_bytes().to_vec();
    bytes.extend_from_slice(b"pssh");
    bytes.extend_from_slice(&body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Secret};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What `shaka-packager` 3.8 wrote for this key; tests/ ask it again.
    #[test]
    fn as_shaka_packager_writes_them() {
        let kid: Kid = "0123456789abcdef0123456789abcdef".parse().unwrap();
        let secret: Kid = "00112233445566778899aabbccddeeff".parse().unwrap();
        let key = Key { kid, secret: Secret(secret.0), iv: [0; 16] };
        let id = kid.to_string();
        for (scheme, last) in [(Scheme::Cbcs, "48f3c6899b06"), (Scheme::Cenc, "48e3dc959b06")] {
            let expected =
                format!("000000387073736800000000edef8ba979d64acea3c827dcd51d21ed000000181210{id}{last}");
            assert_eq!(hex(&widevine(kid, scheme)), expected);
        }
        let expected =
            format!("0000003470737368010000001077efecc0b24d02ace33c1e52e2fb4b00000001{id}00000000");
        assert_eq!(hex(&common(&[kid])), expected);
        for (scheme, size, text) in [
            (
                Scheme::Cbcs,
                478,
                "version=\"4.3.0.0\"><DATA><PROTECTINFO><KIDS><KID ALGID=\"AESCBC\" \
                 VALUE=\"Z0UjAauJ780BI0VniavN7w==\"></KID></KIDS></PROTECTINFO></DATA></WRMHEADER>",
            ),
            (
                Scheme::Cenc,
                550,
                "version=\"4.0.0.0\"><DATA><PROTECTINFO><KEYLEN>16</KEYLEN><ALGID>AESCTR</ALGID></PROTECTINFO>\
                 <KID>Z0UjAauJ780BI0VniavN7w==</KID><CHECKSUM>Ib0Unyi9LCw=</CHECKSUM></DATA></WRMHEADER>",
            ),
        ] {
            let checksum = (scheme == Scheme::Cenc).then(|| key.checksum());
            let box_ = playready(kid, scheme, checksum);
            let header: Vec<u16> =
                box_[42..].chunks(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
            let header = String::from_utf16(&header).unwrap();
            assert!(header.ends_with(text) && box_.len() == size, "{} {header}", box_.len());
        }
    }
}
