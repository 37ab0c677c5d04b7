//! An origin with a long window, without waiting for it: a recording is published through the same door as a
//! pipeline's parts, from an epoch that lies a window back up to now, and then at the clock's pace.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use loadgen::http::Client;
use timeline::grid::AAC_FRAME;
use timeline::name::{Kind, Letter, Object, ProgrammePath};
use timeline::object::Meta;
use timeline::programme::Programme;
use timeline::{Grid, Position, Ticks, Utc};
use tokio::runtime::{self, Handle, Runtime};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::recording::{Recorded, Recording};
use crate::air::{Status, now};
use crate::http::{Publisher, get, json, until};
use crate::nursery::{Child, Nursery, free_port};

/// The first segment that is published: those before it fall out of the window while it is being filled.
const FIRST_MSN: u64 = 4;
/// How long after its end a part is published, as if an encoder had made it.
const ENCODED_AFTER: Ticks = Ticks(13_500);
/// Room for an hour of any ladder: the window is to be bounded by its length here, not by its bytes.
const WINDOW_MB: &str = "8000";
/// For the origin to open its door.
const READY_MAX: Duration = Duration::from_secs(20);
/// For an hour of seven tracks, both letters: 160,000 objects, which take half a minute on two free cores.
const FILL_MAX: Duration = Duration::from_secs(600);

/// How the lanes are doing.
#[derive(Debug)]
struct Progress {
    /// Lanes that have not reached the clock.
    behind: usize,
    /// Why the first one ended that did; none should.
    failed: Option<String>,
}

/// An origin, and tasks that publish to it.
pub(crate) struct Hour {
    origin: Child,
    /// Its programme: `http://…/{match}/{run}/{programme}`.
    pub(crate) base: String,
    /// Of which it has a full window.
    pub(crate) programme: Programme,
    filled_in: Duration,
    filled_bytes: u64,
    progress: watch::Receiver<Progress>,
    _lanes: JoinSet<()>,
    side: Side,
}

/// A thread of its own for what must keep its pace while this program plays a crowd.
struct Side(Option<Runtime>);

impl Side {
    fn start() -> anyhow::Result<Side> {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("side")
            .enable_all()
            .build()?;
        Ok(Side(Some(runtime)))
    }

    fn handle(&self) -> Handle {
        self.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // A runtime may not wait for its end inside another one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Hour {
    /// Starts the origin and fills its window.
    pub(crate) async fn start(
        nursery: &Nursery,
        recording: Recording,
        window: Duration,
        client: &Client,
    ) -> anyhow::Result<Hour> {
        let port = free_port()?;
        let store = nursery.scratch().join("hour.db").display().to_string();
        let listen = format!("127.0.0.1:{port}");
        let window_s = window.as_secs().to_string();
        let args = [
            "origin",
            "--listen",
            &listen,
            "--store",
            &store,
            "--window-s",
            &window_s,
            "--window-mb",
            WINDOW_MB,
        ];
        let origin = nursery.role("origin of the long window", &args.map(str::to_owned))?;
        until("the origin listens", READY_MAX, async || {
            origin.check()?;
            Ok(get(client, &format!("http://{listen}/livez")).await.ok())
        })
        .await?;

        let epoch = Utc(now().0 - window.as_micros() as i64);
        let path =
            ProgrammePath { r#match: "long".parse()?, run: epoch.run().parse()?, programme: "main".parse()? };
        let base = format!("http://{listen}/{path}");
        let programme = Programme { epoch, ..recording.programme };
        let publisher = Publisher::new(base.clone());
        let began = Instant::now();
        publisher.put("programme.json", None, serde_json::to_vec(&programme)?.into()).await?;
        for track in &recording.tracks {
            let object = Object { track: track.name.clone(), kind: Kind::Init(track.init_id) };
            publisher.put(&object.to_string(), None, track.init.clone()).await?;
        }
        let (said, mut progress) = watch::channel(Progress { behind: recording.tracks.len(), failed: None });
        let (said, sent) = (Arc::new(said), Arc::new(AtomicU64::new(0)));
        let (side, mut lanes) = (Side::start()?, JoinSet::new());
        for (track, announced) in recording.tracks.into_iter().zip(&programme.tracks) {
            let lane = Lane {
                track,
                audio: !announced.is_video(),
                grid: programme.grid,
                epoch,
                base: base.clone(),
                // Connections belong to the runtime that made them.
                publisher: Publisher::new(base.clone()),
                client: Client::default(),
                sent: sent.clone(),
            };
            let said = said.clone();
            let publishing = async move {
                if let Err(error) = lane.run(&said).await {
                    said.send_modify(|p| p.failed = Some(format!("publishing ended: {error:#}")));
                }
            };
            lanes.spawn_on(publishing, &side.handle());
        }
        let full = progress.wait_for(|p| p.behind == 0 || p.failed.is_some());
        let full = tokio::time::timeout(FILL_MAX, full).await;
        full.with_context(|| format!("no full window in {} s", FILL_MAX.as_secs()))?
            .context("nobody publishes")?;
        let (filled_in, filled_bytes) = (began.elapsed(), sent.load(Ordering::Relaxed));
        let hour = Hour { origin, base, programme, filled_in, filled_bytes, progress, _lanes: lanes, side };
        hour.check()?;
        // While it was filled, the clock went on; until the first segment leaves, the window is not at its length.
        let most = (window.as_secs_f64() / hour.segment_s()) as u64;
        until("the window is at its length", READY_MAX, async || {
            let status = hour.status(client).await?;
            Ok(status.tracks.iter().all(|t| t.segments >= most).then_some(()))
        })
        .await?;
        Ok(hour)
    }

    /// An error when anything of it has ended.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.origin.check()?;
        match &self.progress.borrow().failed {
            None => Ok(()),
            Some(why) => anyhow::bail!("{why}"),
        }
    }

    /// The origin's state.
    pub(crate) async fn status(&self, client: &Client) -> anyhow::Result<Status> {
        json(client, &format!("{}/status.json", self.base)).await
    }

    /// Where tasks run that must keep their pace.
    pub(crate) fn side(&self) -> Handle {
        self.side.handle()
    }

    /// Parts that are listed as gaps.
    pub(crate) async fn gaps(&self, client: &Client) -> anyhow::Result<u64> {
        Ok(self.status(client).await?.tracks.iter().map(|t| t.gaps_parts).sum())
    }

    /// The origin's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.origin.pid()
    }

    /// Length of a segment, in seconds.
    pub(crate) fn segment_s(&self) -> f64 {
        self.programme.grid.segment().seconds()
    }

    /// Media bytes that filled the window, of both letters.
    pub(crate) fn sent_bytes(&self) -> u64 {
        self.filled_bytes
    }

    /// How long that took.
    pub(crate) fn filled_in(&self) -> Duration {
        self.filled_in
    }
}

/// Both pipelines' publishing of one track.
struct Lane {
    track: Recorded,
    audio: bool,
    grid: Grid,
    epoch: Utc,
    base: String,
    publisher: Publisher,
    client: Client,
    sent: Arc<AtomicU64>,
}

impl Lane {
    /// Publishes without end, and says when it has reached the clock.
    async fn run(self, progress: &watch::Sender<Progress>) -> anyhow::Result<()> {
        let mut at = Position { msn: FIRST_MSN, part: 0 };
        let mut late = true;
        loop {
            let due = self.epoch.plus(self.grid.part_start(self.grid.next(at)) + ENCODED_AFTER);
            if let Ok(early @ 1..) = u64::try_from(due.0.saturating_sub(now().0)) {
                if std::mem::take(&mut late) {
                    progress.send_modify(|p| p.behind -= 1);
                }
                tokio::time::sleep(Duration::from_micros(early)).await;
            }
            for letter in Letter::ALL {
                self.put(at, letter).await?;
            }
            let next = self.grid.next(at);
            if late && next.part == 0 {
                // No faster than the origin can list, which it does of A's.
                let kind = Kind::Part { msn: at.msn, letter: Letter::A, part: at.part };
                let object = Object { track: self.track.name.clone(), kind };
                get(&self.client, &format!("{}/{object}", self.base)).await?;
            }
            at = next;
        }
    }

    async fn put(&self, at: Position, letter: Letter) -> anyhow::Result<()> {
        let segment = &self.track.segments[at.msn as usize % self.track.segments.len()];
        let part = segment.get(at.part as usize).context("a segment of fewer parts")?;
        let (start, end) = (self.boundary(at), self.boundary(self.grid.next(at)));
        let meta = Meta {
            start,
            duration: end - start,
            independent: part.independent || self.audio,
            init: self.track.init_id,
            last: self.grid.next(at).part == 0,
            encoded_at_us: now().0,
            defects: Vec::new(),
            protection: None,
        };
        let bytes = part.stamped(start.rescale(self.track.timescale) as u64)?;
        self.sent.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let kind = Kind::Part { msn: at.msn, letter, part: at.part };
        let object = Object { track: self.track.name.clone(), kind };
        self.publisher.put(&object.to_string(), Some(&meta), bytes).await
    }

    /// Where a part begins: sound at the first AAC frame that starts in it.
    fn boundary(&self, at: Position) -> Ticks {
        let start = self.grid.part_start(at);
        if self.audio { Ticks(Grid::audio_frame_at_or_after(start) * AAC_FRAME.0) } else { start }
    }
}
