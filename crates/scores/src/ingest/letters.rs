//! Dead letters: what could not be taken, with the reason, for people to look at.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Log, New};

use super::limits::{DEAD_LETTER_MAX, DEAD_LETTERS_PAGE, DEAD_LETTERS_PER_MINUTE};
use super::{DEAD_LETTERS, meters};
use crate::Error;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Who said it.
    pub provider: String,
    /// Its number, if that could be made out.
    pub seq: Option<u64>,
    /// Why it was not taken.
    pub why: String,
    /// What was said, cut to 4 KiB.
    pub said: String,
    /// When: UTC, milliseconds.
    pub at_ms: i64,
}

/// Writes as many as are allowed.
#[derive(Debug, Default)]
pub(super) struct Letters {
    minute: i64,
    written: u32,
}

impl Letters {
    /// The record of one; none if there were too many, or if it is only counted.
    pub(super) fn write(&mut self, letter: &DeadLetter) -> Option<New> {
        let minute = letter.at_ms.div_euclid(60_000);
        if self.minute != minute {
            *self = Letters { minute, written: 0 };
        }
        let kept = self.written < DEAD_LETTERS_PER_MINUTE;
        meters::dead_letter(&letter.provider, kept);
        if !kept {
            return None;
        }
        self.written += 1;
        // The same thing said again, in a provider's replay, is the same letter.
        let digest = Sha256::digest(letter.said.as_bytes());
        let digest: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let seq = letter.seq.map_or_else(|| "none".to_owned(), |seq| seq.to_string());
        Some(New {
            topic: DEAD_LETTERS.into(),
            key: format!("{}.{seq}.{digest}", letter.provider),
            value: Bytes::from(serde_json::to_vec(letter).unwrap_or_default()),
        })
    }
}

/// What was said, for a letter.
pub(super) fn cut(said: &[u8]) -> String {
    String::from_utf8_lossy(&said[..said.len().min(DEAD_LETTER_MAX)]).into_owned()
}

/// A page of them with the newest first, each with its offset, before an offset (0: from the newest).
///
/// # Errors
/// The log cannot be read.
pub async fn dead_letters_back(
    log: &dyn Log,
    before: u64,
    max: usize,
) -> Result<Vec<(u64, DeadLetter)>, Error> {
    let last = if before == 0 { last(log).await? } else { before - 1 };
    let max = max.clamp(1, DEAD_LETTERS_PAGE);
    let after = last.saturating_sub(max as u64);
    let mut letters = dead_letters(log, after).await?;
    letters.retain(|(offset, _)| *offset <= last);
    letters.reverse();
    Ok(letters)
}

/// The last offset. Offsets have no holes, so that it is found by asking whether there is one after a guess: by
/// doubling, then by halves, some forty reads of one record where there are a million.
async fn last(log: &dyn Log) -> Result<u64, Error> {
    let beyond = async |offset: u64| -> Result<bool, Error> {
        Ok(log.read(DEAD_LETTERS, offset, 1).await?.is_empty())
    };
    let mut step = 1;
    while !beyond(step - 1).await? {
        step *= 2;
    }
    let mut last = step / 2;
    while step > 1 {
        step /= 2;
        if !beyond(last + step - 1).await? {
            last += step;
        }
    }
    Ok(last)
}

/// A page of them, each with its offset, after an offset (0: from the first).
pub async fn dead_letters(log: &dyn Log, after: u64) -> Result<Vec<(u64, DeadLetter)>, Error> {
    let records = log.read(DEAD_LETTERS, after, DEAD_LETTERS_PAGE).await?;
    records.iter().map(|record| Ok((record.offset, serde_json::from_slice(&record.value)?))).collect()
}
