//! What the score plane is told: its own catalog, as `match/{id}` in the registers. It knows countries and no windows;
//! socket edges refuse by them on their own.

use serde_json::{Value, json};
use store::Registers;

use super::keep::write;
use super::{Catalog, Match};
use crate::Error;

/// Tells it what is other than before.
pub(crate) async fn tell(
    registers: &dyn Registers,
    before: &Catalog,
    after: &Catalog,
    now_ms: i64,
) -> Result<(), Error> {
    for one in after.matches.values() {
        let now = entry(after, one, now_ms);
        if now != before.matches.get(&one.id).and_then(|one| entry(before, one, now_ms)) {
            write(registers, &key(&one.id), now.as_deref()).await?;
        }
    }
    for gone in before.matches.keys().filter(|id| !after.matches.contains_key(*id)) {
        write(registers, &key(gone), None).await?;
    }
    Ok(())
}

/// Puts into a new match what the score plane knew of it first, so that telling it later takes nothing away.
pub(crate) async fn learn(registers: &dyn Registers, one: &mut Value) -> Result<(), Error> {
    let id = one["id"].as_str().unwrap_or_default();
    let Some(register) = registers.get(&key(id)).await? else { return Ok(()) };
    let Ok(known) = serde_json::from_str::<Value>(&register.value) else { return Ok(()) };
    for name in ["teams", "cadence_s", "start_ms"] {
        if let Some(value) = known.get(name).filter(|value| !value.is_null()) {
            one[name] = value.clone();
        }
    }
    Ok(())
}

fn key(id: &str) -> String {
    format!("match/{id}")
}

/// None: it is not scored.
fn entry(catalog: &Catalog, one: &Match, now_ms: i64) -> Option<String> {
    if one.sport.is_empty() {
        return None;
    }
    let rights = catalog.rights.values().filter(|r| r.matches.contains(&one.id));
    let mut countries = Some(std::collections::BTreeSet::new());
    for right in rights.filter(|r| r.until_ms.is_none_or(|until| until > now_ms)) {
        match (&right.countries, &mut countries) {
            (Some(more), Some(all)) => all.extend(more),
            _ => countries = None,
        }
    }
    let entry = json!({
        "id": one.id, "title": one.title, "sport": one.sport, "teams": one.teams, "status": one.status,
        "countries": countries, "cadence_s": one.cadence_s, "start_ms": one.start_ms,
    });
    Some(entry.to_string())
}
