//! Common Access Tokens, made with the keys by which edges know them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use listen::Watched;
use pass::cat::{Claims, Match, Network, Part, Renewal, SESSION_S_MAX};
use pass::{Ask, Gate, LEEWAY_S, Refusal};

use super::limits::{ENDED_MAX, KEYS_LOOK_EVERY, LONG_S_MAX, WINDOW_SHARE};
use super::{Admitted, Edges, Grant, Passes};
use crate::Error;
use crate::licence::is_long;

/// Makes them.
pub struct Cats {
    keys: Watched,
    gate: RwLock<Arc<Gate>>,
    life_s: i64,
    longest_s: i64,
    edges: Edges,
    ended: Mutex<Ended>,
}

/// Sessions that are over before their time.
#[derive(Default)]
struct Ended {
    /// Until when (UTC, seconds) their last pass would be good.
    all: HashMap<String, i64>,
    /// When it was looked which of them would have ended by themselves.
    swept_s: i64,
}

impl Ended {
    /// One more. When there are too many it is not kept; that is looked at once a second at most, since it looks at all of them.
    fn add(&mut self, session: &str, until_s: i64, now_s: i64) {
        if self.all.len() >= ENDED_MAX && self.swept_s != now_s {
            self.swept_s = now_s;
            self.all.retain(|_, until_s| *until_s > now_s);
        }
        if self.all.len() < ENDED_MAX {
            self.all.insert(session.to_owned(), until_s);
        } else {
            metrics::counter!("arrival_ended_lost_total").increment(1);
        }
    }
}

impl Cats {
    /// With that file of keys; each pass is good for `life_s` seconds before it is renewed, and none is after `longest_s`.
    /// Edges are told of sessions that are over.
    ///
    /// # Errors
    ///
    /// [`Error::PassKeys`]: the file cannot be used.
    pub fn open(file: PathBuf, life_s: u32, longest_s: u32, edges: Edges) -> Result<Cats, Error> {
        let keys = Watched::new(file);
        let gate = RwLock::new(Arc::new(read(&keys)?));
        Ok(Cats {
            keys,
            gate,
            life_s: life_s.into(),
            longest_s: longest_s.into(),
            edges,
            ended: Mutex::default(),
        })
    }

    /// Takes new keys as they come, for ever.
    pub async fn watch(&self) {
        let look = || match read(&self.keys) {
            Ok(gate) => {
                tracing::info!(keys = ?gate, "the keys of passes have changed");
                *self.gate.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(gate);
            }
            Err(error) => tracing::warn!("passes are made with the keys of before: {error}"),
        };
        self.keys.changes(KEYS_LOOK_EVERY, look).await;
    }

    fn gate(&self) -> Arc<Gate> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_over(&self, session: &str, now_s: i64) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.all.get(session).is_some_and(|until_s| *until_s > now_s)
    }
}

fn read(keys: &Watched) -> Result<Gate, Error> {
    let bad = |why: String| Error::PassKeys { file: keys.path().to_owned(), why };
    let text = keys.read().map_err(|error| bad(error.to_string()))?;
    Gate::from_json(&text).map_err(|error| bad(error.to_string()))
}

impl Passes for Cats {
    fn issue(&self, grant: &Grant) -> Result<String, String> {
        // An edge renews a pass until so long after its `nbf`: that is the end which it cannot move.
        let expires_s = match grant.renewed {
            true => grant.end_s.min(grant.begin_s.saturating_add(self.life_s)),
            false => grant.end_s,
        };
        let begin_s = match grant.renewed {
            true => grant.begin_s.min(grant.end_s.saturating_sub(SESSION_S_MAX)),
            false => grant.begin_s,
        };
        let claims = Claims {
            session: Some(grant.session.clone()),
            expires_s,
            not_before_s: Some(begin_s),
            issued_s: Some(grant.begin_s),
            uri: vec![(Part::Path, paths(&grant.path, grant.programmes.as_deref())?)],
            countries: grant.country.map(|code| vec![code.map(char::from).iter().collect()]),
            networks: grant.network.map(|asn| vec![Network::Asn(asn)]),
            renewal: grant
                .renewed
                .then(|| Renewal { add_s: self.life_s, window_s: (self.life_s / WINDOW_SHARE).max(1) }),
            ..Claims::default()
        };
        self.gate().sign(&claims, grant.begin_s).map_err(|error| error.to_string())
    }

    fn check(&self, token: &str, ask: &Ask<'_>) -> Result<Admitted, Refusal> {
        let opened = self.gate().open(token, ask)?;
        opened.admits(ask)?;
        let session = opened.session().map(str::to_owned);
        if session.as_ref().is_some_and(|session| self.is_over(session, ask.now_s)) {
            return Err(Refusal::Revoked);
        }
        Ok(Admitted { session, until_s: opened.expires_s(), renewed: opened.is_renewed() })
    }

    fn revoke(&self, session: &str) {
        let now_s = crate::now_ms() / 1_000;
        let longest_s = if is_long(session) { LONG_S_MAX } else { self.longest_s };
        let until_s = now_s + longest_s + LEEWAY_S;
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).add(session, until_s, now_s);
        self.edges.tell(session, until_s);
    }
}

/// What opens these programmes and nothing else. Names in URLs are of letters, digits and hyphens, so they stand for
/// themselves in an expression.
fn paths(run: &str, programmes: Option<&[String]>) -> Result<Match, String> {
    match programmes {
        None => Ok(Match::Prefix(run.to_owned())),
        Some([one]) => Ok(Match::Prefix(format!("{run}{one}/"))),
        Some(some) => {
            let expression = format!("^{run}(?:{})/", some.join("|"));
            Match::regex(&expression).map_err(|_| "its programmes are too many for one pass".to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
