//! Passwords: argon2id at OWASP's parameters, on threads of its own, few and with a short queue.

mod phc;
mod pool;
mod rules;

pub(crate) use pool::{Busy, Pool};
pub(crate) use rules::check;
