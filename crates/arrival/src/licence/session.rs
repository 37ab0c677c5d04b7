//! What a session's name says of its plan and its pass. It stands in every pass, signed, and stays through renewals; so whoever gives out
//! licences need not ask which plan it was, also after a restart and on another machine.

use drm::Class;

use crate::catalog::Plan;

/// Plans that have fewer lines than this have no keys of high definition: those are for pictures of so many lines and more.
const HD_LINES: u16 = 720;
/// What the names of their sessions end with.
const SD: &str = "-sd";
/// What stands in the names of sessions whose pass is good for a whole match.
const LONG: &str = "-long";

/// The name of a session of this plan, made of one that is unique. `renewed`: edges renew its pass.
pub(crate) fn named(unique: String, plan: &Plan, renewed: bool) -> String {
    let unique = if renewed { unique } else { unique + LONG };
    match plan.height_max {
        Some(height) if height < HD_LINES => unique + SD,
        _ => unique,
    }
}

/// Whether its pass is good for a whole match.
pub(crate) fn is_long(session: &str) -> bool {
    session.contains(LONG)
}

/// The best picture that a session's plan has.
pub(super) fn best(session: Option<&str>) -> Class {
    if session.is_some_and(|name| name.ends_with(SD)) { Class::Sd } else { Class::Hd }
}
