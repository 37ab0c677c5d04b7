//! SPEKE v2: a packager asks a key server with a CPIX document (DASH-IF CPIX 2.3) that names keys, and is answered with
//! the same document with the keys in it.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use timeline::protection::{Kid, Scheme};

use crate::pssh::{FAIRPLAY, PLAYREADY, WIDEVINE, uuid};
use crate::{Class, Error, Key, Scope, Secret};

/// The header that says which SPEKE is spoken.
pub const VERSION_HEADER: (&str, &str) = ("x-speke-version", "2.0");
/// Bytes of an answer, at most: what servers add for a few systems and keys is some tens of kilobytes.
pub const RESPONSE_MAX: usize = 256 << 10;
/// Keys that an answer may have: several times what is ever asked for.
pub const KEYS_MAX: usize = 64;

/// The document that asks for the keys of all classes in one period.
pub fn request(scope: &Scope, scheme: Scheme, period: u64) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let scheme = match scheme {
        Scheme::Cbcs => "cbcs",
        Scheme::Cenc => "cenc",
    };
    let keys: Vec<(Class, String)> =
        Class::ALL.into_iter().map(|class| (class, uuid(scope.kid(class, period).0))).collect();
    // Names are of letters, digits and hyphens, so nothing is to be escaped.
    let _ = write!(
        out,
        "<cpix:CPIX contentId=\"{}-{}\" version=\"2.3\" xmlns:cpix=\"urn:dashif:org:cpix\" \
         xmlns:pskc=\"urn:ietf:params:xml:ns:keyprov:pskc\"><cpix:ContentKeyList>",
        scope.r#match, scope.programme
    );
    for (_, kid) in &keys {
        let _ = write!(out, "<cpix:ContentKey kid=\"{kid}\" commonEncryptionScheme=\"{scheme}\"/>");
    }
    out.push_str("</cpix:ContentKeyList><cpix:DRMSystemList>");
    for (_, kid) in &keys {
        for system in [WIDEVINE, PLAYREADY, FAIRPLAY] {
            let _ = write!(out, "<cpix:DRMSystem kid=\"{kid}\" systemId=\"{}\"/>", uuid(system));
        }
    }
    let _ = write!(
        out,
        "</cpix:DRMSystemList><cpix:ContentKeyPeriodList><cpix:ContentKeyPeriod id=\"period-{period}\" \
         index=\"{period}\"/></cpix:ContentKeyPeriodList><cpix:ContentKeyUsageRuleList>"
    );
    for (class, kid) in &keys {
        let filter = match class {
            Class::Audio => "<cpix:AudioFilter/>",
            Class::Sd => "<cpix:VideoFilter maxPixels=\"589824\"/>",
            Class::Hd => "<cpix:VideoFilter minPixels=\"589825\"/>",
        };
        let _ = write!(
            out,
            "<cpix:ContentKeyUsageRule kid=\"{kid}\" intendedTrackType=\"{class}\"><cpix:KeyPeriodFilter \
             periodId=\"period-{period}\"/>{filter}</cpix:ContentKeyUsageRule>"
        );
    }
    out.push_str("</cpix:ContentKeyUsageRuleList></cpix:CPIX>");
    out
}

/// The keys of an answer.
///
/// # Errors
/// When it is no CPIX document, has no keys in the clear, or too many.
pub fn response(bytes: &[u8]) -> Result<Vec<Key>, Error> {
    let bad = |why: &str| Error::Cpix(why.to_owned());
    if bytes.len() > RESPONSE_MAX {
        return Err(bad("it is too long"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
    let mut reader = Reader::from_str(text);
    let mut keys: Vec<Key> = Vec::new();
    let (mut open, mut value) = (None, None::<String>);
    loop {
        match reader.read_event().map_err(|_| bad("it is not XML"))? {
            Event::Eof => break,
            Event::Start(tag) => match tag.local_name().as_ref() {
                "ContentKey" => open = Some(named(&tag)?),
                "PlainValue" if open.is_some() => value = Some(String::new()),
                "EncryptedValue" => return Err(bad("its keys are encrypted, which is not supported")),
                _ => {}
            },
            Event::Text(text) => {
                if let Some(value) = &mut value {
                    value.push_str(&text);
                }
            }
            Event::End(tag) => match tag.local_name().as_ref() {
                "PlainValue" => {
                    if let (Some((kid, iv)), Some(value)) = (open, value.take()) {
                        let secret =
                            sixteen(value.trim()).ok_or_else(|| bad("a key is not 16 bytes in base64"))?;
                        if keys.len() >= KEYS_MAX {
                            return Err(bad("it has too many keys"));
                        }
                        keys.push(Key { kid, secret: Secret(secret), iv });
                    }
                }
                "ContentKey" => open = None,
                _ => {}
            },
            _ => {}
        }
    }
    if keys.is_empty() { Err(bad("it has no key")) } else { Ok(keys) }
}

/// A key's name, and its IV: the name where the server gives none, which both pipelines choose alike.
fn named(tag: &BytesStart<'_>) -> Result<(Kid, [u8; 16]), Error> {
    let bad = |why: &str| Error::Cpix(why.to_owned());
    let (mut kid, mut iv) = (None, None);
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|_| bad("an attribute is not one"))?;
        let value = attribute.value.as_ref();
        match attribute.key.local_name().as_ref() {
            "kid" => kid = value.replace('-', "").to_ascii_lowercase().parse::<Kid>().ok(),
            "explicitIV" => {
                iv = Some(sixteen(value).ok_or_else(|| bad("explicitIV is not 16 bytes in base64"))?)
            }
            _ => {}
        }
    }
    let kid = kid.ok_or_else(|| bad("a ContentKey has no kid that is a UUID"))?;
    Ok((kid, iv.unwrap_or(kid.0)))
}

fn sixteen(base64: &str) -> Option<[u8; 16]> {
    STANDARD.decode(base64).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope { r#match: "demo".parse().unwrap(), programme: "main".parse().unwrap() }
    }

    /// The answer of a server that gives each key of a request the value of its name, turned round.
    fn answered(request: &str) -> String {
        let data = |kid: &str| {
            let bytes: Kid = kid.replace('-', "").parse().unwrap();
            let mut key = bytes.0;
            key.reverse();
            let key = STANDARD.encode(key);
            format!(
                "<cpix:Data><pskc:Secret>\n <pskc:PlainValue>\n{key} </pskc:PlainValue></pskc:Secret></cpix:Data>"
            )
        };
        let mut out = String::new();
        for piece in request.split_inclusive("/>") {
            match piece.split_once("<cpix:ContentKey kid=\"").and_then(|(_, rest)| rest.split_once('"')) {
                Some((kid, _)) => {
                    out += &format!("{}>{}</cpix:ContentKey>", piece.trim_end_matches("/>"), data(kid));
                }
                None => out += piece,
            }
        }
        out
    }

    #[test]
    fn what_is_asked_for_is_understood_when_answered() {
        let keys = response(answered(&request(&scope(), Scheme::Cbcs, 12)).as_bytes()).unwrap();
        assert_eq!(keys.len(), 3);
        for (key, class) in keys.iter().zip(Class::ALL) {
            assert_eq!(key.kid, scope().kid(class, 12));
            let mut turned = key.kid.0;
            turned.reverse();
            assert_eq!((key.secret.0, key.iv), (turned, key.kid.0));
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_and_says_no_key() {
        let good = answered(&request(&scope(), Scheme::Cenc, 0));
        let secret = good.split("PlainValue>").nth(1).unwrap().split('<').next().unwrap().trim().to_owned();
        for (from, to) in [
            ("</cpix:ContentKey>", ""),
            (secret.as_str(), "c2hvcnQ="),
            (secret.as_str(), "?"),
            ("PlainValue", "EncryptedValue"),
            ("kid=\"", "kid=\"x"),
            (" commonEncryptionScheme", " explicitIV=\"AA==\" commonEncryptionScheme"),
        ] {
            let error = response(good.replace(from, to).as_bytes()).unwrap_err().to_string();
            assert!(!error.contains(&secret), "{error}");
        }
        assert!(response(b"").is_err() && response(&[0xff; 40]).is_err());
        assert!(response(request(&scope(), Scheme::Cbcs, 1).as_bytes()).is_err(), "an echo has no keys");
        assert!(response(&vec![b' '; RESPONSE_MAX + 1]).is_err());
    }
}
