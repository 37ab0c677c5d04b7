//! A scorer's page: a one-time code that can be typed opens a token that is bound to one match.
//!
//! Both are kept hashed in [`store::Registers`], so that whoever reads the store can use neither, and a token outlives
//! a restart of ingest. Statements pushed with the token are of provider `scorer-{match}`. Beside each hash stands what
//! an operator may know of it ([`Scorer`]), under an id of its own, by which both can be taken back.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Outcome, Register, Registers};

use crate::Error;

/// Characters of a code: no I, L, O, 0 and 1, which look like others. 31^8 codes; at [`PER_MATCH`] attempts a minute
/// one in ten million is guessed in its whole life.
const ALPHABET: &[u8; 31] = b"ABCDEFGHJKMNPQRSTUVWXYZ23456789";
/// Short enough to be read out and typed.
const CODE_LEN: usize = 8;
/// How long a code can be used: it is given out at the ground, before the toss.
pub const CODE_LIVES: Duration = Duration::from_secs(2 * 3_600);
/// How long a token can be used: a day's play. The next day has a new code.
const TOKEN_LIVES: Duration = Duration::from_secs(16 * 3_600);
/// Attempts of one address in a minute: a person who mistypes.
const PER_ADDRESS: u32 = 5;
/// Attempts for one match in a minute, from wherever.
const PER_MATCH: u32 = 30;
/// What attempts are counted of at once; beyond it new ones are refused until the minute is over.
const COUNTED_MAX: usize = 10_000;
/// Attempts are counted for so long.
const MINUTE: Duration = Duration::from_secs(60);
/// Writes of one register that may lose against others' before it is given up: a scorer and an operator, not a crowd.
const WRITE_TRIES_MAX: u32 = 5;

/// What an operator may know of a code, or of the token that it has become.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scorer {
    /// Names it, and opens nothing.
    pub id: String,
    /// The match that it is of.
    pub r#match: String,
    /// Where it is in its life.
    pub state: State,
    /// When the code was made, or used: UTC, milliseconds.
    pub since_ms: i64,
    /// Until when it is good: UTC, milliseconds.
    pub until_ms: i64,
}

/// Where a code or token is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A code that was not used yet.
    Waiting,
    /// A code that was used; its token stands beside it.
    Used,
    /// A token.
    Open,
    /// Taken back.
    Revoked,
}

impl Scorer {
    fn new(id: String, match_id: &str, state: State, lives: Duration) -> Scorer {
        let since_ms = now_ms();
        let until_ms = since_ms.saturating_add(i64::try_from(lives.as_millis()).unwrap_or(i64::MAX));
        Scorer { id, r#match: match_id.to_owned(), state, since_ms, until_ms }
    }

    /// A register that holds something else stands for nobody.
    fn read(register: &Register) -> Option<Scorer> {
        serde_json::from_str(&register.value).ok()
    }

    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    fn left(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.until_ms.saturating_sub(now_ms())).unwrap_or_default())
    }
}

/// A code for a match, which works once.
///
/// # Errors
/// The store cannot be reached, or there is no source of randomness.
pub async fn issue(registers: &dyn Registers, match_id: &str, lives: Duration) -> Result<String, Error> {
    let mut code = String::with_capacity(CODE_LEN);
    while code.len() < CODE_LEN {
        for byte in random::<CODE_LEN>()? {
            // 248 = 8 · 31: each character is equally likely.
            if byte < 248 && code.len() < CODE_LEN {
                code.push(char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
            }
        }
    }
    // A code that stands already would be a coincidence of one in billions, and must not be opened again.
    let scorer = Scorer::new(hex(&random::<8>()?), match_id, State::Waiting, lives);
    match registers.put_if(&code_key(match_id, &code), &scorer.text(), None, Some(lives)).await? {
        Outcome::Won(_) => Ok(code),
        Outcome::Lost(_) => Err(Error::Contended("the code".into())),
    }
}

/// A token for the match, if the code is right; then the code is used up. None: it is not, whatever the reason.
///
/// # Errors
/// The store cannot be reached, or there is no source of randomness.
pub async fn open(registers: &dyn Registers, match_id: &str, code: &str) -> Result<Option<String>, Error> {
    let code = typed(code);
    if code.len() != CODE_LEN || match_id.len() > 64 {
        return Ok(None);
    }
    let key = code_key(match_id, &code);
    let Some(standing) = registers.get(&key).await? else { return Ok(None) };
    let Some(scorer) = Scorer::read(&standing).filter(|scorer| scorer.state == State::Waiting) else {
        return Ok(None);
    };
    let used = Scorer::new(scorer.id.clone(), match_id, State::Used, CODE_LIVES);
    let Outcome::Won(_) =
        registers.put_if(&key, &used.text(), Some(standing.version), Some(CODE_LIVES)).await?
    else {
        return Ok(None);
    };
    let token = hex(&random::<24>()?);
    let opened = Scorer::new(scorer.id, match_id, State::Open, TOKEN_LIVES);
    registers.put_if(&token_key(&token), &opened.text(), None, Some(TOKEN_LIVES)).await?;
    // Whoever revoked the code between the two writes found no token yet.
    let code = registers.get(&key).await?;
    if code.and_then(|code| Scorer::read(&code)).is_some_and(|code| code.state == State::Revoked) {
        take_back(registers, &token_key(&token)).await?;
        return Ok(None);
    }
    Ok(Some(token))
}

/// The match that a token is of.
///
/// # Errors
/// The store cannot be reached.
pub async fn token(registers: &dyn Registers, token: &str) -> Result<Option<String>, Error> {
    if token.is_empty() {
        return Ok(None);
    }
    let standing = registers.get(&token_key(token)).await?;
    let scorer = standing.and_then(|standing| Scorer::read(&standing));
    Ok(scorer.filter(|scorer| scorer.state == State::Open).map(|scorer| scorer.r#match))
}

/// All that stand: codes that wait, tokens, and what was taken back of either; the newest first.
///
/// # Errors
/// The store cannot be reached.
pub async fn list(registers: &dyn Registers) -> Result<Vec<Scorer>, Error> {
    let mut all: Vec<Scorer> = Vec::new();
    for prefix in [TOKENS, CODES] {
        for (_, register) in registers.list(prefix).await? {
            // A code that became a token is told of by the token.
            let told = |one: &Scorer| one.state == State::Used || all.iter().any(|other| other.id == one.id);
            all.extend(Scorer::read(&register).filter(|one| !told(one)));
        }
    }
    all.sort_by_key(|scorer| std::cmp::Reverse(scorer.since_ms));
    Ok(all)
}

/// Takes a code and its token back: neither opens anything from now on. False: nothing stands under this id.
///
/// # Errors
/// The store cannot be reached.
pub async fn revoke(registers: &dyn Registers, id: &str) -> Result<bool, Error> {
    let mut found = false;
    // The code first: see [`open`].
    for prefix in [CODES, TOKENS] {
        for (key, register) in registers.list(prefix).await? {
            if Scorer::read(&register).is_some_and(|scorer| scorer.id == id) {
                take_back(registers, &key).await?;
                found = true;
            }
        }
    }
    Ok(found)
}

async fn take_back(registers: &dyn Registers, key: &str) -> Result<(), Error> {
    for _ in 0..WRITE_TRIES_MAX {
        let Some(standing) = registers.get(key).await? else { return Ok(()) };
        let Some(scorer) = Scorer::read(&standing) else { return Ok(()) };
        let revoked = Scorer { state: State::Revoked, ..scorer };
        let (text, left) = (revoked.text(), revoked.left());
        if let Outcome::Won(_) = registers.put_if(key, &text, Some(standing.version), Some(left)).await? {
            return Ok(());
        }
    }
    Err(Error::Contended("a scorer's code".into()))
}

/// As people type: spaces, dashes and small letters are all right.
fn typed(code: &str) -> String {
    // Longer than any code is no code; what comes after need not be looked at.
    let typed = code.chars().filter(|c| !c.is_whitespace() && *c != '-').take(CODE_LEN + 1);
    typed.flat_map(char::to_uppercase).collect()
}

fn code_key(match_id: &str, code: &str) -> String {
    format!("{CODES}{}", hex(&Sha256::digest(format!("{match_id}:{code}"))))
}

fn token_key(token: &str) -> String {
    format!("{TOKENS}{}", hex(&Sha256::digest(token)))
}

const CODES: &str = "scorer-code/";
const TOKENS: &str = "scorer-token/";

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Read("randomness".into(), error.into()))?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Counts attempts to open codes.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    since: Option<Instant>,
    addresses: HashMap<IpAddr, u32>,
    matches: HashMap<String, u32>,
}

impl Attempts {
    /// Counts one. Err: it is too many; try again in so many seconds, not all at once.
    pub(crate) fn count(&self, from: IpAddr, match_id: &str) -> Result<(), u64> {
        self.count_at(from, match_id, Instant::now())
    }

    fn count_at(&self, from: IpAddr, match_id: &str, now: Instant) -> Result<(), u64> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let since = *counted.since.get_or_insert(now);
        let passed = now.saturating_duration_since(since);
        if passed >= MINUTE {
            *counted = Counted { since: Some(now), ..Counted::default() };
        }
        let wait_s = MINUTE.saturating_sub(passed).as_secs().max(1) + fastrand::u64(0..5);
        let full = counted.addresses.len() + counted.matches.len() >= COUNTED_MAX;
        let of_address = counted.addresses.get(&from).copied().unwrap_or(0);
        let of_match = counted.matches.get(match_id).copied().unwrap_or(0);
        let new = of_address == 0 || of_match == 0;
        if of_address >= PER_ADDRESS || of_match >= PER_MATCH || (full && new) {
            return Err(wait_s);
        }
        counted.addresses.insert(from, of_address + 1);
        counted.matches.insert(match_id.chars().take(64).collect(), of_match + 1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, store::Sqlite) {
        let dir = tempfile::tempdir().unwrap();
        let registers = store::Sqlite::open(&dir.path().join("store.db")).unwrap();
        (dir, registers)
    }

    #[tokio::test]
    async fn a_code_works_once_and_only_for_its_match() {
        let (_dir, registers) = store();
        let code = issue(&registers, "demo", CODE_LIVES).await.unwrap();
        assert!(code.len() == CODE_LEN && code.bytes().all(|b| ALPHABET.contains(&b)), "{code}");
        assert_eq!(open(&registers, "other", &code).await.unwrap(), None);
        assert_eq!(open(&registers, "demo", "AAAAAAAA").await.unwrap(), None);
        assert_eq!(open(&registers, "demo", "").await.unwrap(), None);
        let sloppy = format!(" {}-{} ", code[..4].to_lowercase(), &code[4..]);
        let token = open(&registers, "demo", &sloppy).await.unwrap().expect("the code is right");
        assert_eq!(open(&registers, "demo", &code).await.unwrap(), None, "once");
        assert_eq!(super::token(&registers, &token).await.unwrap().as_deref(), Some("demo"));
        assert_eq!(super::token(&registers, "").await.unwrap(), None);
        assert_eq!(super::token(&registers, &token[1..]).await.unwrap(), None);
        for (key, register) in registers.list("scorer").await.unwrap() {
            assert!(!key.contains(&code) && !key.contains(&token) && !register.value.contains(&token));
        }
    }

    #[tokio::test]
    async fn what_is_taken_back_opens_nothing() {
        let (_dir, registers) = store();
        let states = async || -> Vec<State> {
            list(&registers).await.unwrap().into_iter().map(|scorer| scorer.state).collect()
        };
        let code = issue(&registers, "demo", CODE_LIVES).await.unwrap();
        let [waiting] = <[Scorer; 1]>::try_from(list(&registers).await.unwrap()).unwrap();
        assert_eq!((waiting.r#match.as_str(), waiting.state), ("demo", State::Waiting));
        assert_eq!(waiting.until_ms - waiting.since_ms, CODE_LIVES.as_millis() as i64);
        assert!(revoke(&registers, &waiting.id).await.unwrap());
        assert_eq!(open(&registers, "demo", &code).await.unwrap(), None);
        assert_eq!(states().await, [State::Revoked]);

        let code = issue(&registers, "demo", CODE_LIVES).await.unwrap();
        let token = open(&registers, "demo", &code).await.unwrap().unwrap();
        let all = list(&registers).await.unwrap();
        let opened = all.iter().find(|scorer| scorer.state == State::Open).expect("one is told of, not two");
        assert_eq!(all.len(), 2);
        assert!(revoke(&registers, &opened.id).await.unwrap());
        assert_eq!(super::token(&registers, &token).await.unwrap(), None);
        assert_eq!(states().await, [State::Revoked, State::Revoked]);
        assert!(!revoke(&registers, "0123456789abcdef").await.unwrap());
    }

    #[tokio::test]
    async fn a_code_ends() {
        let (_dir, registers) = store();
        let code = issue(&registers, "demo", Duration::ZERO).await.unwrap();
        assert_eq!(open(&registers, "demo", &code).await.unwrap(), None);
    }

    #[test]
    fn attempts_are_few() {
        let attempts = Attempts::default();
        let (one, two) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let now = Instant::now();
        for _ in 0..PER_ADDRESS {
            assert_eq!(attempts.count_at(one, "demo", now), Ok(()));
        }
        assert!(attempts.count_at(one, "demo", now).is_err_and(|wait_s| (1..=65).contains(&wait_s)));
        assert_eq!(attempts.count_at(two, "demo", now), Ok(()), "one address does not shut out another");
        for n in PER_ADDRESS + 1..PER_MATCH {
            assert_eq!(attempts.count_at(IpAddr::from([10, 0, 1, n as u8]), "demo", now), Ok(()));
        }
        assert!(attempts.count_at(IpAddr::from([10, 0, 2, 1]), "demo", now).is_err());
        assert_eq!(attempts.count_at(one, "demo", now + MINUTE), Ok(()));
    }
}
