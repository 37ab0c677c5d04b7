//! One ball of a file, and what balls add up to.

use super::file;
use crate::cricket::{Delivery, Dismissal, Extras, Wicket};

/// What an innings has come to.
#[derive(Default)]
pub(super) struct Count {
    pub(super) runs: u32,
    pub(super) wickets: u32,
    pub(super) over: u32,
    pub(super) legal: u32,
}

impl Count {
    pub(super) fn add(&mut self, delivery: &Delivery) {
        self.runs += delivery.total();
        self.wickets += delivery.wickets.iter().filter(|wicket| wicket.how.is_wicket()).count() as u32;
        self.legal += u32::from(delivery.is_legal());
    }

    pub(super) fn balls(&self, per_over: u32) -> u32 {
        self.over * per_over + self.legal.min(per_over)
    }
}

/// A ball as we say it.
pub(super) fn delivery(said: &file::Delivery) -> Result<Delivery, String> {
    let extras = Extras {
        wides: said.extras.wides,
        noballs: said.extras.noballs,
        byes: said.extras.byes,
        legbyes: said.extras.legbyes,
        penalty: said.extras.penalty,
    };
    let parts = [extras.wides, extras.noballs, extras.byes, extras.legbyes, extras.penalty];
    let sum: u64 = parts.into_iter().map(u64::from).sum();
    let runs = &said.runs;
    if sum != u64::from(runs.extras) || u64::from(runs.batter) + sum != u64::from(runs.total) {
        return Err("its runs do not add up".to_owned());
    }
    let wickets = said.wickets.iter().map(wicket).collect::<Result<_, _>>()?;
    let delivery = Delivery {
        batter: said.batter.clone(),
        non_striker: said.non_striker.clone(),
        bowler: said.bowler.clone(),
        runs: runs.batter,
        all_run: runs.non_boundary,
        extras,
        wickets,
    };
    // Before it is counted: what cannot be might not even fit into a sum.
    delivery.check().map_err(|error| error.to_string())?;
    Ok(delivery)
}

fn wicket(said: &file::Wicket) -> Result<Wicket, String> {
    let how = Dismissal::ALL.into_iter().find(|how| how.words() == said.kind);
    let how = how.ok_or_else(|| format!("nobody is out `{}`", said.kind.escape_debug()))?;
    let name = |fielder: &file::Fielder| match (&fielder.name, fielder.substitute) {
        (Some(name), false) => name.clone(),
        (Some(name), true) => format!("sub ({name})"),
        (None, _) => "sub".to_owned(),
    };
    Ok(Wicket {
        how,
        player_out: said.player_out.clone(),
        fielders: said.fielders.iter().map(name).collect(),
    })
}
