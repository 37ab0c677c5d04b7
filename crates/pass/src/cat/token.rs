//! The envelope: base64url of `61(17([protected, unprotected, claims, tag]))`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{Claims, SESSION_S_MAX};
use crate::cbor::{Item, Reader, Writer};
use crate::keyring::Keyring;
use crate::{PASS_BYTES_MAX, Refusal};

/// Tags of a CWT and of a COSE_Mac0.
const CWT: u64 = 61;
const MAC0: u64 = 17;

/// Labels of header parameters (RFC 9052, 3.1; RFC 9596), and HMAC 256/256 (RFC 9053, 3.1).
const ALG: i64 = 1;
const CONTENT_TYPE: i64 = 3;
const KID: i64 = 4;
const TYP: i64 = 16;
const HS256: i64 = 5;

/// Parameters of one header.
const PARAMETERS_MAX: usize = 8;

/// What a token says, if it is signed with a key of the ring that is in use at that moment (UTC, seconds). Whether it
/// is in time, and for whom, is not looked at.
///
/// # Errors
///
/// Why it is not taken. The tag is checked before the claims are looked at.
pub(crate) fn open(token: &str, keys: &Keyring, now_s: i64) -> Result<Claims, Refusal> {
    if token.len() > PASS_BYTES_MAX {
        return Err(Refusal::Malformed);
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| Refusal::Malformed)?;
    let mut reader = Reader::new(&bytes);
    let mut item = reader.item()?;
    if item == Item::Tag(CWT) {
        item = reader.item()?;
        // Inside the tag of a CWT there is always one that says which kind (RFC 8392, 6).
        if item != Item::Tag(MAC0) {
            return Err(Refusal::Malformed);
        }
    }
    if item == Item::Tag(MAC0) {
        item = reader.item()?;
    }
    if item != Item::Array(4) {
        return Err(Refusal::Malformed);
    }
    let protected = reader.bytes()?;
    let inside = header(&mut Reader::new(protected), true)?;
    let outside = header(&mut reader, false)?;
    let claims = reader.bytes()?;
    let tag = reader.bytes()?;
    reader.end()?;
    if inside.algorithm != Some(HS256) {
        return Err(Refusal::Unsupported);
    }
    let kid = match (inside.kid, outside.kid) {
        (kid, None) | (None, kid) => kid,
        (Some(_), Some(_)) => return Err(Refusal::Malformed),
    };
    keys.check(kid, &to_be_authenticated(protected, claims), tag, now_s)?;
    Claims::read(claims)
}

/// A token that says this, signed with the key that is the ring's at that moment (UTC, seconds).
pub(crate) fn sign(claims: &Claims, keys: &Keyring, now_s: i64) -> Option<String> {
    let claims = claims.write();
    let (kid, key) = keys.current(now_s)?;
    let mut protected = Writer::default();
    protected.map(2).int(ALG).int(HS256).int(KID).bytes(kid.as_bytes());
    let tag = ring::hmac::sign(key, &to_be_authenticated(&protected.0, &claims));
    let mut token = Writer::default();
    token.tag(CWT).tag(MAC0).array(4).bytes(&protected.0).map(0).bytes(&claims).bytes(tag.as_ref());
    Some(URL_SAFE_NO_PAD.encode(token.0))
}

/// The next token of a session, if this one may be renewed at that moment.
pub(crate) fn renewed(claims: &Claims, id: [u8; 16], keys: &Keyring, now_s: i64) -> Option<String> {
    let renewal = claims.renewal?;
    if claims.once || claims.expires_s.saturating_sub(now_s) > renewal.window_s {
        return None;
    }
    let end_s = claims.not_before_s?.saturating_add(SESSION_S_MAX);
    let expires_s = now_s.saturating_add(renewal.add_s).min(end_s);
    if expires_s <= claims.expires_s {
        return None;
    }
    let next = Claims { expires_s, issued_s: Some(now_s), id: Some(id.to_vec()), ..claims.clone() };
    sign(&next, keys, now_s).filter(|token| token.len() <= PASS_BYTES_MAX)
}

/// RFC 9052, 6.3, without external data.
fn to_be_authenticated(protected: &[u8], claims: &[u8]) -> Vec<u8> {
    let mut whole = Writer(Vec::with_capacity(protected.len() + claims.len() + 16));
    whole.array(4).text("MAC0").bytes(protected).bytes(&[]).bytes(claims);
    whole.0
}

#[derive(Default)]
struct Header<'a> {
    algorithm: Option<i64>,
    kid: Option<&'a [u8]>,
}

/// Of the protected header, what is known; everything else there may be critical. The other one is for the key's name
/// only: it is not authenticated.
fn header<'a>(reader: &mut Reader<'a>, protected: bool) -> Result<Header<'a>, Refusal> {
    let mut header = Header::default();
    for _ in 0..reader.map(PARAMETERS_MAX)? {
        match reader.int()? {
            ALG if protected && header.algorithm.is_none() => match reader.item()? {
                Item::Int(algorithm) => header.algorithm = Some(algorithm),
                _ => return Err(Refusal::Unsupported),
            },
            KID if header.kid.is_none() => {
                header.kid = Some(match reader.item()? {
                    Item::Bytes(kid) => kid,
                    // `common-access-token` writes text, which RFC 9052 does not know.
                    Item::Text(kid) if protected => kid.as_bytes(),
                    _ => return Err(Refusal::Malformed),
                });
            }
            CONTENT_TYPE | TYP if protected => reader.skip()?,
            ALG | KID => return Err(Refusal::Malformed),
            _ => return Err(Refusal::Unsupported),
        }
    }
    if protected {
        reader.end()?;
    }
    Ok(header)
}
