//! What a token says.

use serde::{Deserialize, Deserializer, Serialize};

use crate::Error;

/// The longest subject, issuer, session, device or profile, in bytes.
const SUBJECT_BYTES_MAX: usize = 256;

/// Matches that a token may be limited to, and the longest id of one in bytes.
const MATCHES_MAX: usize = 64;
const MATCH_BYTES_MAX: usize = 64;

/// Who somebody is, and until when that is so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The viewer, as the issuer names them.
    pub sub: String,
    /// UTC, in seconds: not taken from then on.
    #[serde(deserialize_with = "numeric_date")]
    pub exp: i64,
    /// Where the viewer is, ISO 3166-1 alpha-2 in capitals, if the issuer knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The matches that it is limited to; none: it says nothing of matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<String>>,
    /// Who issued it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// The session at the issuer that it was given for; none: a device without an account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// The device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev: Option<String>,
    /// The profile that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prf: Option<String>,
    /// The issuer could not look up who this is: good for watching on this device, and for nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prv: bool,
}

impl Claims {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let country = |c: &str| c.len() == 2 && c.bytes().all(|b| b.is_ascii_uppercase());
        let matches =
            |list: &[String]| list.len() <= MATCHES_MAX && list.iter().all(|m| m.len() <= MATCH_BYTES_MAX);
        let names = [&self.iss, &self.sid, &self.dev, &self.prf];
        let good = self.sub.len() <= SUBJECT_BYTES_MAX
            && names.into_iter().flatten().all(|name| name.len() <= SUBJECT_BYTES_MAX)
            && self.country.as_deref().is_none_or(country)
            && self.matches.as_deref().is_none_or(matches);
        if good { Ok(()) } else { Err(Error::Claims) }
    }
}

/// All claims that are looked at. Not flattened from [`Claims`], so that one that stands there twice is refused.
#[derive(Deserialize)]
pub(crate) struct Said {
    sub: String,
    #[serde(deserialize_with = "numeric_date")]
    exp: i64,
    country: Option<String>,
    matches: Option<Vec<String>>,
    iss: Option<String>,
    sid: Option<String>,
    dev: Option<String>,
    prf: Option<String>,
    #[serde(default)]
    prv: bool,
    #[serde(default, deserialize_with = "numeric_date_if_any")]
    pub(crate) nbf: Option<i64>,
}

impl Said {
    pub(crate) fn claims(self) -> Claims {
        let Said { sub, exp, country, matches, iss, sid, dev, prf, prv, nbf: _ } = self;
        Claims { sub, exp, country, matches, iss, sid, dev, prf, prv }
    }
}

/// A NumericDate may have a fraction (RFC 7519, 2), which is dropped: the token ends up to a second sooner.
fn numeric_date<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => Ok(whole),
        (None, Some(real)) if real.abs() < 1e15 => Ok(real.floor() as i64),
        _ => Err(serde::de::Error::custom("not a date")),
    }
}

/// Present means: with its type. `null` is none of a date.
fn numeric_date_if_any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    numeric_date(from).map(Some)
}
