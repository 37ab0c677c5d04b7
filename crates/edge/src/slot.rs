//! All that is held under one key: the answers to it, one for each choice of the fields that it varies on.

use std::sync::Arc;

use http::HeaderMap;
use tokio::time::Instant;

use crate::head::Head;
use crate::limits::{LIVE_FOR, STALE_RETRY, VARIANTS_MAX};
use crate::object::{Object, Phase};
use crate::purge::Purge;
use crate::sim::{Broken, broken};
use crate::store::{Charge, Found};
use crate::target::Key;
use crate::vary::{Chosen, Spec};

/// What is held under one key.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) key: Key,
    /// When it was last asked for.
    pub(crate) used: Instant,
    /// Until when its answers are taken for such as may not be shared.
    pub(crate) alone_until: Option<Instant>,
    /// What its answers vary on, as far as is known.
    spec: Arc<Spec>,
    variants: Vec<Variant>,
    /// Pays for what is remembered of it while nothing is kept.
    memory: Option<Charge>,
}

/// The answers to one choice.
#[derive(Debug)]
struct Variant {
    chosen: Chosen,
    /// The last that came whole.
    kept: Option<Arc<Object>>,
    /// The next.
    filling: Option<Arc<Object>>,
    /// The last one failed; until then it is not tried again if there is one before it.
    retry_at: Option<Instant>,
}

impl Slot {
    /// One with nothing in it.
    pub(crate) fn new(key: Key, now: Instant) -> Slot {
        Slot { key, used: now, alone_until: None, spec: Arc::default(), variants: Vec::new(), memory: None }
    }

    /// What there is for someone whose request has these fields.
    pub(crate) fn find(&mut self, key: &Key, fields: &HeaderMap, now: Instant) -> Found {
        if self.alone_until.is_some_and(|until| now < until) {
            return Found::Alone;
        }
        let chosen = self.spec.chosen(fields);
        let at = match self.variants.iter().position(|v| v.chosen == chosen) {
            Some(at) => at,
            None => {
                if self.variants.len() >= VARIANTS_MAX {
                    // The oldest; its fill, if there is one, goes on for those who wait for it.
                    self.variants.remove(0);
                }
                self.variants.push(Variant { chosen, kept: None, filling: None, retry_at: None });
                self.variants.len() - 1
            }
        };
        self.variants[at].find(key, fields, now)
    }

    /// The one answer to all requests, if it does not vary.
    pub(crate) fn only(&self) -> Option<&Arc<Object>> {
        if !self.spec.is_empty() || self.alone_until.is_some() {
            return None;
        }
        self.variants.first()?.kept.as_ref()
    }

    /// An object's headers are known. If they say that it varies in another way than was known, the answers that
    /// were told apart in that way are of no more use.
    pub(crate) fn head_known(&mut self, object: &Arc<Object>, head: &Head) {
        // One that was taken out meanwhile says nothing about what has come instead.
        if self.filling(object).is_none() {
            return;
        }
        self.alone_until = None;
        let (spec, chosen) = &head.vary;
        if **spec == *self.spec {
            return;
        }
        self.spec = spec.clone();
        self.variants.clear();
        self.variants.push(Variant {
            chosen: chosen.clone(),
            kept: None,
            filling: Some(object.clone()),
            retry_at: None,
        });
    }

    /// An object is whole: it replaces the one before it, which is given back.
    pub(crate) fn keep(&mut self, object: &Arc<Object>) -> Option<Arc<Object>> {
        let variant = self.filling(object)?;
        variant.filling = None;
        variant.retry_at = None;
        let replaced = variant.kept.replace(object.clone());
        self.memory = None;
        replaced
    }

    /// Takes an object out that did not come whole or is not to be kept. `memory`: what is known of its key by now
    /// is worth that.
    pub(crate) fn forget(&mut self, object: &Arc<Object>, memory: Option<Charge>) -> Option<Arc<Object>> {
        self.memory = self.memory.take().or(memory);
        let forgotten = self.filling(object)?.filling.take();
        self.variants.retain(|v| v.kept.is_some() || v.filling.is_some());
        forgotten
    }

    /// Its answers are taken for such as may not be shared, until then.
    pub(crate) fn set_alone(&mut self, until: Instant, memory: Charge) {
        self.alone_until = Some(until);
        self.memory.get_or_insert(memory);
    }

    /// Whether there is nothing in it that anyone pays for.
    pub(crate) fn is_empty(&self) -> bool {
        self.variants.is_empty() && self.memory.is_none()
    }

    /// An object could not be fetched.
    pub(crate) fn failed(&mut self, object: &Arc<Object>, now: Instant) {
        if let Some(variant) = self.filling(object) {
            variant.filling = None;
            variant.retry_at = Some(now + STALE_RETRY);
        }
    }

    fn filling(&mut self, object: &Arc<Object>) -> Option<&mut Variant> {
        self.variants.iter_mut().find(|v| v.filling.as_ref().is_some_and(|held| Arc::ptr_eq(held, object)))
    }

    /// Takes back what is kept, or ends its fresh time; gives what was meant.
    pub(crate) fn purge(&mut self, purge: &Purge) -> Vec<Arc<Object>> {
        let path = self.key.path().to_owned();
        let mut meant = Vec::new();
        if !purge.soft && purge.what.names(&path, &HeaderMap::new()) {
            (self.alone_until, self.memory) = (None, None);
        }
        for variant in &mut self.variants {
            // Those who wait for what is on its way keep it; who asks from now on is not given what was asked for
            // before. Without a head it cannot be told which groups it belongs to: then it counts as meant.
            let meant_too = |coming: &Arc<Object>| match coming.head() {
                Some(head) => purge.what.names(&path, &head.headers),
                None => purge.what.may_name(&path),
            };
            if !purge.soft && !broken(Broken::JoinsPurged) {
                variant.filling.take_if(|coming| meant_too(coming));
            }
            let Some((head, _)) = variant.kept.as_ref().and_then(|kept| kept.whole()) else { continue };
            if !purge.what.names(&path, &head.headers) {
                continue;
            }
            if purge.soft {
                meant.extend(variant.kept.clone().inspect(|kept| kept.soften()));
            } else {
                meant.extend(variant.kept.take());
            }
        }
        self.variants.retain(|v| v.kept.is_some() || v.filling.is_some());
        meant
    }

    /// Whether something is on its way.
    pub(crate) fn is_filling(&self, now: Instant) -> bool {
        let under_way = |o: &Arc<Object>| matches!(o.phase(now), Phase::Asked | Phase::Arriving);
        self.variants.iter().any(|v| v.filling.as_ref().is_some_and(under_way))
    }

    /// Whether nobody has asked for it of late.
    pub(crate) fn is_quiet(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) > LIVE_FOR
    }
}

impl Variant {
    fn find(&mut self, key: &Key, fields: &HeaderMap, now: Instant) -> Found {
        let kept = self.kept.as_ref().map(|kept| (kept, kept.phase(now)));
        if let Some((kept, Phase::Fresh)) = kept {
            return Found::Hit(kept.clone());
        }
        let filling = self.filling.as_ref().map(|filling| (filling, filling.phase(now)));
        match (kept, filling) {
            (_, Some((filling, Phase::Arriving))) => return Found::Filling(filling.clone()),
            (Some((kept, Phase::Stale)), Some((_, Phase::Asked))) => return Found::Stale(kept.clone(), None),
            (_, Some((filling, Phase::Asked))) if !broken(Broken::Stampedes) => {
                return Found::Filling(filling.clone());
            }
            _ => {}
        }
        let retry = self.retry_at.is_none_or(|at| now >= at);
        if let Some((kept, _)) = kept
            && !retry
            && kept.serves_errors(now)
        {
            return Found::Stale(kept.clone(), None);
        }
        let before = kept.filter(|(_, phase)| *phase != Phase::Over).map(|(kept, _)| kept.clone());
        let stale = kept.filter(|(_, phase)| *phase == Phase::Stale).map(|(kept, _)| kept.clone());
        let object = Arc::new(Object::new(key.clone(), fields.clone(), before, now));
        self.filling = Some(object.clone());
        match stale {
            Some(stale) => Found::Stale(stale, Some(object)),
            None => Found::New(object),
        }
    }
}
