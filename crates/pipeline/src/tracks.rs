//! The encoder's outputs: one task for each track reads its pipe, packages, and hands parts to the publishers
//! once the programme has been announced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use cmaf::{reader, writer};
use timeline::Grid;
use timeline::name::{InitId, Token};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::package::{self, Cadence, Packager, Part};
use crate::plan::Plan;
use crate::protect::Drm;
use crate::publish::Item;
use crate::run::{Out, utc_now};

/// Parts that wait for the announcement, at most: an encoder that has not begun every track by then
/// ([`crate::run`] gives it ten seconds) is started again.
const HELD_MAX: usize = 40;
/// One read of a pipe; a whole frame of the best rung fits most of the time.
const READ: usize = 64 << 10;

/// A track's init segments: one, or one for clear segments and one for those that follow.
pub(crate) type InitSegments = Vec<(InitId, Bytes)>;

/// All tracks of one run of the encoder.
pub(crate) struct Tracks {
    tasks: JoinSet<()>,
    inits: mpsc::Receiver<(usize, String, InitSegments)>,
    /// What has been read of the inits, by track.
    known: Vec<Option<(String, InitSegments)>>,
    go: CancellationToken,
    /// One more than the last MSN of which a part was handed on; 0 for none.
    touched: Arc<AtomicU64>,
    ready: bool,
}

/// Every track's configuration: the programme can be announced.
pub(crate) struct Announced {
    /// RFC 6381, in the plan's order.
    pub(crate) codecs: Vec<String>,
    /// Init segments of each track, in the plan's order.
    pub(crate) inits: Vec<InitSegments>,
    /// To be cancelled when the announcement has been handed over: parts follow.
    pub(crate) go: CancellationToken,
}

impl Tracks {
    /// Starts reading. Time 0 of the outputs is segment `first_msn`.
    pub(crate) fn start(
        plan: &Plan,
        outputs: Vec<pipe::Receiver>,
        first_msn: u64,
        jumped: bool,
        drm: Option<&Drm>,
        out: Out,
    ) -> Tracks {
        let (sender, inits) = mpsc::channel(plan.tracks().max(1));
        let go = CancellationToken::new();
        let touched = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let names = plan.video.iter().map(|r| &r.name).chain(plan.audio.iter().map(|l| &l.name));
        for (index, (pipe, name)) in outputs.into_iter().zip(names).enumerate() {
            let track = Track {
                index,
                name: name.clone(),
                grid: plan.grid,
                cadence: if index < plan.video.len() { Cadence::Video } else { Cadence::Audio },
                first_msn,
                jumped,
                drm: drm.map(|drm| (drm.clone(), plan.class(index))),
                inits: sender.clone(),
                go: go.clone(),
                out: out.clone(),
                touched: touched.clone(),
            };
            tasks.spawn(async move {
                if let Err(error) = track.read(pipe).await {
                    tracing::error!(%error, "an encoder's output cannot be read");
                }
            });
        }
        Tracks { tasks, inits, known: vec![None; plan.tracks()], go, touched, ready: false }
    }

    /// Whether [`Self::ready`] has answered.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready
    }

    /// Waits until every track has its configuration; `None` if they ended before. Cancel safe.
    pub(crate) async fn ready(&mut self) -> Option<Announced> {
        while self.known.iter().any(Option::is_none) {
            let (index, codecs, inits) = self.inits.recv().await?;
            if let Some(place) = self.known.get_mut(index) {
                *place = Some((codecs, inits));
            }
        }
        self.ready = true;
        let known = self.known.iter().flatten();
        let (codecs, inits) = known.cloned().unzip();
        Some(Announced { codecs, inits, go: self.go.clone() })
    }

    /// Stops reading; the last MSN of which a part was handed on.
    pub(crate) fn abort(mut self) -> Option<u64> {
        self.tasks.abort_all();
        self.touched.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Reads to the end; the last MSN of which a part was handed on.
    pub(crate) async fn finish(mut self) -> Option<u64> {
        while self.tasks.join_next().await.is_some() {}
        self.touched.load(Ordering::Relaxed).checked_sub(1)
    }
}

struct Track {
    index: usize,
    name: Token,
    grid: Grid,
    cadence: Cadence,
    first_msn: u64,
    jumped: bool,
    drm: Option<(Drm, drm::Class)>,
    inits: mpsc::Sender<(usize, String, InitSegments)>,
    go: CancellationToken,
    out: Out,
    touched: Arc<AtomicU64>,
}

impl Track {
    async fn read(self, mut pipe: pipe::Receiver) -> Result<(), package::Error> {
        let mut reader = reader::Reader::new();
        let mut packager: Option<Packager> = None;
        let mut buffer = BytesMut::with_capacity(READ);
        // Nothing goes out before the programme is known, but the pipe must be read all the same: ffmpeg writes
        // to one output after the other, and a full pipe of one would keep it from ever beginning the next.
        let mut held = Some(Vec::new());
        loop {
            buffer.clear();
            let read = tokio::select! {
                read = pipe.read_buf(&mut buffer) => read,
                () = self.go.cancelled(), if held.is_some() => {
                    for part in held.take().unwrap_or_default() {
                        self.send(part);
                    }
                    continue;
                }
            };
            match read {
                Ok(0) | Err(_) => return Ok(()),
                Ok(_) => {}
            }
            let now_us = utc_now().0;
            reader.push(&buffer);
            while let Some(event) = reader.next_event()? {
                match event {
                    reader::Event::Init(track) => {
                        let bytes = writer::init(&track)?;
                        let id = writer::init_id(&bytes);
                        let clear = Packager::new(
                            self.grid,
                            self.cadence,
                            track.timescale,
                            id,
                            self.first_msn,
                            self.jumped,
                        );
                        let mut inits = vec![(id, bytes)];
                        packager = Some(match &self.drm {
                            None => clear,
                            Some((drm, class)) => {
                                let (protect, init) = drm.track(&track, *class, &self.grid)?;
                                if !protect.clears() {
                                    inits.clear();
                                }
                                inits.push(init);
                                clear.protected(protect)
                            }
                        });
                        if self.inits.send((self.index, track.codecs(), inits)).await.is_err() {
                            return Ok(());
                        }
                    }
                    reader::Event::Sample(sample) => {
                        let Some(packager) = &mut packager else { continue };
                        for part in packager.push(sample, now_us)? {
                            match &mut held {
                                Some(held) if held.len() < HELD_MAX => held.push(part),
                                Some(_) => {}
                                None => self.send(part),
                            }
                        }
                    }
                }
            }
        }
    }

    fn send(&self, part: Part) {
        self.touched.fetch_max(part.at.msn.saturating_add(1), Ordering::Relaxed);
        self.out.send(&Item::Part(self.name.clone(), part));
    }
}
