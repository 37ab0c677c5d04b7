//! The loop that joins receiving, encoding and publishing.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use contribution::receive::{self, Source};
use contribution::supervise;
use store::{Outcome, Registers, Sqlite};
use timeline::anchor::{Anchor, Stamp, Watch};
use timeline::name::{ProgrammePath, Token};
use timeline::{CLOCK_HZ, Ticks, Utc};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::{Clock, Config};
use crate::encode::{self, Start};
use crate::feed::Feed;
use crate::plan::{Ladder, Plan};
use crate::protect::Drm;
use crate::publish::{self, Item, Publisher};
use crate::tracks::{self, Announced};
use crate::{Error, probe};

/// Frames seen before the feed is probed: enough for ffprobe to tell the frame rate.
const PROBE_FRAMES: u32 = 30;
/// Time after which it is probed with what there is (a slow or damaged feed).
const PROBE_AFTER: Duration = Duration::from_secs(4);
/// A feed is refused only when this many of its keyframes in turn told nothing: the first after a connection often
/// has lost some of its packets, and a match on air must not end for that.
const PROBE_TRIES: u32 = 3;
/// How far ahead of the feed an encoder's first segment begins: what ffmpeg needs to start. One that begins in
/// the past is late with its first parts while it catches up, and the other pipeline may die just then.
const START_LEAD: Ticks = Ticks(CLOCK_HZ * 8 / 10);
/// Longest wait for the outputs of an encoder to begin; then it is started again.
const ENCODER_START_MAX: Duration = Duration::from_secs(10);
/// Time for what is under way to reach the origins at the end.
const DRAIN_MAX: Duration = Duration::from_secs(3);
/// Programmes' registers outlive any match.
const KEEP_FOR: Duration = Duration::from_secs(7 * 86_400);

/// Runs a pipeline until `shutdown`, the end of its input, or the end of the match.
pub async fn run(config: Config, shutdown: CancellationToken) -> Result<(), Error> {
    let path = config.path();
    let ladder: Ladder = config.ladder.parse()?;
    let source = Source::parse(&config.input, config.r#loop)?;
    let store = Sqlite::open(&config.store)?;
    let drm = config.drm.open(&path)?;
    let shutdown = shutdown.child_token();

    let (mut to_origins, mut publishers) = (Vec::new(), Vec::new());
    for origin in &config.origins {
        let publisher = Publisher::new(origin, &path, config.name, shutdown.clone())?;
        let (items, queue) = mpsc::channel(publish::QUEUE);
        to_origins.push(items);
        publishers.push(tokio::spawn(publisher.run(queue)));
    }
    let feed = receive::receive(source, shutdown.clone())?;
    tracing::info!(input = config.input, programme = %path, "waiting for the feed");
    let out = Out { origins: to_origins };
    let pipeline = Pipeline {
        config,
        path,
        ladder,
        store,
        drm,
        keys: JoinSet::new(),
        out,
        demux: ts::Demux::new(),
        feed: Feed::default(),
    };
    let result = pipeline.drive(feed, &shutdown).await;
    shutdown.cancel();
    // The queues end with their senders; what is in them still goes out.
    let _ = tokio::time::timeout(DRAIN_MAX, async {
        for publisher in publishers {
            let _ = publisher.await;
        }
    })
    .await;
    result
}

/// To every origin alike.
#[derive(Clone)]
pub(crate) struct Out {
    origins: Vec<mpsc::Sender<Item>>,
}

impl Out {
    /// Hands an item to every origin's publisher; a full queue loses it for that origin only.
    pub(crate) fn send(&self, item: &Item) {
        for origin in &self.origins {
            if origin.try_send(item.clone()).is_err() {
                metrics::counter!("pipeline_parts_lost_total").increment(1);
            }
        }
    }
}

struct Pipeline {
    config: Config,
    path: ProgrammePath,
    ladder: Ladder,
    store: Sqlite,
    drm: Option<Drm>,
    /// Keeps keys coming; ends with this.
    keys: JoinSet<()>,
    out: Out,
    demux: ts::Demux,
    feed: Feed,
}

/// What is known once the feed has been probed.
struct OnAir {
    plan: Plan,
    watch: Watch,
    /// The newest frame's venue time.
    at: Ticks,
    encoder: Option<Running>,
    failures: u32,
    /// The last segment of which this pipeline has published: its names are used up.
    last_msn: Option<u64>,
    /// No start before this.
    not_before: Instant,
    /// The next run of the encoder follows a jump of the feed's clock.
    jumped: bool,
}

struct Running {
    encoder: encode::Encoder,
    tracks: tracks::Tracks,
    /// It was to tell of a jump.
    jumped: bool,
    since: Instant,
}

enum Wake {
    Chunk(Option<Bytes>),
    Ready(Announced),
    Ended(String),
    Overdue,
}

impl Pipeline {
    async fn drive(
        mut self,
        mut chunks: mpsc::Receiver<Bytes>,
        shutdown: &CancellationToken,
    ) -> Result<(), Error> {
        let mut on_air: Option<OnAir> = None;
        let (mut frames, mut first_chunk) = (0, None);
        let (mut probed, mut refusal) = (0, None);
        loop {
            let wake = tokio::select! {
                // The feed's channel closes at shutdown too, and that is not the end of the match.
                biased;
                () = shutdown.cancelled() => return Ok(()),
                wake = wait(&mut chunks, on_air.as_mut().and_then(|o| o.encoder.as_mut())) => wake,
            };
            let chunk = match (wake, &mut on_air) {
                (Wake::Chunk(Some(chunk)), _) => chunk,
                (Wake::Chunk(None), None) => {
                    return Err(refusal.unwrap_or_else(|| {
                        Error::Feed(format!(
                            "'{}' ended before a picture was seen; send H.264, H.265 or MPEG-2 video that ffmpeg can read",
                            self.config.input
                        ))
                    }));
                }
                (Wake::Chunk(None), Some(on_air)) => {
                    // The input is over: what the encoder still holds comes out, then the match ends.
                    if let Some(running) = on_air.encoder.take() {
                        drop(running.encoder.feed);
                        on_air.last_msn = on_air.last_msn.max(running.tracks.finish().await);
                    }
                    if let Some(last_msn) = on_air.last_msn {
                        self.out.send(&Item::End(last_msn));
                    }
                    tracing::info!(on_air.last_msn, "the input has ended");
                    return Ok(());
                }
                (Wake::Ready(announced), Some(on_air)) => {
                    self.announce(&announced, &on_air.plan);
                    continue;
                }
                (Wake::Ended(why), Some(on_air)) => {
                    on_air.encoder_ended(&why);
                    continue;
                }
                (Wake::Overdue, Some(on_air)) => {
                    on_air.encoder_ended("it made nothing");
                    continue;
                }
                (_, None) => continue,
            };
            let now = utc_now();
            first_chunk.get_or_insert_with(Instant::now);
            let mut seen = Vec::new();
            self.demux.push(&chunk, |event| {
                if let ts::Event::Pes(pes) = event {
                    seen.push(pes);
                }
            });
            let video = self.video_pid();
            for pes in seen.into_iter().filter(|pes| Some(pes.pid) == video) {
                let Some(stamp) = pes.dts.or(pes.pts) else { continue };
                frames += 1;
                let mut at = None;
                if let Some(on_air) = &mut on_air {
                    at = self.stamp(on_air, stamp, now).await?;
                }
                if pes.random_access {
                    let pts = pes.pts.unwrap_or(stamp);
                    self.feed.keyframe(pts, at);
                }
            }
            self.feed.push(chunk.clone());
            match &mut on_air {
                Some(on_air) => self.feed_encoder(on_air, chunk)?,
                None => {
                    let waited = first_chunk.is_some_and(|t: Instant| t.elapsed() > PROBE_AFTER);
                    if self.feed.first_keyframe().is_some() && (frames >= PROBE_FRAMES || waited)
                        || waited && first_chunk.is_some_and(|t| t.elapsed() > 3 * PROBE_AFTER)
                    {
                        probed += 1;
                        let again = probed < PROBE_TRIES && self.feed.first_keyframe().is_some();
                        match self.go_on_air().await {
                            Ok(begun) => on_air = Some(begun),
                            Err(error @ Error::Feed(_)) if again => {
                                tracing::warn!(%error, "the feed told nothing yet; its next keyframe is tried");
                                refusal = Some(error);
                                (frames, first_chunk) = (0, None);
                                self.feed.clear();
                            }
                            Err(error) => return Err(error),
                        }
                    }
                }
            }
        }
    }

    /// The programme's picture: its first video stream.
    fn video_pid(&self) -> Option<u16> {
        let streams = &self.demux.programme()?.streams;
        streams.iter().find(|s| matches!(s.kind, ts::Kind::Video(_))).map(|s| s.pid)
    }

    /// Passes a chunk to the encoder, or starts one.
    fn feed_encoder(&mut self, on_air: &mut OnAir, chunk: Bytes) -> Result<(), Error> {
        match &mut on_air.encoder {
            Some(running) => {
                if let Err(mpsc::error::TrySendError::Full(_)) = running.encoder.feed.try_send(chunk) {
                    let why =
                        "it cannot keep up with the feed; give it more cores, a faster preset or fewer rungs";
                    on_air.encoder_ended(why);
                }
            }
            None if Instant::now() >= on_air.not_before => self.start_encoder(on_air)?,
            None => {}
        }
        Ok(())
    }

    /// Probes the feed and agrees with the other pipeline on plan and anchor.
    async fn go_on_air(&mut self) -> Result<OnAir, Error> {
        let first = self.feed.first_keyframe().ok_or_else(|| {
            Error::Feed("the feed has no keyframe that can be found; send H.264, H.265 or MPEG-2 with regular keyframes".into())
        })?;
        let mut bytes = vec![Bytes::from(self.demux.tables())];
        bytes.extend(self.feed.since(first.chunk));
        let probed = probe::probe(&bytes).await?;
        let ours = Plan::for_feed(&probed, &self.ladder, self.config.audio_kbps)?;
        let plan = self.agree("plan", &ours).await?;
        if plan != ours {
            tracing::info!("following the plan that the programme already has");
        }
        if let Some(drm) = &self.drm {
            drm.start(plan.grid, self.config.epoch, &mut self.keys).await?;
        }
        let latest = self.feed.last_keyframe().unwrap_or(first);
        let anchor = self.agree("anchor", &self.new_anchor(latest.pts, &plan)).await?;
        tracing::info!(
            programme = %self.path,
            rungs = plan.video.len(),
            languages = plan.audio.len(),
            frame_rate = %plan.grid.frame_rate,
            "the feed is here"
        );
        let now = utc_now();
        Ok(OnAir {
            watch: Watch::new(anchor),
            at: now.since(self.config.epoch),
            plan,
            encoder: None,
            failures: 0,
            last_msn: None,
            not_before: Instant::now(),
            jumped: false,
        })
    }

    fn new_anchor(&self, pts: u64, plan: &Plan) -> Anchor {
        let (now, epoch) = (utc_now(), self.config.epoch);
        match self.config.clock {
            Clock::Utc => Anchor::of_utc_clock(pts, now, epoch),
            Clock::Arrival => {
                let delay = Ticks(i64::from(self.config.contribution_delay_ms) * CLOCK_HZ / 1_000);
                Anchor::at_arrival(pts, now, delay, epoch, plan.grid.frame_rate)
            }
        }
    }

    /// Writes ours unless there is one; gives back the one that stands.
    async fn agree<T>(&self, what: &str, ours: &T) -> Result<T, Error>
    where
        T: serde::Serialize + serde::de::DeserializeOwned,
    {
        let key = format!("{what}/{}", self.path);
        let value = serde_json::to_string(ours).unwrap_or_default();
        let standing = self.store.put_if(&key, &value, None, Some(KEEP_FOR)).await?.into_register();
        serde_json::from_str(&standing.value).map_err(|_| {
            Error::Plan(format!(
                "the store's {key} was written by another version; schedule the match with a new epoch"
            ))
        })
    }

    /// Judges a timestamp of the picture; its venue time, if it has one.
    async fn stamp(&mut self, on_air: &mut OnAir, stamp: u64, now: Utc) -> Result<Option<Ticks>, Error> {
        match on_air.watch.see(stamp, now, self.config.epoch) {
            Stamp::Steady(at) => {
                on_air.at = at;
                Ok(Some(at))
            }
            Stamp::AfterGap(at) => {
                tracing::warn!(
                    missing_s = (at - on_air.at).seconds(),
                    "the feed paused; encoding begins anew on the grid"
                );
                on_air.at = at;
                on_air.encoder_ended("the feed paused");
                self.feed.clear();
                Ok(Some(at))
            }
            Stamp::Stray => {
                metrics::counter!("pipeline_stray_timestamps_total").increment(1);
                Ok(None)
            }
            Stamp::Jump => {
                let anchor = self.re_anchor(stamp, on_air).await?;
                tracing::warn!(
                    generation = anchor.generation,
                    "the feed's clock jumped; it has a new anchor"
                );
                on_air.watch.re_anchor(anchor);
                on_air.encoder_ended("the feed's clock jumped");
                on_air.jumped = true;
                self.feed.clear();
                Ok(None)
            }
        }
    }

    /// Agrees on the anchor after the one in force; the first pipeline to notice the jump writes it.
    async fn re_anchor(&self, pts: u64, on_air: &OnAir) -> Result<Anchor, Error> {
        let key = format!("anchor/{}", self.path);
        let old = on_air.watch.anchor();
        let ours = Anchor { generation: old.generation + 1, ..self.new_anchor(pts, &on_air.plan) };
        let mut standing = self.store.get(&key).await?;
        loop {
            let theirs: Option<Anchor> = standing.as_ref().and_then(|r| serde_json::from_str(&r.value).ok());
            if let Some(theirs) = theirs.filter(|a| a.generation > old.generation) {
                return Ok(theirs);
            }
            let version = standing.as_ref().map(|r| r.version);
            let value = serde_json::to_string(&ours).unwrap_or_default();
            match self.store.put_if(&key, &value, version, Some(KEEP_FOR)).await? {
                Outcome::Won(_) => return Ok(ours),
                Outcome::Lost(other) => standing = Some(other),
            }
        }
    }

    fn start_encoder(&mut self, on_air: &mut OnAir) -> Result<(), Error> {
        let Some(keyframe) = self.feed.last_keyframe() else { return Ok(()) };
        let anchor = on_air.watch.anchor();
        let at = anchor.venue(keyframe.pts, on_air.at);
        let grid = on_air.plan.grid;
        let earliest = at.0.max((on_air.at + START_LEAD).0).max(0);
        let msn = grid.next_segment(Ticks(earliest)).max(on_air.last_msn.map_or(0, |last| last + 1));
        let start = Start { msn, keyframe_pts: keyframe.pts, lead: grid.segment_start(msn) - at };
        let encoder = encode::start(&on_air.plan, &self.config.preset, start)?;
        let _ = encoder.feed.try_send(self.demux.tables().into());
        for chunk in self.feed.since(keyframe.chunk) {
            let _ = encoder.feed.try_send(chunk);
        }
        let mut encoder = encoder;
        let outputs = std::mem::take(&mut encoder.outputs);
        let jumped = std::mem::take(&mut on_air.jumped);
        let tracks =
            tracks::Tracks::start(&on_air.plan, outputs, msn, jumped, self.drm.as_ref(), self.out.clone());
        tracing::info!(first_msn = msn, "encoder started");
        on_air.encoder = Some(Running { encoder, tracks, jumped, since: Instant::now() });
        Ok(())
    }

    fn announce(&self, announced: &Announced, plan: &Plan) {
        let programme = timeline::programme::Programme {
            epoch: self.config.epoch,
            grid: plan.grid,
            tracks: plan.announce(&announced.codecs),
        };
        let names = plan.video.iter().map(|r| &r.name).chain(plan.audio.iter().map(|l| &l.name));
        let inits: Vec<(Token, _, _)> = names
            .zip(&announced.inits)
            .flat_map(|(name, inits)| inits.iter().map(|(id, bytes)| (name.clone(), *id, bytes.clone())))
            .collect();
        self.out.send(&Item::Announce(Arc::new(programme), Arc::new(inits)));
        announced.go.cancel();
    }
}

impl OnAir {
    /// Takes the encoder off, and notes when and from which segment on the next may start.
    fn encoder_ended(&mut self, why: &str) {
        let Some(running) = self.encoder.take() else { return };
        // One that got as far as making parts can do so again at once; only those that never start are slowed.
        self.failures = if running.tracks.is_ready() { 1 } else { self.failures + 1 };
        let wait = supervise::backoff(self.failures, fastrand::f64());
        tracing::warn!(why, wait_ms = wait.as_millis() as u64, "the encoder ended; it starts again");
        metrics::counter!("pipeline_encoder_restarts_total").increment(1);
        self.not_before = Instant::now() + wait;
        // What it has not told is still to be told.
        self.jumped |= running.jumped && !running.tracks.is_ready();
        drop(running.encoder);
        self.last_msn = self.last_msn.max(running.tracks.abort());
    }
}

async fn wait(chunks: &mut mpsc::Receiver<Bytes>, running: Option<&mut Running>) -> Wake {
    let Some(running) = running else { return Wake::Chunk(chunks.recv().await) };
    let overdue = running.since + ENCODER_START_MAX;
    let starting = !running.tracks.is_ready();
    tokio::select! {
        chunk = chunks.recv() => Wake::Chunk(chunk),
        announced = running.tracks.ready(), if starting => match announced {
            Some(announced) => Wake::Ready(announced),
            None => Wake::Ended("its outputs closed".into()),
        },
        status = running.encoder.child.wait() => Wake::Ended(match status {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }),
        () = tokio::time::sleep_until(overdue), if starting => Wake::Overdue,
    }
}

/// Now, by this machine's clock.
pub(crate) fn utc_now() -> Utc {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Utc(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
