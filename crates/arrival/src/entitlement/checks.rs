//! Questions for the store, gathered: one is asked for everybody who came since the last. Pure; time is an argument.

use std::collections::{HashMap, VecDeque};

use super::limits::{BATCH_EVERY_MS, IN_FLIGHT_MAX, WAITING_MAX};

/// Accounts to ask for, in one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Which question it is.
    pub id: u64,
    /// UTC, milliseconds: when it was asked.
    pub asked_ms: i64,
    /// At most [`store::ACCOUNTS_MAX`], each once.
    pub accounts: Vec<String>,
}

/// Those who wait, by ticket.
pub struct Checks<T> {
    /// Accounts that have not been asked for, in the order in which they came.
    queue: VecDeque<String>,
    /// Who waits for which account, asked for or not.
    waiting: HashMap<String, Vec<T>>,
    /// How many they are.
    tickets: usize,
    in_flight: usize,
    last_ms: Option<i64>,
    next_id: u64,
}

impl<T> Default for Checks<T> {
    fn default() -> Checks<T> {
        Checks {
            queue: VecDeque::new(),
            waiting: HashMap::new(),
            tickets: 0,
            in_flight: 0,
            last_ms: None,
            next_id: 0,
        }
    }
}

impl<T> Checks<T> {
    /// Somebody wants to know of an account. They get their ticket back if too many wait already.
    ///
    /// # Errors
    ///
    /// The ticket.
    pub fn ask(&mut self, account: &str, ticket: T) -> Result<(), T> {
        if self.tickets >= WAITING_MAX {
            return Err(ticket);
        }
        self.tickets += 1;
        match self.waiting.get_mut(account) {
            Some(tickets) => tickets.push(ticket),
            None => {
                self.waiting.insert(account.to_owned(), vec![ticket]);
                self.queue.push_back(account.to_owned());
            }
        }
        Ok(())
    }

    /// The next question, if it is time for one.
    pub fn due(&mut self, now_ms: i64) -> Option<Batch> {
        if self.queue.is_empty()
            || self.in_flight >= IN_FLIGHT_MAX
            || self.next_ms().is_none_or(|at| at > now_ms)
        {
            return None;
        }
        let some = self.queue.len().min(store::ACCOUNTS_MAX);
        let accounts = self.queue.drain(..some).collect();
        self.in_flight += 1;
        self.last_ms = Some(now_ms);
        self.next_id += 1;
        Some(Batch { id: self.next_id, asked_ms: now_ms, accounts })
    }

    /// UTC, milliseconds: when [`Checks::due`] may have one. None: not before something happens.
    pub fn next_ms(&self) -> Option<i64> {
        let waits = !self.queue.is_empty() && self.in_flight < IN_FLIGHT_MAX;
        waits.then(|| self.last_ms.map_or(i64::MIN, |last| last + BATCH_EVERY_MS))
    }

    /// A question was answered, or failed: who waited for it, with the account of each.
    pub fn done(&mut self, batch: &Batch) -> Vec<(String, Vec<T>)> {
        self.in_flight = self.in_flight.saturating_sub(1);
        let mut all = Vec::with_capacity(batch.accounts.len());
        for account in &batch.accounts {
            if let Some(tickets) = self.waiting.remove(account) {
                self.tickets -= tickets.len();
                all.push((account.clone(), tickets));
            }
        }
        all
    }

    /// Everybody who has not been asked for: nobody will be, now.
    pub fn give_up(&mut self) -> Vec<T> {
        let mut all = Vec::new();
        for account in self.queue.drain(..) {
            all.extend(self.waiting.remove(&account).unwrap_or_default());
        }
        self.tickets -= all.len();
        all
    }

    /// Viewers who wait.
    pub fn waiting(&self) -> usize {
        self.tickets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_asked_at_once_and_the_rest_together() {
        let mut checks = Checks::default();
        assert_eq!(checks.due(0), None);
        checks.ask("a", 1).unwrap();
        let first = checks.due(0).unwrap();
        assert_eq!(first.accounts, ["a"]);
        for (account, ticket) in [("b", 2), ("c", 3), ("b", 4), ("a", 5)] {
            checks.ask(account, ticket).unwrap();
        }
        assert_eq!(checks.due(BATCH_EVERY_MS - 1), None);
        assert_eq!(checks.next_ms(), Some(BATCH_EVERY_MS));
        let second = checks.due(BATCH_EVERY_MS).unwrap();
        assert_eq!(second.accounts, ["b", "c"], "each once, and not who is asked for already");
        assert_eq!(checks.done(&first), [("a".to_owned(), vec![1, 5])]);
        assert_eq!(checks.done(&second), [("b".to_owned(), vec![2, 4]), ("c".to_owned(), vec![3])]);
        assert_eq!(checks.waiting(), 0);
    }

    #[test]
    fn a_store_that_is_slow_is_not_asked_more_and_nobody_waits_without_bound() {
        let mut checks = Checks::default();
        let mut now = 0;
        for n in 0..WAITING_MAX {
            checks.ask(&n.to_string(), n).unwrap();
            now += 1;
            let asked = checks.due(now);
            assert_eq!(asked.is_some(), n == 0 || n == BATCH_EVERY_MS as usize, "{n}");
        }
        assert_eq!(checks.ask("one more", 0), Err(0));
        assert_eq!(checks.next_ms(), None);
        assert!(checks.give_up().len() > 9_000);
        assert_eq!(checks.due(now + BATCH_EVERY_MS), None);
        assert!(checks.ask("one more", 0).is_ok());
    }
}
