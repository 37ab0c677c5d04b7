//! A crowd at the live edge: many clients ask many edges for the same new part, or for the playlist that
//! lists it, before it is there; round after round. Each client in flight is a connection, so a swarm of
//! thousands needs as many file descriptors.

use std::time::{Duration, Instant};

use bytes::Bytes;
use hls::read::{self, Playlist};
use hls::request::Directives;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::Error;
use crate::http::{Client, check};
use crate::player::Answer;
use crate::report::{FAULTS_KEPT, Quantiles};
use crate::url::resolve;

/// A held request is answered within three target durations (rfc8216bis 6.2.5.2), 6 s here, and a rush takes
/// its time to arrive.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Failures of the scout in a row before the swarm gives up.
const SCOUT_ATTEMPTS: u32 = 5;

/// What the clients ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The part that the playlist hints at.
    Part,
    /// The playlist that lists it, as a delta update.
    Playlist,
}

/// A crowd.
#[derive(Clone, Debug)]
pub struct Options {
    /// One media playlist, by its address at each edge; clients are dealt out evenly.
    pub edges: Vec<String>,
    /// Its address at the origin: latencies are counted from when one client there has the part. Without it,
    /// from when the first client anywhere has it. It adds one request for each round to what the origin sees.
    pub reference: Option<String>,
    /// How many, over all edges.
    pub clients: usize,
    /// How many parts are asked for.
    pub rounds: u32,
    /// What is asked for.
    pub ask: Ask,
}

/// What a crowd has seen.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Clients that asked in each round.
    pub clients: usize,
    /// Parts that were asked for.
    pub rounds: u32,
    /// Answers with 200.
    pub answers: usize,
    /// All other answers, and none.
    pub errors: usize,
    /// Bytes received.
    pub bytes: u64,
    /// From when the reference had it until a client had all of it.
    pub latency_ms: Quantiles,
    /// The first things that were wrong.
    pub faults: Vec<String>,
}

/// Runs the rounds, or those until `shutdown`.
///
/// # Errors
/// [`Error::Swarm`] and [`Error::Url`] for options that make no sense, [`Error::Request`] and
/// [`Error::Playlist`] when the playlist cannot be followed. Failures of clients are counted in the report.
pub async fn swarm(options: Options, shutdown: impl Future<Output = ()>) -> Result<Report, Error> {
    let scout = options.edges.first().ok_or(Error::Swarm("a swarm needs at least one edge"))?;
    for url in options.edges.iter().chain(&options.reference) {
        check(url)?;
    }
    let client = Client::default();
    let mut report = Report { clients: options.clients, ..Report::default() };
    let mut latencies = Vec::new();
    let mut next = Directives::default();
    tokio::pin!(shutdown);
    while report.rounds < options.rounds {
        let round = async {
            let list = follow(&client, scout, next).await?;
            let asked = Round::of(&list, options.ask)?;
            let seen = asked.ask(&client, &options).await;
            Ok::<_, Error>((asked, seen))
        };
        let (asked, seen) = tokio::select! {
            done = round => done?,
            () = &mut shutdown => break,
        };
        next = asked.listed;
        report.rounds += 1;
        seen.add_to(&mut report, &mut latencies, options.ask);
    }
    report.latency_ms = Quantiles::of_micros(latencies);
    Ok(report)
}

/// The playlist, once it lists what `directives` say.
async fn follow(client: &Client, url: &str, directives: Directives) -> Result<Playlist, Error> {
    let asked = with_query(url, directives);
    let mut what = String::new();
    for _ in 0..SCOUT_ATTEMPTS {
        match client.get(&asked, TIMEOUT).await {
            Answer::Body(body) => {
                let text = String::from_utf8_lossy(&body);
                return read::playlist(&text).map_err(|source| Error::Playlist { url: asked, source });
            }
            Answer::Status(status) => what = format!("status {status}"),
            Answer::Failed(why) => what = why,
        }
    }
    Err(Error::Request { url: asked, what })
}

fn with_query(url: &str, directives: Directives) -> String {
    let query = directives.to_string();
    if query.is_empty() { url.to_owned() } else { format!("{url}?{query}") }
}

/// One part that all ask for.
struct Round {
    /// What to ask for, relative to a playlist; nothing for the playlist itself.
    hint: Option<String>,
    /// The query of the playlist that lists it.
    listed: Directives,
}

impl Round {
    fn of(list: &Playlist, ask: Ask) -> Result<Round, Error> {
        let hint = list.hint.clone().ok_or(Error::Swarm("the playlist hints at no part; is it live?"))?;
        let next = list.next();
        let listed = Directives { msn: Some(next.msn), part: Some(next.part), skip: false };
        Ok(Round { hint: (ask == Ask::Part).then_some(hint), listed })
    }

    fn url(&self, playlist: &str) -> String {
        match &self.hint {
            Some(hint) => resolve(playlist, hint),
            None => with_query(playlist, Directives { skip: true, ..self.listed }),
        }
    }

    async fn ask(&self, client: &Client, options: &Options) -> Seen {
        let mut asking = JoinSet::new();
        let at_edges = options.edges.iter().cycle().take(options.clients).map(|edge| (false, edge));
        for (reference, playlist) in options.reference.iter().map(|url| (true, url)).chain(at_edges) {
            let (client, url) = (client.clone(), self.url(playlist));
            asking.spawn(async move { (reference, client.get(&url, TIMEOUT).await, Instant::now(), url) });
        }
        let mut seen = Seen::default();
        while let Some(done) = asking.join_next().await {
            // A task that panicked is a bug of ours: let it be seen.
            let (reference, answer, at, url) =
                done.unwrap_or_else(|gone| std::panic::resume_unwind(gone.into_panic()));
            match answer {
                Answer::Body(body) if reference => seen.reference = Some((at, body)),
                Answer::Body(body) => seen.answered(at, body, self.hint.is_some(), &url),
                Answer::Status(status) => seen.failed(format!("{url}: status {status}")),
                Answer::Failed(what) => seen.failed(format!("{url}: {what}")),
            }
        }
        seen
    }
}

/// What came of a round.
#[derive(Default)]
struct Seen {
    reference: Option<(Instant, Bytes)>,
    at: Vec<Instant>,
    /// The first answer.
    body: Option<Bytes>,
    bytes: u64,
    errors: usize,
    faults: Vec<String>,
}

impl Seen {
    /// A part has one content (`same`); a playlist may list more by the time that it is answered.
    fn answered(&mut self, at: Instant, body: Bytes, same: bool, url: &str) {
        self.at.push(at);
        self.bytes += body.len() as u64;
        let first = self.body.get_or_insert_with(|| body.clone());
        if same && *first != body {
            let (one, other) = (body.len(), first.len());
            self.fault(format!("{url}: {one} bytes, and another client got other {other}"));
        }
    }

    fn failed(&mut self, what: String) {
        self.errors += 1;
        self.fault(what);
    }

    fn fault(&mut self, what: String) {
        if self.faults.len() < FAULTS_KEPT {
            self.faults.push(what);
        }
    }

    fn add_to(mut self, report: &mut Report, latencies: &mut Vec<i64>, ask: Ask) {
        let since = self.reference.as_ref().map(|r| r.0).or(self.at.iter().min().copied());
        if let Some(since) = since {
            latencies.extend(self.at.iter().map(|at| micros_between(since, *at)));
        }
        if let (Ask::Part, Some((_, there)), Some(here)) = (ask, &self.reference, &self.body)
            && there != here
        {
            self.fault("the edges' bytes are not the origin's".to_owned());
        }
        report.answers += self.at.len();
        report.errors += self.errors;
        report.bytes += self.bytes;
        let room = FAULTS_KEPT - report.faults.len().min(FAULTS_KEPT);
        report.faults.extend(self.faults.into_iter().take(room));
    }
}

/// Negative when an edge's client was done before the reference.
fn micros_between(from: Instant, to: Instant) -> i64 {
    match to.checked_duration_since(from) {
        Some(after) => after.as_micros() as i64,
        None => -(from.duration_since(to).as_micros() as i64),
    }
}
