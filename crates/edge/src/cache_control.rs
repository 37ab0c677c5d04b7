//! `Cache-Control` and its targeted form, taken apart. Pure.

use http::header::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, ListEntry, Parser};

/// The directives of one field, names in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directives(Vec<(String, String)>);

impl Directives {
    /// Reads a field as RFC 9111, 5.2 writes it. What is not well formed is skipped.
    pub(crate) fn of(headers: &HeaderMap, name: &HeaderName) -> Directives {
        let mut all = Vec::new();
        for value in headers.get_all(name).iter().filter_map(|v| v.to_str().ok()) {
            for directive in split(value) {
                let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
                let argument = argument.trim();
                let plain = argument.strip_prefix('"').and_then(|a| a.strip_suffix('"')).unwrap_or(argument);
                all.push((name.trim().to_ascii_lowercase(), plain.to_owned()));
            }
        }
        Directives(all)
    }

    /// Reads a field as RFC 9213, 2.1 writes it: a dictionary of structured fields. `None` if it is not there, empty,
    /// or not one: then it counts as if it were not there.
    pub(crate) fn targeted(headers: &HeaderMap, name: &HeaderName) -> Option<Directives> {
        let mut text = Vec::new();
        for value in headers.get_all(name) {
            if !text.is_empty() {
                text.push(b',');
            }
            text.extend_from_slice(value.as_bytes());
        }
        let dictionary = Parser::new(&text[..]).parse::<Dictionary>().ok().filter(|d| !d.is_empty())?;
        let mut all = Vec::new();
        for (name, entry) in &dictionary {
            let argument = match entry {
                ListEntry::Item(item) => match &item.bare_item {
                    BareItem::Boolean(true) => String::new(),
                    BareItem::Integer(n) => n.to_string(),
                    BareItem::String(_) | BareItem::Token(_) if name.as_str() == "private" => String::new(),
                    // A value of the wrong type: the whole directive is passed over.
                    _ => continue,
                },
                ListEntry::InnerList(_) => continue,
            };
            all.push((name.as_str().to_owned(), argument));
        }
        Some(Directives(all))
    }

    /// Whether a directive is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// The argument of a directive, empty if it has none. Of several the first (RFC 9111, 4.2.1).
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, argument)| &**argument)
    }
}

/// The members of a list, at commas outside quoted strings (RFC 9110, 5.6.4).
fn split(list: &str) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    list.split(move |c| {
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' => return !quoted,
            _ => {}
        }
        false
    })
}

/// Digits; one that is too large counts as the largest (RFC 9111, 1.2.2).
pub(crate) fn integer(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |n: u64, b| n.saturating_mul(10).saturating_add(u64::from(b - b'0'))))
}
