//! Which passwords are taken (NIST SP 800-63B, 5.1.1.2): long enough, and not among the first that anybody tries. No
//! rules of composition.

use crate::identity::limits::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN};
use crate::identity::problem::Problem;

/// The most common ones of eight characters or more.
const COMMON: [&str; 24] = [
    "12345678",
    "123456789",
    "1234567890",
    "11111111",
    "00000000",
    "88888888",
    "87654321",
    "123123123",
    "password",
    "password1",
    "passw0rd",
    "p@ssw0rd",
    "qwertyui",
    "qwerty123",
    "qwertyuiop",
    "1q2w3e4r",
    "1qaz2wsx",
    "iloveyou",
    "sunshine",
    "princess",
    "football",
    "baseball",
    "welcome1",
    "trustno1",
];

/// Whether it may become the password of the account with that address.
pub(crate) fn check(password: &str, email: Option<&str>) -> Result<(), Problem> {
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(Problem::bad(format!("A password has at most {PASSWORD_BYTES_MAX} bytes.")));
    }
    if password.chars().count() < PASSWORD_CHARS_MIN {
        return Err(Problem::bad(format!("A password has at least {PASSWORD_CHARS_MIN} characters.")));
    }
    let lower = password.to_lowercase();
    let one_character = lower.chars().all(|c| lower.starts_with(c));
    let local = email.and_then(|email| email.split('@').next());
    let easy = one_character
        || COMMON.contains(&lower.as_str())
        || email == Some(lower.as_str())
        || local == Some(lower.as_str());
    if easy { Err(Problem::bad("This password would be the first that anybody tries.")) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn easy_ones_are_refused() {
        for bad in
            ["short", "Password", "aaaaaaaaaaaa", "mala.kumar", "mala.kumar@example.org", &"x".repeat(2_000)]
        {
            assert!(check(bad, Some("mala.kumar@example.org")).is_err(), "{bad}");
        }
        for good in ["correct horse", "கிரிக்கெட்டு", "        a"] {
            assert!(check(good, Some("mala.kumar@example.org")).is_ok(), "{good}");
        }
    }
}
