//! What scorers write.

use crate::cricket::{Delivery, Dismissal, Wicket};

/// `c Smith b Jones`. Without a bowler if it was at no ball.
pub(super) fn how_out(wicket: &Wicket, bowler: Option<&str>) -> String {
    let bowler = bowler.unwrap_or("?");
    let fielders = wicket.fielders.join("/");
    let by = |short: &str| match fielders.as_str() {
        "" => format!("{} b {bowler}", wicket.how.words()),
        fielders => format!("{short} {fielders} b {bowler}"),
    };
    match wicket.how {
        Dismissal::Bowled => format!("b {bowler}"),
        Dismissal::Caught if fielders == bowler => format!("c & b {bowler}"),
        Dismissal::Caught => by("c"),
        Dismissal::CaughtAndBowled => format!("c & b {bowler}"),
        Dismissal::Lbw => format!("lbw b {bowler}"),
        Dismissal::Stumped => by("st"),
        Dismissal::HitWicket => format!("hit wicket b {bowler}"),
        Dismissal::RunOut if !fielders.is_empty() => format!("run out ({fielders})"),
        how => how.words().to_owned(),
    }
}

/// `.`, `4`, `W`, `2wd`, `nb+4`, `1lb`, `1W`.
pub(super) fn ball_text(delivery: &Delivery) -> String {
    let extras = &delivery.extras;
    let many = |n: u32| if n > 1 { n.to_string() } else { String::new() };
    let mut parts = Vec::new();
    if extras.wides > 0 {
        parts.push(format!("{}wd", many(extras.wides)));
    }
    if extras.noballs > 0 {
        parts.push(format!("{}nb", many(extras.noballs)));
    }
    if delivery.runs > 0 {
        parts.push(delivery.runs.to_string());
    }
    for (runs, kind) in [(extras.byes, "b"), (extras.legbyes, "lb"), (extras.penalty, "pen")] {
        if runs > 0 {
            parts.push(format!("{runs}{kind}"));
        }
    }
    let said = parts.join("+");
    match delivery.wickets.iter().any(|wicket| wicket.how.is_wicket()) {
        true => format!("{said}W"),
        false if said.is_empty() => ".".to_owned(),
        false => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cricket::Extras;

    fn ball(runs: u32, extras: Extras, out: bool) -> String {
        let wicket = Wicket { how: Dismissal::RunOut, player_out: "B".into(), fielders: vec![] };
        ball_text(&Delivery {
            batter: "A".into(),
            non_striker: "B".into(),
            bowler: "C".into(),
            runs,
            all_run: false,
            extras,
            wickets: out.then_some(wicket).into_iter().collect(),
        })
    }

    #[test]
    fn balls_are_written_as_scorers_do() {
        let none = Extras::default();
        assert_eq!(ball(0, none, false), ".");
        assert_eq!(ball(4, none, false), "4");
        assert_eq!(ball(1, none, true), "1W");
        assert_eq!(ball(0, none, true), "W");
        assert_eq!(ball(0, Extras { wides: 5, ..none }, false), "5wd");
        assert_eq!(ball(6, Extras { noballs: 1, ..none }, false), "nb+6");
        assert_eq!(ball(0, Extras { noballs: 1, legbyes: 2, ..none }, false), "nb+2lb");
    }

    #[test]
    fn dismissals_are_written_as_scorers_do() {
        let said = |how, fielders: &[&str], bowler| {
            let fielders = fielders.iter().map(|name| (*name).to_owned()).collect();
            how_out(&Wicket { how, player_out: "A".into(), fielders }, bowler)
        };
        assert_eq!(said(Dismissal::Caught, &["Smith"], Some("Jones")), "c Smith b Jones");
        assert_eq!(said(Dismissal::Caught, &["Jones"], Some("Jones")), "c & b Jones");
        assert_eq!(said(Dismissal::Caught, &[], Some("Jones")), "caught b Jones");
        assert_eq!(said(Dismissal::RunOut, &["Smith", "Brown"], Some("Jones")), "run out (Smith/Brown)");
        assert_eq!(said(Dismissal::Stumped, &["Smith"], Some("Jones")), "st Smith b Jones");
        assert_eq!(said(Dismissal::TimedOut, &[], None), "timed out");
        assert_eq!(said(Dismissal::RetiredHurt, &[], None), "retired hurt");
    }
}
