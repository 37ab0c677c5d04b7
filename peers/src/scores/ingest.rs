//! From the ingest's door to the sockets: 40 matches at 1.5 events a second each, every viewer in two of them.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, ensure};
use timeline::Utc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::Plan;
use super::audience::now;
use super::crowd::{Crowd, Shape};
use super::pavilion::{self, Path};
use super::publish::Http;
use super::rig::Rig;
use crate::figure::{Figure, Goal, figures};
use crate::stats;

/// Without a window.
pub(crate) const PLAIN: &str = "ingest_flush_ms_p99";
/// With it.
pub(crate) const COALESCED: &str = "ingest_flush_coalesced_ms_p99";

/// The window, in milliseconds.
pub(crate) const WINDOW_MS: u64 = 200;

/// Matches at once: a Sunday of the reference.
const MATCHES: usize = 40;
/// Events a second of one match.
const RATE: f64 = 1.5;
/// Matches that a viewer follows.
const EACH: usize = 2;
/// Providers; each has every fourth match, and says one thing after the other.
const FEEDS: usize = 4;
/// What they show at the door.
const KEY: &str = "0123456789abcdef-bench";
/// Before anything is counted.
const WARM_S: u64 = 2;
/// Statements that wait for a provider's turn: more is an overload, and then the figure says so.
const WAITING_MAX: usize = 1_000;
/// For the last event to arrive everywhere.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Plays for some seconds, and takes the time from each event's own instant to its arrival at each socket.
pub(crate) async fn measure(
    rig: &Rig<'_>,
    plan: &Plan,
    id: &'static str,
    coalesce_ms: u64,
) -> anyhow::Result<Vec<Figure>> {
    let file = rig.dir().join(format!("{id}.db"));
    pavilion::fill(&file, MATCHES).await.context("the catalog")?;
    let feeds: Vec<_> = (0..FEEDS).map(|n| format!("feed-{n}:push:{KEY}")).collect();
    let path = Path::start(rig, &file, &feeds, coalesce_ms).await?;
    let mut season = Season::new(path.ingest);
    // A match of which nothing is known yet has no log: who subscribes then is told to take the snapshot at its first
    // event, instead of getting that.
    season.begin().await?;
    let speech = pavilion::speech("\"venue_ms\":", 1_000);
    let shape = Shape { processes: 1, channels: MATCHES, each: EACH };
    let mut crowd = Crowd::start(rig.nursery, None, path.edge, &speech, shape).await?;
    crowd.open(plan.sockets).await?;

    let mut all = Vec::new();
    for seconds in [WARM_S, plan.play_s] {
        let (events, posted) = season.play(Duration::from_secs(seconds)).await?;
        let expected = (events * plan.sockets * EACH / MATCHES) as u64;
        let mut counts = crowd.tally().await?;
        let until = Instant::now() + DRAIN_MAX;
        while counts.deliveries < expected && Instant::now() < until {
            sleep(Duration::from_millis(200)).await;
            counts.add(crowd.tally().await?);
        }
        ensure!(
            counts.deliveries == expected,
            "{} of {expected} deliveries of {events} events arrived",
            counts.deliveries
        );
        all.push((events, posted, counts));
    }
    let (events, posted, counts) = all.pop().context("nothing was played")?;
    let (goal, window) =
        if coalesce_ms == 0 { (50.0, "without a window") } else { (250.0, "with a window of 200 ms") };
    Ok(vec![
        Figure::new(id, counts.quantile_ms(0.99), "ms", Goal::AtMost(goal))
            .how(format!(
                "from the instant at which a provider has an event to its arrival at a socket, {window}: HTTP push, durable in \
                 the spine, shard, relay, socket edge; {MATCHES} matches at {RATE} events a second at random, {} sockets with \
                 {EACH} matches each; {events} events, {} deliveries",
                plan.sockets, counts.deliveries
            ))
            .how(format!(
                "p50 {} ms, p99.9 {} ms; acknowledged to the provider after {} ms (p50), {} ms (p99)",
                figures(counts.quantile_ms(0.5)),
                figures(counts.quantile_ms(0.999)),
                figures(stats::median(&posted)),
                figures(stats::p99(&posted)),
            )),
    ])
}

/// All matches, ball by ball.
struct Season {
    ingest: SocketAddr,
    random: fastrand::Rng,
    /// Balls bowled, by match.
    balls: [u32; MATCHES],
    /// Statements made, by feed.
    said: [u64; FEEDS],
}

impl Season {
    fn new(ingest: SocketAddr) -> Season {
        // The same season each time.
        Season { ingest, random: fastrand::Rng::with_seed(4), balls: [0; MATCHES], said: [0; FEEDS] }
    }

    /// One event of every match.
    async fn begin(&mut self) -> anyhow::Result<()> {
        let http = Http::new(self.ingest);
        for m in 0..MATCHES {
            let feed = m % FEEDS;
            let line = self.next(m, feed);
            say(&http, &door(feed), line).await?;
        }
        Ok(())
    }

    /// Plays for so long; how many events that were, and how long each took to be acknowledged (ms).
    async fn play(&mut self, length: Duration) -> anyhow::Result<(usize, Vec<f64>)> {
        let mut providers = JoinSet::new();
        let feeds: Vec<_> = (0..FEEDS)
            .map(|n| {
                let (say, lines) = mpsc::channel(WAITING_MAX);
                providers.spawn(provide(Http::new(self.ingest), door(n), lines));
                say
            })
            .collect();
        let began = Instant::now();
        let (mut at, mut events) = (began, 0);
        loop {
            // Independent events: gaps are exponential, so some come in bursts.
            let gap = -(1.0 - self.random.f64()).ln() / (RATE * MATCHES as f64);
            at += Duration::from_secs_f64(gap);
            if at.duration_since(began) > length {
                break;
            }
            sleep_until(at).await;
            let m = self.random.usize(..MATCHES);
            let feed = m % FEEDS;
            let line = self.next(m, feed);
            if feeds[feed].try_send(line).is_err() {
                // The provider's own error says more.
                break;
            }
            events += 1;
        }
        drop(feeds);
        let mut posted = Vec::new();
        while let Some(ended) = providers.join_next().await {
            posted.extend(ended??);
        }
        ensure!(posted.len() == events, "{} of {events} events were acknowledged", posted.len());
        Ok((events, posted))
    }

    /// The next ball of a match, as its provider says it. Nothing comes of it: a moment would say its time twice.
    fn next(&mut self, m: usize, feed: usize) -> String {
        let (over, ball) = (self.balls[m] / 6, 1 + self.balls[m] % 6);
        self.balls[m] += 1;
        self.said[feed] += 1;
        let at = Utc(now() as i64);
        format!(
            r#"{{"seq":{},"match":"m{m}","at":"{at}","revision":1,"body":{{"sport":"cricket","at":{{"innings":1,"over":{over},"ball":{ball},"slot":0}},"kind":"delivery","batter":"A Opener","non_striker":"B Other","bowler":"C Quick","runs":0}}}}"#,
            self.said[feed]
        ) + "\n"
    }
}

/// Where a feed is taken.
fn door(feed: usize) -> String {
    format!("/v1/feeds/feed-{feed}")
}

/// One provider: one line after the other; how long each took to be acknowledged (ms).
async fn provide(http: Http, path: String, mut lines: mpsc::Receiver<String>) -> anyhow::Result<Vec<f64>> {
    let mut took = Vec::new();
    while let Some(line) = lines.recv().await {
        let began = Instant::now();
        say(&http, &path, line).await?;
        took.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(took)
}

/// Makes a statement that must be taken.
async fn say(http: &Http, path: &str, line: String) -> anyhow::Result<()> {
    let said = http.post_as(path, "application/x-ndjson", Some(KEY), line).await?;
    let answer: serde_json::Value = serde_json::from_slice(&said)?;
    let none = |key: &str| answer[key].as_array().is_none_or(Vec::is_empty);
    ensure!(none("rejected") && none("missing"), "ingest says {answer}");
    Ok(())
}
