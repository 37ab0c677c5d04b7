//! What a catalog must be, and one sentence for what it is not.

use super::limits::{CORNERS_MAX, DEVICES_MAX, DOCUMENTS_MAX, LIST_MAX, NAME_MAX};
use super::{Area, Blackout, Catalog, Kind, Match, Plan, Product, Programme, Right};
use crate::whereabouts::is_country;

/// What is wrong with a document, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(String);

impl Fault {
    pub(super) fn new(kind: Kind, id: &str, why: &str) -> Fault {
        Fault(format!("the {} '{}' is not taken: {why}", kind.name(), short(id)))
    }

    pub(super) fn file(why: &str) -> Fault {
        Fault(format!("the file is not taken: {why}"))
    }
}

/// What comes from outside and goes into a sentence.
pub(super) fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

type Check = Result<(), String>;

impl Catalog {
    /// Every document by itself, and that what it names is there. What was wrong already is nobody's fault now: one old
    /// mistake must not keep an operator from setting a blackout.
    ///
    /// # Errors
    ///
    /// One that is wrong and was not, if possible of a document that was changed.
    pub fn check(&self, before: &Catalog, changed: impl Fn(Kind, &str) -> bool) -> Result<(), Fault> {
        let mut new =
            self.faults().filter(|(_, _, fault)| !before.faults().any(|(_, _, known)| known == *fault));
        let Some(first) = new.next() else { return Ok(()) };
        let own = |(kind, id, _): &(Kind, &String, Fault)| changed(*kind, id);
        let (_, _, fault) = if own(&first) { first } else { new.find(own).unwrap_or(first) };
        Err(fault)
    }

    fn faults(&self) -> impl Iterator<Item = (Kind, &String, Fault)> {
        Kind::ALL.into_iter().flat_map(move |kind| {
            let ids = self.ids(kind);
            let many = ids.len();
            let crowd = ids.last().copied().filter(|_| many > DOCUMENTS_MAX).map(|id| {
                let why = format!("there would be {many} of its kind, more than {DOCUMENTS_MAX}");
                (kind, id, Fault::new(kind, id, &why))
            });
            let each = ids.into_iter().filter_map(move |id| {
                self.check_one(kind, id).err().map(|why| (kind, id, Fault::new(kind, id, &why)))
            });
            each.chain(crowd)
        })
    }

    fn ids(&self, kind: Kind) -> Vec<&String> {
        match kind {
            Kind::Language => self.languages.keys().collect(),
            Kind::Plan => self.plans.keys().collect(),
            Kind::Match => self.matches.keys().collect(),
            Kind::Programme => self.programmes.keys().collect(),
            Kind::Product => self.products.keys().collect(),
            Kind::Right => self.rights.keys().collect(),
            Kind::Blackout => self.blackouts.keys().collect(),
        }
    }

    fn check_one(&self, kind: Kind, id: &str) -> Check {
        match kind {
            // Tags have capitals: zh-Hant.
            Kind::Language => tag(id)?,
            _ => word("id", id)?,
        }
        match kind {
            Kind::Language => self.languages.get(id).map_or(Ok(()), |l| name("name", &l.name)),
            Kind::Plan => self.plans.get(id).map_or(Ok(()), |p| self.plan(p)),
            Kind::Match => self.matches.get(id).map_or(Ok(()), |m| self.r#match(m)),
            Kind::Programme => self.programmes.get(id).map_or(Ok(()), |p| self.programme(p)),
            Kind::Product => self.products.get(id).map_or(Ok(()), |p| self.product(p)),
            Kind::Right => self.rights.get(id).map_or(Ok(()), |r| self.right(r)),
            Kind::Blackout => self.blackouts.get(id).map_or(Ok(()), |b| self.blackout(b)),
        }
    }

    fn plan(&self, p: &Plan) -> Check {
        name("name", &p.name)?;
        if p.devices.is_some_and(|n| !(1..=DEVICES_MAX).contains(&n)) {
            return Err(format!("devices must be from 1 to {DEVICES_MAX}, or left out for no limit"));
        }
        if p.height_max.is_some_and(|h| h < 144) {
            return Err("height_max must be 144 lines or more, or left out for all".into());
        }
        p.languages
            .as_ref()
            .map_or(Ok(()), |l| self.named("languages", "language", l, |c, id| c.languages.contains_key(id)))
    }

    fn r#match(&self, m: &Match) -> Check {
        name("title", &m.title)?;
        list("titles", m.titles.len())?;
        for (language, title) in &m.titles {
            tag(language)?;
            name("titles", title)?;
        }
        if !["", "cricket", "football"].contains(&m.sport.as_str()) {
            return Err(format!(
                "sport is '{}'; write cricket, football, or nothing if it is not scored",
                short(&m.sport)
            ));
        }
        m.teams.iter().try_for_each(|team| name("teams", team))?;
        if m.league.len() > NAME_MAX || m.home_region.as_ref().is_some_and(|r| r.len() > NAME_MAX) {
            return Err(format!("league and home_region have at most {NAME_MAX} characters"));
        }
        if m.cadence_s.is_some_and(|s| !(1.0..=3_600.0).contains(&s)) {
            return Err("cadence_s must be from 1 to 3600 seconds".into());
        }
        instant("start_ms", m.start_ms)?;
        self.named("languages", "language", &m.languages, |c, id| c.languages.contains_key(id))
    }

    fn programme(&self, p: &Programme) -> Check {
        name("title", &p.title)?;
        word("programme", &p.programme)?;
        self.matches(std::slice::from_ref(&p.r#match))?;
        let twin = self
            .programmes
            .values()
            .find(|o| o.id != p.id && o.r#match == p.r#match && o.programme == p.programme);
        twin.map_or(Ok(()), |o| {
            Err(format!("the programme '{}' of that match has the same name in URLs", o.id))
        })
    }

    fn product(&self, p: &Product) -> Check {
        name("name", &p.name)?;
        if !self.plans.contains_key(&p.plan) {
            return Err(format!("there is no plan '{}'", short(&p.plan)));
        }
        if let Some(leagues) = &p.leagues {
            list("leagues", leagues.len())?;
            leagues.iter().try_for_each(|league| name("leagues", league))?;
        }
        p.matches.as_ref().map_or(Ok(()), |m| self.matches(m))
    }

    fn right(&self, r: &Right) -> Check {
        self.matches(&r.matches)?;
        window(r.from_ms, r.until_ms)?;
        match &r.countries {
            None => Ok(()),
            Some(countries) => {
                list("countries", countries.len())?;
                countries.iter().try_for_each(|c| country(c))
            }
        }
    }

    fn blackout(&self, b: &Blackout) -> Check {
        name("name", &b.name)?;
        self.matches(&b.matches)?;
        window(b.from_ms, b.until_ms)?;
        list("areas", b.areas.len())?;
        if b.areas.is_empty() {
            return Err("areas is empty, so it would hold nowhere; delete it instead".into());
        }
        b.areas.iter().try_for_each(area)
    }

    fn matches(&self, ids: &[String]) -> Check {
        self.named("matches", "match", ids, |c, id| c.matches.contains_key(id))
    }

    fn named(&self, what: &str, of: &str, ids: &[String], has: fn(&Catalog, &str) -> bool) -> Check {
        list(what, ids.len())?;
        ids.iter()
            .find(|id| !has(self, id))
            .map_or(Ok(()), |id| Err(format!("there is no {of} '{}'", short(id))))
    }
}

fn area(a: &Area) -> Check {
    country(&a.country)?;
    for (what, len) in
        [("subdivisions", a.subdivisions.len()), ("cities", a.cities.len()), ("postcodes", a.postcodes.len())]
    {
        list(what, len)?;
    }
    let letters =
        |s: &str, max: usize| (1..=max).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_alphanumeric());
    if let Some(bad) = a.subdivisions.iter().find(|s| !letters(s, 3)) {
        return Err(format!(
            "'{}' is no subdivision; write the part after the dash, TN for IN-TN",
            short(bad)
        ));
    }
    let plain = |s: &str| s.bytes().filter(|b| !b" -".contains(b)).map(char::from).collect::<String>();
    if let Some(bad) = a.postcodes.iter().find(|s| !s.is_ascii() || !letters(&plain(s), 10)) {
        return Err(format!("'{}' is no beginning of a postcode", short(bad)));
    }
    polygon(&a.polygon)
}

fn polygon(corners: &[[f64; 2]]) -> Check {
    if corners.is_empty() {
        return Ok(());
    }
    if !(3..=CORNERS_MAX).contains(&corners.len()) {
        return Err(format!("a polygon has 3 to {CORNERS_MAX} corners, this one {}", corners.len()));
    }
    if let Some([lat, lon]) =
        corners.iter().find(|[lat, lon]| !(-90.0..=90.0).contains(lat) || !(-180.0..=180.0).contains(lon))
    {
        return Err(format!(
            "[{lat}, {lon}] is no corner; write latitude (-90 to 90), then longitude (-180 to 180)"
        ));
    }
    let (west, east) =
        corners.iter().fold((f64::MAX, f64::MIN), |(w, e), [_, lon]| (w.min(*lon), e.max(*lon)));
    if east - west > 180.0 {
        return Err(
            "the polygon is wider than 180 degrees; if it crosses the date line, split it there".into()
        );
    }
    Ok(())
}

fn country(code: &str) -> Check {
    if is_country(code) {
        Ok(())
    } else {
        Err(format!("'{}' is no country; write its ISO 3166-1 code in capitals, such as IN", short(code)))
    }
}

fn word(what: &str, text: &str) -> Check {
    let good: Result<timeline::name::Token, _> = text.parse();
    good.map(drop).map_err(|_| format!("{what} is '{}'; use 1 to 64 of a-z, 0-9 and -", short(text)))
}

/// BCP 47, by its form.
fn tag(text: &str) -> Check {
    let part = |p: &str| (1..=8).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_alphanumeric());
    if text.len() <= 35 && text.split('-').all(part) {
        Ok(())
    } else {
        Err(format!("'{}' is no language tag; write one such as en, hi or pt-BR", short(text)))
    }
}

fn name(what: &str, text: &str) -> Check {
    let len = text.chars().count();
    if text.trim().is_empty() || len > NAME_MAX || text.chars().any(char::is_control) {
        return Err(format!("{what} must be a line of 1 to {NAME_MAX} characters"));
    }
    Ok(())
}

fn list(what: &str, len: usize) -> Check {
    if len > LIST_MAX { Err(format!("{what} has {len} entries, more than {LIST_MAX}")) } else { Ok(()) }
}

fn window(from_ms: Option<i64>, until_ms: Option<i64>) -> Check {
    from_ms.map_or(Ok(()), |ms| instant("from_ms", ms))?;
    until_ms.map_or(Ok(()), |ms| instant("until_ms", ms))?;
    match from_ms.zip(until_ms) {
        Some((from, until)) if from >= until => Err("from_ms must be before until_ms".into()),
        _ => Ok(()),
    }
}

/// Between 2001 and 2286: seconds or microseconds that were taken for milliseconds are far outside.
fn instant(what: &str, ms: i64) -> Check {
    if (1_000_000_000_000..10_000_000_000_000).contains(&ms) {
        Ok(())
    } else {
        Err(format!("{what} is {ms}; write UTC in milliseconds, such as 1796000000000"))
    }
}
