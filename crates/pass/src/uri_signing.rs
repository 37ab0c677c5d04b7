//! URI Signing (RFC 9246): a signed JWT, mostly in the parameter `URISigningPackage`.
//!
//! Claims that are not known are ignored there unless `cdnicrit` names them (2.1.9), so that is what happens here.
//! What is known and cannot be checked is refused: `cdniip` is encrypted for a key that an edge has not. A `jti` is
//! looked at only if `cdnicrit` names it, and refused then: an edge alone cannot keep every nonce. Renewal
//! (`cdniets`, `cdnistt`) stays with the issuer: a token without a transport of its own is valid to its end.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex_lite::Regex;
use ring::digest::{SHA256, digest};
use ring::hmac;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::cat::uri::compile;
use crate::{Ask, Error, KEYS_MAX, LEEWAY_S, PASS_BYTES_MAX, Refusal};

/// The name that such tokens go by.
pub const NAME: &str = "URISigningPackage";

/// Claims that may be named as critical, because they are checked.
const CHECKED: [&str; 11] =
    ["iss", "aud", "exp", "nbf", "iat", "sub", "cdniv", "cdnicrit", "cdniuc", "cdnistd", "cdniets"];

/// The shortest secret for HS256, in bytes (RFC 7518, 3.2).
const SECRET_BYTES_MIN: usize = 32;

/// An issuer and its keys, as they stand in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// What its tokens say in `iss`.
    pub issuer: String,
    /// Its keys as a JWKS (RFC 7517): `oct` for HS256, `EC` with P-256 for ES256, `RSA` for RS256.
    pub jwks: Jwks,
}

/// A JWKS, which may hold secrets.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Jwks {
    keys: Vec<Value>,
}

impl std::fmt::Debug for Jwks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Jwks({})", self.keys.len())
    }
}

#[derive(Clone)]
pub(crate) struct Keys {
    issuer: String,
    keys: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    kid: Option<String>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Hmac(hmac::Key),
    P256(Vec<u8>),
    Rsa { n: Vec<u8>, e: Vec<u8> },
}

impl Kind {
    /// The one algorithm that a key is for; a token cannot choose.
    fn algorithm(&self) -> &'static str {
        match self {
            Kind::Hmac(_) => "HS256",
            Kind::P256(_) => "ES256",
            Kind::Rsa { .. } => "RS256",
        }
    }

    fn check(&self, message: &[u8], signature: &[u8]) -> Result<(), ring::error::Unspecified> {
        match self {
            Kind::Hmac(key) => hmac::verify(key, message, signature),
            Kind::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            Kind::Rsa { n, e } => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
        }
    }
}

impl Keys {
    pub(crate) fn new(said: &Issuer) -> Result<Keys, Error> {
        if said.jwks.keys.len() > KEYS_MAX {
            return Err(Error::Secrets);
        }
        let keys: Option<Vec<Key>> = said.jwks.keys.iter().map(key).collect();
        let keys = keys.filter(|keys| !keys.is_empty()).ok_or(Error::Secrets)?;
        Ok(Keys { issuer: said.issuer.clone(), keys })
    }
}

fn key(said: &Value) -> Option<Key> {
    let text = |name: &str| said.get(name).and_then(Value::as_str);
    let decode = |name: &str| URL_SAFE_NO_PAD.decode(text(name)?).ok();
    let kind = match (text("kty")?, text("crv")) {
        ("oct", _) => {
            let secret = decode("k").filter(|k| k.len() >= SECRET_BYTES_MIN)?;
            Kind::Hmac(hmac::Key::new(hmac::HMAC_SHA256, &secret))
        }
        ("EC", Some("P-256")) => {
            let (x, y) = (decode("x").filter(|x| x.len() == 32)?, decode("y").filter(|y| y.len() == 32)?);
            Kind::P256([&[4], &x[..], &y].concat())
        }
        ("RSA", _) => {
            let n: Vec<u8> = decode("n")?.into_iter().skip_while(|b| *b == 0).collect();
            Kind::Rsa { n: Some(n).filter(|n| (256..=1_024).contains(&n.len()))?, e: decode("e")? }
        }
        _ => return None,
    };
    let agrees = text("alg").is_none_or(|alg| alg == kind.algorithm());
    agrees.then(|| Key { kid: text("kid").map(str::to_owned), kind })
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    crit: Option<Value>,
}

/// What a token says. Present means: with its type.
#[derive(Deserialize)]
struct Written {
    iss: Option<String>,
    sub: Option<String>,
    #[serde(default, deserialize_with = "present")]
    aud: Option<Value>,
    #[serde(default, deserialize_with = "date")]
    exp: Option<i64>,
    #[serde(default, deserialize_with = "date")]
    nbf: Option<i64>,
    #[serde(default, deserialize_with = "present")]
    cdniv: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    cdnicrit: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    cdniip: Option<Value>,
    cdniuc: String,
}

fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

fn date<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    let real = number.as_f64().filter(|real| real.abs() < 1e15);
    match number.as_i64().or(real.map(|real| real.floor() as i64)) {
        Some(date) => Ok(Some(date)),
        None => Err(serde::de::Error::custom("not a date")),
    }
}

/// What is kept of it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) starts_s: Option<i64>,
    pub(crate) expires_s: i64,
    pub(crate) session: Option<String>,
    container: Container,
}

/// `cdniuc` (RFC 9246, 2.1.10).
#[derive(Debug)]
enum Container {
    Hash(Vec<u8>),
    Regex(Regex),
}

impl Container {
    fn read(text: &str) -> Result<Container, Refusal> {
        // A named digest (RFC 6920), of which SHA-256 is the one that everybody must have.
        if let Some(hash) = text.strip_prefix("hash:") {
            let hash = hash.strip_prefix("sha-256;").ok_or(Refusal::Unsupported)?;
            let hash = URL_SAFE_NO_PAD.decode(hash).map_err(|_| Refusal::Malformed)?;
            return if hash.len() == 32 { Ok(Container::Hash(hash)) } else { Err(Refusal::Malformed) };
        }
        // The whole address must be what it describes.
        let regex = text.strip_prefix("regex:").ok_or(Refusal::Unsupported)?;
        compile(regex)?;
        Regex::new(&format!("^(?:{regex})$")).map(Container::Regex).map_err(|_| Refusal::Unsupported)
    }

    fn holds(&self, uri: &str) -> bool {
        match self {
            Container::Hash(hash) => digest(&SHA256, uri.as_bytes()).as_ref() == hash,
            Container::Regex(regex) => regex.is_match(uri),
        }
    }
}

impl Said {
    /// Whether the container holds the address. Which scheme it has is not certain behind somebody else's TLS, so
    /// both are tried then.
    pub(crate) fn admits(&self, ask: &Ask<'_>) -> Result<(), Refusal> {
        let host = ask.host.ok_or(Refusal::Unsupported)?.to_ascii_lowercase();
        let schemes = ask.scheme.map_or(vec!["https", "http"], |scheme| vec![scheme]);
        let query = parameters(ask.query);
        let mark = if query.is_empty() { "" } else { "?" };
        let is = |scheme| self.container.holds(&format!("{scheme}://{host}{}{mark}{query}", ask.path));
        if schemes.into_iter().any(is) { Ok(()) } else { Err(Refusal::WrongPath) }
    }
}

/// A query without the token.
fn parameters(query: &str) -> String {
    let others = query.split('&').filter(|pair| pair.split('=').next() != Some(NAME));
    others.collect::<Vec<_>>().join("&")
}

/// What a token says, if its issuer is one of these and one of their keys signed it.
///
/// # Errors
///
/// Why it is not taken. The signature is checked before the claims are looked at.
pub(crate) fn open(token: &str, issuers: &[Keys], audience: Option<&str>) -> Result<Said, Refusal> {
    const BAD: Refusal = Refusal::Malformed;
    if token.len() > PASS_BYTES_MAX {
        return Err(BAD);
    }
    let (message, signature) = token.rsplit_once('.').ok_or(BAD)?;
    let (header, claims) = message.split_once('.').ok_or(BAD)?;
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| BAD);
    let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| BAD)?;
    let (claims, signature) = (decode(claims)?, decode(signature)?);
    if header.crit.is_some() {
        return Err(Refusal::Unsupported);
    }
    let known = issuers.iter().flat_map(|issuer| issuer.keys.iter().map(move |key| (issuer, key)));
    let mut fit = known.filter(|(_, key)| {
        key.kind.algorithm() == header.alg
            && header.kid.as_ref().is_none_or(|kid| key.kid.as_ref() == Some(kid))
    });
    // One signature each, whoever asks.
    let (Some((issuer, key)), None) = (fit.next(), fit.next()) else { return Err(Refusal::UnknownKey) };
    key.kind.check(message.as_bytes(), &signature).map_err(|_| Refusal::Forged)?;

    let said: Written = serde_json::from_slice(&claims).map_err(|_| BAD)?;
    if said.iss.as_deref() != Some(&*issuer.issuer) {
        return Err(Refusal::WrongIssuer);
    }
    let ours = |aud: &Value| match (aud, audience) {
        (Value::String(one), Some(ours)) => one == ours,
        (Value::Array(many), Some(ours)) => many.iter().any(|one| one == ours),
        _ => false,
    };
    if !said.aud.as_ref().is_none_or(ours) {
        return Err(Refusal::WrongIssuer);
    }
    let critical = |names: &Value| {
        names.as_str().is_some_and(|names| names.split(',').all(|name| CHECKED.contains(&name.trim())))
    };
    let understood = said.cdniv.as_ref().is_none_or(|version| *version == 1)
        && said.cdnicrit.as_ref().is_none_or(critical)
        && said.cdniip.is_none();
    if !understood {
        return Err(Refusal::Unsupported);
    }
    Ok(Said {
        starts_s: said.nbf,
        // A token without an end is good for as long as its key.
        expires_s: said.exp.unwrap_or(i64::MAX - LEEWAY_S),
        session: said.sub,
        container: Container::read(&said.cdniuc)?,
    })
}
