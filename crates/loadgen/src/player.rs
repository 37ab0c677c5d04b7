//! One viewer: follows the multivariant playlist to a video and an audio track, loads what a player of its
//! mode would load, and plays it. Pure: [`Player::poll`] says what to request, [`Player::answer`] takes what
//! came, and time (UTC microseconds) is an argument of both.

use std::collections::BTreeMap;
use std::time::Duration;

use hls::read;
use timeline::Utc;

use crate::buffer::common;
use crate::config::Mode;
use crate::playhead::Playhead;
use crate::report::{FAULTS_KEPT, Fault, Quantiles, Report};
use crate::url::resolve;

mod pick;
mod step;
mod track;

use track::Track;

/// How often a playing player looks at its clock when nothing else happens: fine enough for catching up.
const TICK_US: i64 = 100_000;

/// After a failed request for a playlist. A real player's first retry comes this fast too.
const RETRY_US: i64 = 250_000;

/// How far PDT minus decode time may differ between objects: PDT is rounded down to the millisecond.
const EPOCH_TOLERANCE_US: i64 = 2_000;

/// What is kept behind the playhead; only memory depends on it.
const KEPT_BEHIND_US: i64 = 30_000_000;

/// A server holds for at most three target durations (rfc8216bis 6.2.5.2), 6 s here, and then says so; a
/// player that waits a little longer hears it.
const TIMEOUT: Duration = Duration::from_secs(8);

/// Samples of latency that are kept: an hour of ticks.
const LATENCIES_KEPT: usize = 36_000;

/// What kind of viewer.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address of the multivariant playlist.
    pub master: String,
    /// How it plays.
    pub mode: Mode,
    /// Height of the picture to choose; the first variant without it.
    pub height: Option<u64>,
    /// Language of the sound to choose; the default one without it.
    pub language: Option<String>,
    /// Plays a little faster after a stall, until it is where it was.
    pub catch_up: bool,
}

/// What the player wants to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Hand it back with the answer.
    pub id: u64,
    /// Whole address.
    pub url: String,
    /// Give up after this long.
    pub timeout: Duration,
}

/// What came of a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A 200, whole.
    Body(bytes::Bytes),
    /// Another status.
    Status(u16),
    /// No answer.
    Failed(String),
}

/// What a request was for.
#[derive(Clone, Debug)]
enum Purpose {
    Master,
    Playlist { track: usize, blocking: bool },
    Init { track: usize, uri: String },
    Media { track: usize },
}

/// The viewer.
#[derive(Debug)]
pub struct Player {
    options: Options,
    began: i64,
    master_due: Option<i64>,
    tracks: Vec<Track>,
    pending: BTreeMap<u64, (Purpose, String)>,
    next_id: u64,
    /// Where to begin, once all tracks have a playlist.
    start: Option<i64>,
    playhead: Option<Playhead>,
    /// The match's epoch as the first object shows it: its PDT minus its decode time.
    epoch: Option<i64>,
    latencies: Vec<i64>,
    report: Report,
}

impl Player {
    /// A viewer who arrives now.
    pub fn new(options: Options, now: i64) -> Player {
        Player {
            options,
            began: now,
            master_due: Some(now),
            tracks: Vec::new(),
            pending: BTreeMap::new(),
            next_id: 0,
            start: None,
            playhead: None,
            epoch: None,
            latencies: Vec::new(),
            report: Report::default(),
        }
    }

    /// Moves on to `now`: what to request. Call it at [`Player::wake`] and after every answer.
    pub fn poll(&mut self, now: i64) -> Vec<Request> {
        self.advance(now);
        let mut wanted = Vec::new();
        if self.master_due.is_some_and(|due| due <= now) {
            self.master_due = None;
            let url = self.options.master.clone();
            wanted.push(self.request(Purpose::Master, url));
        }
        if self.start.is_none() {
            self.choose_start();
        }
        for i in 0..self.tracks.len() {
            if let Some((query, blocking)) = self.tracks[i].reload(now) {
                let url = format!("{}{query}", self.tracks[i].url);
                wanted.push(self.request(Purpose::Playlist { track: i, blocking }, url));
            }
            if self.start.is_none() {
                continue;
            }
            let mut faults = Vec::new();
            let fetch = self.tracks[i].fetch(now, &mut self.report.gaps, &mut faults);
            self.faults(now, faults);
            let Some(next) = fetch else { continue };
            let url = resolve(&self.tracks[i].url, next.uri());
            let purpose = match next {
                track::Next::Init(uri) => Purpose::Init { track: i, uri },
                track::Next::Media(_) => Purpose::Media { track: i },
            };
            wanted.push(self.request(purpose, url));
        }
        wanted
    }

    /// When to call [`Player::poll`] next, at the latest.
    pub fn wake(&self, now: i64) -> i64 {
        let dues = self.tracks.iter().flat_map(Track::dues).chain(self.master_due);
        dues.fold(now + TICK_US, i64::min).max(now)
    }

    /// Takes what came of a request.
    pub fn answer(&mut self, id: u64, answer: Answer, now: i64) {
        // What arrives now could not be played before.
        self.advance(now);
        let Some((purpose, url)) = self.pending.remove(&id) else { return };
        let body = match answer {
            Answer::Body(body) => {
                self.report.bytes += body.len() as u64;
                Ok(body)
            }
            Answer::Status(status) => Err(format!("{url}: status {status}")),
            Answer::Failed(what) => Err(format!("{url}: {what}")),
        };
        self.report.errors += u64::from(body.is_err());
        let outcome = match purpose {
            Purpose::Master => self.master(&url, body, now),
            Purpose::Playlist { track, blocking } => self.playlist(track, blocking, body, now),
            Purpose::Init { track, uri } => {
                self.tracks[track].init(uri, body, now).map(|()| self.report.objects += 1)
            }
            Purpose::Media { track } => self.media(track, body, now),
        };
        if let Err(what) = outcome {
            self.faults(now, vec![what]);
        }
    }

    /// Whether the match has ended and was played to its end.
    pub fn finished(&self) -> bool {
        self.report.finished
    }

    /// The account so far, as if the viewer left now.
    pub fn report(&self, now: i64) -> Report {
        let mut report = self.report.clone();
        report.tracks = self.tracks.iter().map(|t| t.name.clone()).collect();
        report.latency_ms = Quantiles::of_micros(self.latencies.clone());
        if let (Some(playhead), Some(start)) = (&self.playhead, self.start) {
            let mut playhead = playhead.clone();
            if !report.finished {
                playhead.advance(now, self.tracks.iter().map(|t| &t.buffer));
                playhead.stop();
            }
            report.played_ms = (playhead.at() - start) / 1_000;
            report.standing_ms = playhead.standing_us / 1_000;
            report.stalls = playhead.stalls;
            report.jumps = playhead.jumps;
        }
        report
    }

    fn request(&mut self, purpose: Purpose, url: String) -> Request {
        self.next_id += 1;
        self.report.requests += 1;
        self.pending.insert(self.next_id, (purpose, url.clone()));
        Request { id: self.next_id, url, timeout: TIMEOUT }
    }

    fn faults(&mut self, now: i64, what: Vec<String>) {
        for what in what {
            self.report.fault_count += 1;
            if self.report.faults.len() < FAULTS_KEPT {
                self.report.faults.push(Fault { at: Utc(now), what });
            }
        }
    }

    fn advance(&mut self, now: i64) {
        let buffers = self.tracks.iter().map(|t| &t.buffer);
        if let Some(playhead) = &mut self.playhead {
            if self.report.finished {
                return;
            }
            playhead.advance(now, buffers.clone());
            if self.latencies.len() < LATENCIES_KEPT {
                self.latencies.push(playhead.latency_us());
            }
            let at = playhead.at();
            if self.tracks.iter().any(|t| t.played_out(at)) {
                playhead.finish();
                self.report.finished = true;
            }
            for track in &mut self.tracks {
                track.buffer.forget_before(at - KEPT_BEHIND_US);
            }
        } else if let Some(start) = self.start
            && let Some((first, _)) = common(buffers, start)
        {
            // A gap right at the start is where it begins later.
            self.playhead = Some(Playhead::begin(first.max(start), now, self.options.catch_up));
            self.report.startup_ms = Some((now - self.began) / 1_000);
        }
    }

    fn master(&mut self, url: &str, body: Result<bytes::Bytes, String>, now: i64) -> Result<(), String> {
        let found = body.and_then(|body| {
            let text = std::str::from_utf8(&body).map_err(|e| e.to_string())?;
            let list = read::multivariant(text).map_err(|e| format!("{url}: {e}"))?;
            let chosen = pick::tracks(&list, &self.options)?;
            Ok((list, chosen))
        });
        match found {
            Ok((list, chosen)) => {
                let mode = self.options.mode;
                self.tracks =
                    chosen.iter().map(|uri| Track::new(uri.clone(), resolve(url, uri), mode, now)).collect();
                self.faults(now, hls::check::multivariant(&list).iter().map(ToString::to_string).collect());
                Ok(())
            }
            Err(what) => {
                self.master_due = Some(now + RETRY_US);
                Err(what)
            }
        }
    }

    fn playlist(
        &mut self,
        track: usize,
        blocking: bool,
        body: Result<bytes::Bytes, String>,
        now: i64,
    ) -> Result<(), String> {
        let loaded = self.tracks[track].playlist(body, blocking, now)?;
        self.report.playlists += 1;
        self.report.deltas += u64::from(loaded.delta);
        self.faults(now, loaded.faults);
        Ok(())
    }

    /// All tracks begin at the same time: the hold-back of the one that is least far.
    fn choose_start(&mut self) {
        let starts: Option<Vec<i64>> = self.tracks.iter().map(Track::start).collect();
        let Some(start) = starts.and_then(|all| all.into_iter().min()) else { return };
        for track in &mut self.tracks {
            track.begin(start);
        }
        self.start = Some(start);
    }

    fn media(&mut self, track: usize, body: Result<bytes::Bytes, String>, now: i64) -> Result<(), String> {
        let Some(decoded) = self.tracks[track].media(body, now)? else { return Ok(()) };
        self.report.objects += 1;
        let epoch = decoded.start.saturating_sub(decoded.decode_time_us);
        let first = *self.epoch.get_or_insert(epoch);
        let off = epoch.saturating_sub(first);
        if off.saturating_abs() > EPOCH_TOLERANCE_US {
            return Err(format!(
                "{}: its decode time is {off} µs off its PDT, compared with the first object",
                decoded.uri
            ));
        }
        Ok(())
    }
}

/// For a fuzz target: a server that answers with any bytes, cut at every NUL. No panic.
pub fn fuzz(bytes: &[u8]) {
    for mode in [Mode::LowLatency, Mode::Ordinary] {
        let (master, mut now) = ("http://x/m/hls/master.m3u8".to_owned(), 1_796_000_000_000_000);
        let mut player =
            Player::new(Options { master, mode, height: None, language: None, catch_up: true }, now);
        for body in bytes.split(|&byte| byte == 0) {
            for request in player.poll(now) {
                player.answer(request.id, Answer::Body(bytes::Bytes::copy_from_slice(body)), now);
            }
            // Longer than any pause between two attempts.
            now += 1_000_000;
        }
        player.report(now);
    }
}
