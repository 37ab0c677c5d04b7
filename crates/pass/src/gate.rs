//! What an edge takes: every kind of pass, and the keys for each.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::edge_auth::{self, EdgeAuthKey};
use crate::keyring::{Keyring, Secret};
use crate::uri_signing::{self, Issuer};
use crate::{Ask, Error, LEEWAY_S, Refusal, cat};

/// Names in a list of issuers.
const ISSUERS_MAX: usize = 32;

/// Keys and names as they stand in a file, in JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Document {
    /// Who may issue Common Access Tokens (`iss`).
    pub issuers: Vec<String>,
    /// Who we are (`aud`), if tokens say for whom they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// Secrets of Common Access Tokens.
    pub keys: Vec<Secret>,
    /// Keys of Akamai EdgeAuth tokens.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edge_auth: Vec<EdgeAuthKey>,
    /// Issuers of tokens of RFC 9246.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uri_signing: Vec<Issuer>,
}

impl Document {
    /// With a new secret, for one issuer.
    ///
    /// # Errors
    ///
    /// [`Error::Signer`]: the system has no randomness.
    pub fn generate(issuer: &str, kid: &str) -> Result<Document, Error> {
        let keys = vec![Secret::generate(kid)?];
        Ok(Document { issuers: vec![issuer.to_owned()], keys, ..Document::default() })
    }
}

/// Opens passes, and signs and renews Common Access Tokens.
#[derive(Clone)]
pub struct Gate {
    issuers: Vec<String>,
    audience: Option<String>,
    keys: Keyring,
    edge_auth: Vec<edge_auth::Key>,
    uri_signing: Vec<uri_signing::Keys>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("issuers", &self.issuers)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

/// A pass whose signature holds.
#[derive(Debug)]
pub struct Pass {
    starts_s: Option<i64>,
    expires_s: i64,
    says: Says,
}

#[derive(Debug)]
enum Says {
    Cat(Box<cat::Claims>),
    EdgeAuth(edge_auth::Said),
    Uri(uri_signing::Said),
}

impl Gate {
    /// From a file's text.
    ///
    /// # Errors
    ///
    /// [`Error::Document`]: it is not what it should be; [`Error::Secrets`]: a key cannot be used.
    pub fn from_json(text: &str) -> Result<Gate, Error> {
        if text.len() > crate::KEY_SET_BYTES_MAX {
            return Err(bad("it is too large", 0));
        }
        // What is said of the text must not hold a piece of it: there are secrets in it.
        let document = serde_json::from_str(text).map_err(|e| {
            bad("it is not JSON with issuers and keys, or has a field that is not known", e.line())
        })?;
        Gate::new(&document)
    }

    /// From a document.
    ///
    /// # Errors
    ///
    /// As [`Gate::from_json`].
    pub fn new(document: &Document) -> Result<Gate, Error> {
        let many = |count: usize| count > ISSUERS_MAX;
        if many(document.issuers.len()) || many(document.edge_auth.len()) || many(document.uri_signing.len())
        {
            return Err(bad("it has too many entries", 0));
        }
        if document.issuers.is_empty() && !document.keys.is_empty() {
            return Err(bad("it has keys and no issuers", 0));
        }
        let gate = Gate {
            issuers: document.issuers.clone(),
            audience: document.audience.clone(),
            keys: Keyring::new(&document.keys)?,
            edge_auth: document.edge_auth.iter().map(edge_auth::Key::new).collect::<Result<_, _>>()?,
            uri_signing: document.uri_signing.iter().map(uri_signing::Keys::new).collect::<Result<_, _>>()?,
        };
        if document.keys.is_empty() && gate.edge_auth.is_empty() && gate.uri_signing.is_empty() {
            return Err(bad("it has no keys", 0));
        }
        Ok(gate)
    }

    /// A Common Access Token that says this, signed with the key of that moment (UTC, seconds). The issuer is the
    /// first of the document's if the claims name none.
    ///
    /// # Errors
    ///
    /// [`Error::Secrets`]: no key may sign at that moment; [`Error::Large`]: it says more than an edge would read.
    pub fn sign(&self, claims: &cat::Claims, now_s: i64) -> Result<String, Error> {
        let mut claims = claims.clone();
        if claims.issuer.is_empty() {
            claims.issuer = self.issuers.first().cloned().unwrap_or_default();
        }
        let token = cat::sign(&claims, &self.keys, now_s).ok_or(Error::Secrets)?;
        if token.len() > crate::PASS_BYTES_MAX { Err(Error::Large) } else { Ok(token) }
    }

    /// Opens a pass of any kind: its signature and its form. What it is for is asked with [`Pass::admits`], for each
    /// request; a pass that was opened may be kept until its end or until the keys change.
    ///
    /// # Errors
    ///
    /// Why it does not open.
    pub fn open(&self, token: &str, ask: &Ask<'_>) -> Result<Pass, Refusal> {
        let (starts_s, expires_s, says) = match Kind::of(token)? {
            Kind::EdgeAuth(token) => {
                let said = edge_auth::open(token, &self.edge_auth, ask)?;
                (said.starts_s, said.expires_s, Says::EdgeAuth(said))
            }
            Kind::Uri(token) => {
                let said = uri_signing::open(token, &self.uri_signing, self.audience.as_deref())?;
                (said.starts_s, said.expires_s, Says::Uri(said))
            }
            Kind::Cat => {
                let claims = cat::open(token, &self.keys, ask.now_s)?;
                let ours = |aud: &String| self.audience.as_ref() == Some(aud);
                let issued = self.issuers.contains(&claims.issuer);
                if !issued || !(claims.audience.is_empty() || claims.audience.iter().any(ours)) {
                    return Err(Refusal::WrongIssuer);
                }
                (claims.not_before_s, claims.expires_s, Says::Cat(Box::new(claims)))
            }
        };
        Ok(Pass { starts_s, expires_s, says })
    }

    /// The pass that takes this one's place, if it is one that is renewed and has come to its last seconds. `id` must
    /// be new and random. To be asked for passes only that were admitted at that moment (UTC, seconds).
    pub fn renewed(&self, pass: &Pass, id: [u8; 16], now_s: i64) -> Option<String> {
        match &pass.says {
            Says::Cat(claims) => cat::renewed(claims, id, &self.keys, now_s),
            _ => None,
        }
    }
}

fn bad(what: &'static str, line: usize) -> Error {
    Error::Document { what, line }
}

/// What kind a token is, by its form; a name that it goes by may stand before it.
enum Kind<'a> {
    Cat,
    EdgeAuth(&'a str),
    Uri(&'a str),
}

impl Kind<'_> {
    fn of(token: &str) -> Result<Kind<'_>, Refusal> {
        let named = |name: &str| token.strip_prefix(name)?.strip_prefix('=');
        if token.is_empty() {
            Err(Refusal::Missing)
        } else if let Some(token) = edge_auth::NAMES.into_iter().find_map(named) {
            Ok(Kind::EdgeAuth(token))
        } else if let Some(token) = named(uri_signing::NAME) {
            Ok(Kind::Uri(token))
        } else if token.contains("hmac=") {
            Ok(Kind::EdgeAuth(token))
        } else if token.contains('.') {
            Ok(Kind::Uri(token))
        } else {
            Ok(Kind::Cat)
        }
    }
}

impl Pass {
    /// Whether it is for this request, at this moment and place. Costs well under a microsecond unless it has
    /// expressions or hashes to compare with.
    ///
    /// # Errors
    ///
    /// Why it is not.
    pub fn admits(&self, ask: &Ask<'_>) -> Result<(), Refusal> {
        if ask.now_s >= self.expires_s.saturating_add(LEEWAY_S) {
            return Err(Refusal::Expired);
        }
        if self.starts_s.is_some_and(|from| ask.now_s < from.saturating_sub(LEEWAY_S)) {
            return Err(Refusal::NotYet);
        }
        match &self.says {
            Says::Cat(claims) => claims.admits(ask),
            Says::EdgeAuth(said) => said.admits(ask),
            Says::Uri(said) => said.admits(ask),
        }
    }

    /// The session that it belongs to, if it says so.
    pub fn session(&self) -> Option<&str> {
        match &self.says {
            Says::Cat(claims) => claims.session.as_deref(),
            Says::EdgeAuth(said) => said.session.as_deref(),
            Says::Uri(said) => said.session.as_deref(),
        }
    }

    /// UTC, in seconds: not taken from then on.
    pub fn expires_s(&self) -> i64 {
        self.expires_s
    }

    /// Whether it is bound to a country or an autonomous system, so that one must know where its client is.
    pub fn is_placed(&self) -> bool {
        let by_number = |n: &cat::Network| matches!(n, cat::Network::Asn(_));
        matches!(&self.says, Says::Cat(c)
            if c.countries.is_some() || c.networks.as_ref().is_some_and(|n| n.iter().any(by_number)))
    }

    /// Whether it is bound to a host or port, so that one must know which was asked.
    pub fn is_hosted(&self) -> bool {
        let by_host = |(part, _): &(cat::Part, cat::Match)| matches!(part, cat::Part::Host | cat::Part::Port);
        match &self.says {
            Says::Cat(claims) => claims.uri.iter().any(by_host),
            Says::EdgeAuth(_) => false,
            Says::Uri(_) => true,
        }
    }

    /// Its name, if it is good for one request only.
    pub fn once(&self) -> Option<&[u8]> {
        match &self.says {
            Says::Cat(claims) if claims.once => claims.id.as_deref(),
            _ => None,
        }
    }

    /// Whether it is one that is renewed at all.
    pub fn is_renewed(&self) -> bool {
        matches!(&self.says, Says::Cat(claims) if claims.renewal.is_some())
    }

    /// Whether it has come to the seconds in which it is renewed.
    pub fn is_due(&self, now_s: i64) -> bool {
        let Says::Cat(claims) = &self.says else { return false };
        claims.renewal.is_some_and(|renewal| self.expires_s.saturating_sub(now_s) <= renewal.window_s)
    }
}
