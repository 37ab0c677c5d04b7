//! What all of the interface shares: who asks, from where, with what.

mod cookies;
mod input;
mod origin;

pub(crate) use cookies::{Cookies, DEVICE, OIDC, REFRESH, SESSION, Set};
pub(crate) use input::{Asked, Body, Id, MaybeBody, Name, email};
pub(crate) use origin::{base, is_same_origin};
