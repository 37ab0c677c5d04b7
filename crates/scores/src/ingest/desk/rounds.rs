//! What the desk looks after between statements: gaps, waits, delays, and how everything is.

use std::collections::BTreeSet;

use super::{Desk, Tell};
use crate::catalog::Status as Life;
use crate::ingest::letters::DeadLetter;
use crate::ingest::limits::KEPT_MS;
use crate::ingest::meters;
use crate::ingest::spine::Ending;
use crate::ingest::status::{MatchStatus, ProviderStatus, Seen, Spoken, Status};

impl Desk {
    pub(super) async fn tick(&mut self) -> Result<(), Ending> {
        let now_ms = self.clock.now_ms();
        let (mut events, mut letters) = (Vec::new(), Vec::new());
        self.core.tick(now_ms, &mut events);
        let providers: Vec<String> = self.seen.keys().cloned().collect();
        for provider in &providers {
            for (first, last) in self.core.give_up(provider, now_ms, &mut events) {
                tracing::warn!(provider, first, last, "these numbers never came, however often asked for");
                meters::given_up(provider, last - first + 1);
                let why = format!("numbers {first} to {last} never came, however often asked for");
                let letter = DeadLetter {
                    provider: provider.clone(),
                    seq: Some(first),
                    why,
                    said: String::new(),
                    at_ms: now_ms,
                };
                letters.extend(self.letters.write(&letter));
            }
            let connections = self.connections.get(provider).map_or(&[][..], |known| known);
            if let Some(connection) = connections.last() {
                let ranges = self.core.ask(provider, now_ms);
                if !ranges.is_empty() {
                    // One that does not fit is asked again.
                    let _ = connection.tell.try_send(Tell::Resend(ranges));
                }
            }
            let (gaps, waiting) = self.core.gaps(provider);
            meters::provider(provider, connections.len(), gaps, waiting);
        }
        let catalog = self.catalog.borrow().clone();
        for entry in catalog.matches() {
            let late = self.core.delay(&entry.id).is_some_and(|delay| delay.is_late(now_ms));
            meters::delayed(&entry.id, late && entry.status == Life::Live);
        }
        let live = |id: &str| catalog.get(id).is_some_and(|entry| entry.status == Life::Live);
        let old: Vec<String> =
            self.core.silent_since(now_ms - KEPT_MS).filter(|id| !live(id)).map(str::to_owned).collect();
        for id in old {
            self.core.close(&id);
            self.spine.forget(&id);
        }
        let long_ago = |seen: &Seen| seen.last_ms.is_none_or(|last| last < now_ms - KEPT_MS);
        self.spoken.retain(|(_, id), seen| live(id) || !long_ago(seen));
        if !events.is_empty() || !letters.is_empty() {
            self.spine.append(&mut self.core, &catalog, &events, letters).await?;
        }
        for provider in &providers {
            self.acknowledge(provider);
        }
        Ok(())
    }

    pub(super) fn status(&mut self) -> Status {
        let now_ms = self.clock.now_ms();
        let catalog = self.catalog.borrow().clone();
        let mut ids: BTreeSet<&String> = self.seen.keys().collect();
        ids.extend(self.connections.keys());
        let providers = ids.into_iter().map(|id| {
            let (gaps, waiting) = self.core.gaps(id);
            let seen = self.seen.get(id).copied().unwrap_or_default();
            let spoken = self.spoken.range((id.clone(), String::new())..).take_while(|((of, _), _)| of == id);
            let matches = spoken.map(|((_, match_id), seen)| Spoken {
                match_id: match_id.clone(),
                silent_ms: seen.last_ms.map(|last| now_ms - last),
                age_ms: seen.age_ms,
            });
            ProviderStatus {
                provider: id.clone(),
                matches: matches.collect(),
                connections: self.connections.get(id).map_or(0, Vec::len),
                contiguous: self.core.contiguous(id),
                newest: self.core.newest_seq(id),
                gaps,
                missing: self.core.missing(id),
                waiting,
                silent_ms: seen.last_ms.map(|last| now_ms - last),
                age_ms: seen.age_ms,
            }
        });
        let providers = providers.collect();
        let matches = catalog.matches().map(|entry| {
            let delay = self.core.delay(&entry.id);
            MatchStatus {
                match_id: entry.id.clone(),
                title: entry.title.clone(),
                status: entry.status,
                happenings: self.core.len(&entry.id),
                age_ms: delay.and_then(|delay| delay.age_ms(now_ms)),
                cadence_ms: entry.cadence_ms(),
                delayed: entry.status == Life::Live && delay.is_some_and(|delay| delay.is_late(now_ms)),
            }
        });
        Status { providers, matches: matches.collect() }
    }
}
