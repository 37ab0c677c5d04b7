//! A viewer over real connections.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::Error;
use crate::http::{self, Client};
use crate::player::{Options, Player};
use crate::report::Report;

/// UTC microseconds, from a clock that never steps.
#[derive(Clone, Copy, Debug)]
struct Clock {
    wall: i64,
    since: Instant,
}

impl Clock {
    fn start() -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros() as i64);
        Clock { wall, since: Instant::now() }
    }

    fn now(&self) -> i64 {
        self.wall + self.since.elapsed().as_micros() as i64
    }
}

/// Watches until the match has ended or `shutdown` comes.
///
/// # Errors
/// [`Error::Url`] for an address that cannot be asked. What goes wrong later is in the report.
pub async fn watch(options: Options, shutdown: impl Future<Output = ()>) -> Result<Report, Error> {
    http::check(&options.master)?;
    let clock = Clock::start();
    let client = Client::default();
    let mut player = Player::new(options, clock.now());
    let mut under_way = FuturesUnordered::new();
    tokio::pin!(shutdown);
    while !player.finished() {
        let now = clock.now();
        for request in player.poll(now) {
            let client = client.clone();
            under_way.push(async move { (request.id, client.get(&request.url, request.timeout).await) });
        }
        let wait = Duration::from_micros((player.wake(now) - now).max(0) as u64);
        tokio::select! {
            Some((id, answer)) = under_way.next() => player.answer(id, answer, clock.now()),
            () = tokio::time::sleep(wait) => {}
            () = &mut shutdown => break,
        }
    }
    Ok(player.report(clock.now()))
}
