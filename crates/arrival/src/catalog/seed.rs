//! What a door begins with: the matches of its configuration, free for everybody everywhere. What stands already, stands;
//! but what a match of the configuration is called, and which sport it is, the configuration says.

use serde_json::{Value, json};

use super::{Keeper, Kind};
use crate::{Config, Error};

/// The languages of the generated ground.
const LANGUAGES: [(&str, &str); 3] = [("en", "English"), ("hi", "हिन्दी"), ("ta", "தமிழ்")];

/// Writes them.
pub(crate) async fn seed(keeper: &Keeper, config: &Config, now_ms: i64) -> Result<(), Error> {
    // Also that it is no longer encrypted.
    let set: &[&str] =
        if config.encrypted.is_some() { &["title", "sport", "encrypted"] } else { &["title", "sport"] };
    for (kind, document) in documents(config, now_ms) {
        let set = if kind == Kind::Match { set } else { &[] };
        keeper.seed(kind, document, set).await?;
    }
    keeper.refresh().await
}

fn documents(config: &Config, now_ms: i64) -> Vec<(Kind, Value)> {
    let mut all = Vec::new();
    let languages: Vec<_> = LANGUAGES.iter().map(|(id, _)| *id).collect();
    all.extend(LANGUAGES.map(|(id, name)| (Kind::Language, json!({ "id": id, "name": name }))));
    all.push((Kind::Plan, json!({ "id": "free", "name": "Free", "tier": 0, "ads": true, "angles": true })));
    let own = (&config.r#match, &config.title, config.sport.as_deref().unwrap_or_default(), true);
    let encrypted = |picture: bool| picture && config.encrypted == Some(true);
    let scored = config.scored.iter().map(|one| (&one.r#match, &one.title, one.sport.as_str(), false));
    for (id, title, sport, picture) in std::iter::once(own).chain(scored) {
        let spoken = if picture { &languages[..] } else { &[] };
        all.push((
            Kind::Match,
            json!({
                "id": id, "title": title, "sport": sport, "status": "live", "start_ms": now_ms, "languages": spoken,
                "encrypted": encrypted(picture),
            }),
        ));
        if picture {
            let name = &config.programme;
            let document = json!({ "id": document_id(id.as_str(), name.as_str()), "match": id, "programme": name, "title": title });
            all.push((Kind::Programme, document));
        }
        let free = document_id("free", id.as_str());
        all.push((
            Kind::Product,
            json!({ "id": free, "name": title, "plan": "free", "free": true, "matches": [id] }),
        ));
        all.push((Kind::Right, json!({ "id": document_id("everywhere", id.as_str()), "matches": [id] })));
    }
    all
}

/// Two names of 64 characters may be longer together than a document's id.
fn document_id(first: &str, second: &str) -> String {
    format!("{first}-{second}").chars().take(64).collect()
}
