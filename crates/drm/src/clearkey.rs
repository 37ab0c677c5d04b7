//! ClearKey (W3C Encrypted Media Extensions, 9.1): its licence request and its licence are JSON.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use timeline::protection::Kid;

use crate::{Error, Key};

/// Bytes of a request, at most: [`KIDS_MAX`] names and room for what else it says.
pub const REQUEST_MAX: usize = 4 << 10;
/// Keys that one request may ask for: all classes of ten periods.
pub const KIDS_MAX: usize = 30;

/// A licence request (9.1.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The keys that are asked for, each once.
    pub kids: Vec<Kid>,
    /// Of what type the session is. Only temporary ones are given licences.
    pub persistent: bool,
}

#[derive(Deserialize)]
struct Said {
    kids: Vec<String>,
    #[serde(default, rename = "type")]
    session: Option<String>,
}

#[derive(Serialize)]
struct Licence {
    keys: Vec<Jwk>,
    r#type: &'static str,
}

/// A key (RFC 7517, RFC 7518, 6.4).
#[derive(Serialize)]
struct Jwk {
    kty: &'static str,
    kid: String,
    k: String,
}

/// Reads a licence request. Members that it does not know are ignored, as the standard asks.
///
/// # Errors
/// When it is not one.
pub fn request(body: &[u8]) -> Result<Request, Error> {
    let bad = |why: &str| Error::Request(why.to_owned());
    if body.len() > REQUEST_MAX {
        return Err(bad("it is too long"));
    }
    let said: Said = serde_json::from_slice(body).map_err(|e| bad(&e.to_string()))?;
    if said.kids.is_empty() || said.kids.len() > KIDS_MAX {
        return Err(Error::Request(format!(
            "it asks for {} keys; from 1 to {KIDS_MAX} are given",
            said.kids.len()
        )));
    }
    let mut kids = Vec::new();
    for kid in &said.kids {
        let bytes = URL_SAFE_NO_PAD.decode(kid).ok().and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
        let kid = Kid(bytes.ok_or_else(|| bad("a kid is not 16 bytes in base64url without padding"))?);
        if !kids.contains(&kid) {
            kids.push(kid);
        }
    }
    let persistent = match said.session.as_deref() {
        None | Some("temporary") => false,
        Some("persistent-license") => true,
        Some(_) => return Err(bad("its type is neither temporary nor persistent-license")),
    };
    Ok(Request { kids, persistent })
}

/// A licence (9.1.4) with these keys, for a temporary session. This is the secret itself: it goes to the viewer and
/// nowhere else.
pub fn licence(keys: &[Key]) -> String {
    let keys = keys.iter().map(|key| Jwk {
        kty: "oct",
        kid: URL_SAFE_NO_PAD.encode(key.kid.0),
        k: URL_SAFE_NO_PAD.encode(key.secret.0),
    });
    // Strings and a list of them always become JSON.
    serde_json::to_string(&Licence { keys: keys.collect(), r#type: "temporary" }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    #[test]
    fn the_standards_examples() {
        // 9.1.3.1 and 9.1.4.1.
        let asked = request(br#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A"],"type":"temporary"}"#).unwrap();
        assert_eq!(asked.kids[0].to_string(), "2f05477fc24bb4faefd86517156daffc");
        assert!(!asked.persistent);
        let secret: Kid = "f7d3ac4b7e5c6bd1dcbef9ee7bd7d3f0".parse().unwrap();
        let key = Key { kid: asked.kids[0], secret: Secret(secret.0), iv: [0; 16] };
        assert_eq!(
            licence(&[key]),
            r#"{"keys":[{"kty":"oct","kid":"LwVHf8JLtPrv2GUXFW2v_A","k":"99OsS35ca9Hcvvnue9fT8A"}],"type":"temporary"}"#
        );
    }

    #[test]
    fn whatever_is_no_request_is_refused() {
        let many = format!(r#"{{"kids":[{}]}}"#, vec![r#""LwVHf8JLtPrv2GUXFW2v_A""#; KIDS_MAX + 1].join(","));
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"kids":[]}"#,
            r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A=="]}"#,
            r#"{"kids":["LwVHf8JLtPrv2GUXFW2v/A"]}"#,
            r#"{"kids":["LwVHf8JLtPrv2GUXFW2v"]}"#,
            r#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A"],"type":"forever"}"#,
            &many,
        ] {
            assert!(request(bad.as_bytes()).is_err(), "{bad}");
        }
        let more = br#"{"kids":["LwVHf8JLtPrv2GUXFW2v_A","LwVHf8JLtPrv2GUXFW2v_A"],"new":1,"type":"persistent-license"}"#;
        assert_eq!(request(more).map(|r| (r.kids.len(), r.persistent)), Ok((1, true)));
    }
}
