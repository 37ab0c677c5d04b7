//! What a Common Access Token says.

use super::network::Network;
use super::uri::{self, Uri};
use crate::cbor::{Item, Reader, Writer};
use crate::{Ask, Refusal};

/// Claims of a token: there are some 25 kinds.
const CLAIMS_MAX: usize = 32;

/// The longest `iss`, `sub`, `cti`, name of a method or a country, in bytes.
const WORD_BYTES_MAX: usize = 256;

/// Countries, networks or methods that one may list: there are 249 countries.
const LIST_MAX: usize = 256;

/// A renewal opens so many seconds before the end unless the token says when, as `@eyevinn/cat` has it.
const WINDOW_S: i64 = 60;

/// The longest such time; a token with more is renewed all along.
const WINDOW_S_MAX: i64 = 24 * 3_600;

/// The least instant that can be meant by a `deadline`; a smaller number is a time before the end. There is software
/// of both opinions (`@eyevinn/cat` the one, `common-access-token` the other).
const INSTANT_MIN: i64 = 1_000_000_000;

/// The claims that are understood. What is `None` or empty is not said, and does not restrict.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// `iss`.
    pub issuer: String,
    /// `sub`: the session.
    pub session: Option<String>,
    /// `aud`.
    pub audience: Vec<String>,
    /// `exp`: UTC in seconds; not taken from then on.
    pub expires_s: i64,
    /// `nbf`: not taken before; when its session began.
    pub not_before_s: Option<i64>,
    /// `iat`.
    pub issued_s: Option<i64>,
    /// `cti`: this one token.
    pub id: Option<Vec<u8>>,
    /// `catreplay` is 1: good for one request.
    pub once: bool,
    /// `catnip`.
    pub networks: Option<Vec<Network>>,
    /// `catu`.
    pub uri: Uri,
    /// `catm`.
    pub methods: Option<Vec<String>>,
    /// `catgeoiso3166`: countries (`IE`), or parts of them (`US-CA`).
    pub countries: Option<Vec<String>>,
    /// `catr`, if it is by a header (or left to whoever renews).
    pub renewal: Option<Renewal>,
}

/// How a token is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The renewed one is good for so many seconds.
    pub add_s: i64,
    /// It is renewed when there are no more seconds left than these.
    pub window_s: i64,
}

/// Keys of claims (IANA, CWT claims).
mod key {
    pub(super) const ISS: i64 = 1;
    pub(super) const SUB: i64 = 2;
    pub(super) const AUD: i64 = 3;
    pub(super) const EXP: i64 = 4;
    pub(super) const NBF: i64 = 5;
    pub(super) const IAT: i64 = 6;
    pub(super) const CTI: i64 = 7;
    pub(super) const REPLAY: i64 = 308;
    pub(super) const VERSION: i64 = 310;
    pub(super) const NETWORKS: i64 = 311;
    pub(super) const URI: i64 = 312;
    pub(super) const METHODS: i64 = 313;
    pub(super) const COUNTRIES: i64 = 316;
    pub(super) const IF_DATA: i64 = 320;
    pub(super) const IF: i64 = 322;
    pub(super) const RENEWAL: i64 = 323;
}

impl Claims {
    pub(crate) fn read(bytes: &[u8]) -> Result<Claims, Refusal> {
        let mut reader = Reader::new(bytes);
        let count = reader.map(CLAIMS_MAX)?;
        let (mut claims, mut seen, mut expires, mut deadline) = (Claims::default(), Vec::new(), None, None);
        for _ in 0..count {
            // Names of one's own are in nobody's registry; what they restrict is not known.
            let Item::Int(name) = reader.item()? else { return Err(Refusal::Unsupported) };
            if seen.contains(&name) {
                return Err(Refusal::Malformed);
            }
            seen.push(name);
            match name {
                key::ISS => claims.issuer = word(reader.text()?)?,
                key::SUB => claims.session = Some(word(reader.text()?)?),
                key::AUD => {
                    let mut ahead = reader;
                    claims.audience = match ahead.item()? {
                        Item::Text(one) => {
                            reader = ahead;
                            vec![word(one)?]
                        }
                        _ => words(&mut reader)?,
                    };
                    // It says for whom it is, and is for nobody.
                    if claims.audience.is_empty() {
                        return Err(Refusal::Malformed);
                    }
                }
                key::EXP => expires = Some(instant(&mut reader)?),
                key::NBF => claims.not_before_s = Some(instant(&mut reader)?),
                key::IAT => claims.issued_s = Some(instant(&mut reader)?),
                key::CTI => {
                    let id = reader.bytes()?;
                    claims.id = Some(id.to_vec()).filter(|id| id.len() <= WORD_BYTES_MAX);
                    claims.id.as_ref().ok_or(Refusal::Malformed)?;
                }
                key::REPLAY => match reader.int()? {
                    0 => {}
                    1 => claims.once = true,
                    _ => return Err(Refusal::Unsupported),
                },
                key::VERSION if reader.int()? != 1 => return Err(Refusal::Unsupported),
                key::VERSION => {}
                key::NETWORKS => {
                    let count = reader.array(LIST_MAX)?;
                    claims.networks =
                        Some((0..count).map(|_| Network::read(&mut reader)).collect::<Result<_, _>>()?);
                }
                key::URI => claims.uri = uri::read(&mut reader)?,
                key::METHODS => claims.methods = Some(words(&mut reader)?),
                key::COUNTRIES => claims.countries = Some(words(&mut reader)?),
                key::IF | key::IF_DATA => reader.skip()?,
                key::RENEWAL => (claims.renewal, deadline) = renewal(&mut reader)?,
                _ => return Err(Refusal::Unsupported),
            }
        }
        reader.end()?;
        claims.expires_s = expires.ok_or(Refusal::Malformed)?;
        if let (Some(renewal), Some(deadline)) = (&mut claims.renewal, deadline) {
            let instant = deadline >= INSTANT_MIN;
            let window = if instant { claims.expires_s.saturating_sub(deadline) } else { deadline };
            renewal.window_s = window.clamp(0, WINDOW_S_MAX);
        }
        // Used once: that needs a name to know it by.
        if claims.once && claims.id.is_none() { Err(Refusal::Malformed) } else { Ok(claims) }
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut body = Writer::default();
        let mut count = 0;
        let mut say = |name: i64, value: &dyn Fn(&mut Writer)| {
            count += 1;
            value(body.int(name));
        };
        say(key::ISS, &|w| {
            w.text(&self.issuer);
        });
        if let Some(session) = &self.session {
            say(key::SUB, &|w| {
                w.text(session);
            });
        }
        match &self.audience[..] {
            [] => {}
            [one] => say(key::AUD, &|w| {
                w.text(one);
            }),
            many => say(key::AUD, &|w| list(w, many)),
        }
        say(key::EXP, &|w| {
            w.int(self.expires_s);
        });
        for (name, at) in [(key::NBF, self.not_before_s), (key::IAT, self.issued_s)] {
            if let Some(at) = at {
                say(name, &|w| {
                    w.int(at);
                });
            }
        }
        if let Some(id) = &self.id {
            say(key::CTI, &|w| {
                w.bytes(id);
            });
        }
        if self.once {
            say(key::REPLAY, &|w| {
                w.int(1);
            });
        }
        say(key::VERSION, &|w| {
            w.int(1);
        });
        if let Some(networks) = &self.networks {
            say(key::NETWORKS, &|w| {
                w.array(networks.len());
                networks.iter().for_each(|network| network.write(w));
            });
        }
        if !self.uri.is_empty() {
            say(key::URI, &|w| uri::write(&self.uri, w));
        }
        if let Some(methods) = &self.methods {
            say(key::METHODS, &|w| list(w, methods));
        }
        if let Some(countries) = &self.countries {
            say(key::COUNTRIES, &|w| list(w, countries));
        }
        if let Some(Renewal { add_s, window_s }) = self.renewal {
            say(key::RENEWAL, &|w| {
                w.map(3).int(0).int(2).int(1).int(add_s).int(2).int(window_s);
            });
        }
        let mut whole = Writer::default();
        whole.map(count);
        whole.0.append(&mut body.0);
        whole.0
    }

    /// Whether the place and the address of a request are what this is for; not whether it is in time.
    pub(crate) fn admits(&self, ask: &Ask<'_>) -> Result<(), Refusal> {
        uri::admits(&self.uri, ask)?;
        if self.methods.as_ref().is_some_and(|methods| !methods.iter().any(|m| m == ask.method)) {
            return Err(Refusal::WrongMethod);
        }
        if let Some(countries) = &self.countries {
            let place = ask.place.and_then(|p| Some((p.country.as_deref()?, p.subdivision.as_deref())));
            let (country, part) = place.ok_or(Refusal::WrongCountry)?;
            let is = |code: &String| match code.split_once('-') {
                None => code.eq_ignore_ascii_case(country),
                Some((of, code)) => {
                    of.eq_ignore_ascii_case(country) && part.is_some_and(|p| p.eq_ignore_ascii_case(code))
                }
            };
            if !countries.iter().any(is) {
                return Err(Refusal::WrongCountry);
            }
        }
        if let Some(networks) = &self.networks {
            let asn = ask.place.and_then(|place| place.asn);
            if !networks.iter().any(|network| network.has(ask.client, asn)) {
                return Err(Refusal::WrongNetwork);
            }
        }
        Ok(())
    }
}

fn word(text: &str) -> Result<String, Refusal> {
    if text.len() <= WORD_BYTES_MAX { Ok(text.to_owned()) } else { Err(Refusal::Malformed) }
}

fn words(reader: &mut Reader<'_>) -> Result<Vec<String>, Refusal> {
    (0..reader.array(LIST_MAX)?).map(|_| word(reader.text()?)).collect()
}

fn list(writer: &mut Writer, words: &[String]) {
    writer.array(words.len());
    for word in words {
        writer.text(word);
    }
}

/// A NumericDate, which may have a fraction (RFC 8392, 2): it is dropped.
fn instant(reader: &mut Reader<'_>) -> Result<i64, Refusal> {
    match reader.item()? {
        Item::Int(instant) => Ok(instant),
        Item::Float(real) if real.abs() < 1e15 => Ok(real.floor() as i64),
        _ => Err(Refusal::Malformed),
    }
}

/// What `catr` says, and its deadline. Renewals by cookie or redirect are others' to make: such a token is taken as
/// one that is not renewed.
fn renewal(reader: &mut Reader<'_>) -> Result<(Option<Renewal>, Option<i64>), Refusal> {
    let (mut kind, mut add, mut deadline) = (None, None, None);
    let mut seen = Vec::new();
    for _ in 0..reader.map(CLAIMS_MAX)? {
        let name = reader.int()?;
        if seen.contains(&name) {
            return Err(Refusal::Malformed);
        }
        seen.push(name);
        match name {
            0 => kind = Some(reader.int()?),
            1 => add = Some(instant(reader)?),
            2 => deadline = Some(instant(reader)?),
            _ => reader.skip()?,
        }
    }
    let (Some(kind), Some(add_s)) = (kind, add.filter(|add| *add > 0)) else {
        return Err(Refusal::Malformed);
    };
    let renewal = matches!(kind, 0 | 2).then_some(Renewal { add_s, window_s: WINDOW_S });
    Ok((renewal, deadline))
}
