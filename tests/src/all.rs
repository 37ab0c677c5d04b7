//! A whole match by `pavilion run`.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use tempfile::TempDir;
use timeline::name::Letter;
use timeline::{Position, Utc};

use crate::machine::{self, Trouble};
use crate::program::Program;
use crate::web::Web;
use crate::{process, until};

/// From the start to the first playlist. The ground speaks first, encoders begin at a boundary, and three other
/// matches may be starting.
const ON_AIR_MAX: Duration = Duration::from_secs(40);

/// What differs between tests.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Size of the ground's picture.
    pub size: &'a str,
    /// The bitrate ladder.
    pub ladder: &'a str,
    /// With the score plane; without it several matches fit on one machine.
    pub scores: bool,
    /// With a pass for each viewer; without it the edge is opened by a word, which [`Match::edge`] has.
    pub passes: bool,
    /// More flags.
    pub more: Vec<&'a str>,
}

impl Default for Options<'_> {
    /// The smallest picture in which the block code is read.
    fn default() -> Self {
        Options { size: "320x180", ladder: "180@200", scores: false, passes: false, more: Vec::new() }
    }
}

/// A match on air.
pub struct Match {
    /// The all-in-one.
    pub program: Program,
    /// For requests.
    pub web: Web,
    folder: TempDir,
}

/// `ports.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Ports {
    /// The page.
    pub app: String,
    /// The edge.
    pub edge: String,
    /// The operators' port.
    pub console: String,
    /// The origin.
    pub origin: String,
    /// The shield.
    pub shield: String,
    /// `/metrics` of all.
    pub metrics: String,
    /// The match's name.
    pub r#match: String,
    /// Its run.
    pub run: String,
    /// Its epoch.
    pub epoch: Utc,
    /// The children.
    pub pids: Pids,
}

/// Processes of the children; 0 for one that is not running.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Pids {
    /// Pipeline A.
    pub a: u32,
    /// Pipeline B.
    pub b: u32,
    /// The ground.
    pub stadium: u32,
}

/// What the origin says of the programme.
#[derive(Clone, Debug, Deserialize)]
pub struct Status {
    /// By its clock.
    pub clock: Position,
    /// Whether the match has ended.
    pub ended: bool,
    /// The tracks.
    pub tracks: Vec<Track>,
}

/// What the origin says of a track.
#[derive(Clone, Debug, Deserialize)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// Listed segments.
    pub segments: usize,
    /// The newest listed part.
    pub last: Option<Position>,
    /// Parts listed as gaps.
    pub gaps_parts: u64,
    /// Segments listed as gaps.
    pub gaps_segments: u64,
    /// How pipeline A is.
    pub a: Pipeline,
    /// How pipeline B is.
    pub b: Pipeline,
}

/// What the origin says of a pipeline's track.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Pipeline {
    /// Its next part is not overdue.
    pub alive: bool,
    /// The newest part that arrived.
    pub last: Option<Position>,
}

impl Track {
    /// One of the two.
    pub fn pipeline(&self, letter: Letter) -> Pipeline {
        match letter {
            Letter::A => self.a,
            Letter::B => self.b,
        }
    }
}

impl Match {
    /// Starts one and waits until it has a playlist and both pipelines deliver.
    pub async fn start(options: &Options<'_>) -> Match {
        let game = Match::launch(options);
        game.on_air().await;
        game
    }

    /// Starts one.
    pub fn launch(options: &Options<'_>) -> Match {
        machine::watch();
        let folder = tempfile::tempdir().unwrap();
        let var = folder.path().display().to_string();
        let mut args = vec!["run", "--no-open", "--port", "0", "--var", &var, "--size", options.size];
        args.extend(["--ladder", options.ladder]);
        if !options.scores {
            args.push("--no-scores");
        }
        if !options.passes {
            args.extend(["--pass", "open"]);
        }
        args.extend(&options.more);
        let program = Program::start(folder.path(), "run", &args);
        Match { program, web: Web::default(), folder }
    }

    /// Waits until it has a playlist and both pipelines deliver all tracks.
    pub async fn on_air(&self) {
        until("the match on air, with both pipelines", ON_AIR_MAX, async || {
            let status = self.try_status().await?;
            let both = |t: &Track| t.last.is_some() && t.a.alive && t.b.alive;
            status.tracks.iter().all(both).then_some(())
        })
        .await;
    }

    /// Waits until viewers can hold back as far as they like: four segments are listed.
    pub async fn has_a_past(&self) {
        until("four segments", ON_AIR_MAX, async || {
            let status = self.try_status().await?;
            status.tracks.iter().all(|t| t.segments >= 4).then_some(())
        })
        .await;
    }

    /// When the machine, or the ground on it, was in no state to show anything.
    pub fn trouble(&self) -> Trouble {
        Trouble::of(&self.program.log())
    }

    /// Its folder, with logs and `ports.json`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where everything is, if it has got that far.
    pub fn try_ports(&self) -> Option<Ports> {
        let text = std::fs::read(self.folder.path().join("ports.json")).ok()?;
        Some(serde_json::from_slice(&text).unwrap())
    }

    /// Where everything is.
    pub fn ports(&self) -> Ports {
        self.try_ports().unwrap()
    }

    /// The programme's path, `{match}/{run}/main`.
    pub fn path(&self) -> String {
        let ports = self.ports();
        format!("{}/{}/main", ports.r#match, ports.run)
    }

    /// A programme's object at the edge, which is opened by a word.
    pub fn edge(&self, rest: &str) -> String {
        format!("{}/open/{}/{rest}", self.ports().edge, self.path())
    }

    /// A programme's object at the origin.
    pub fn origin(&self, rest: &str) -> String {
        format!("{}/{}/{rest}", self.ports().origin, self.path())
    }

    /// The multivariant playlist at the edge.
    pub fn master(&self) -> String {
        self.edge("hls/master.m3u8")
    }

    /// What the origin says, if it knows the programme.
    pub async fn try_status(&self) -> Option<Status> {
        let ports = self.try_ports()?;
        let url = format!("{}/{}/{}/main/status.json", ports.origin, ports.r#match, ports.run);
        let answer = self.web.try_get(&url).await.ok()?;
        (answer.status == 200).then(|| serde_json::from_slice(&answer.body).unwrap())
    }

    /// What the origin says.
    pub async fn status(&self) -> Status {
        self.try_status().await.unwrap()
    }

    /// A pipeline's process, once it runs.
    pub async fn pipeline(&self, letter: Letter) -> u32 {
        until(&format!("pipeline {letter}'s process"), ON_AIR_MAX, async || {
            let pids = self.ports().pids;
            let pid = if letter == Letter::A { pids.a } else { pids.b };
            process::alive(pid).then_some(pid)
        })
        .await
    }

    /// A pipeline's encoder, once it runs.
    pub async fn encoder(&self, letter: Letter) -> u32 {
        let pipeline = self.pipeline(letter).await;
        until(&format!("pipeline {letter}'s encoder"), ON_AIR_MAX, async || {
            process::children(pipeline, "ffmpeg").first().copied()
        })
        .await
    }

    /// Waits until a pipeline that was killed at `clock` is noticed as dead, and then until it delivers every
    /// track again, one segment of each from its beginning on: the one in which it came back may lack its first parts.
    pub async fn back(&self, letter: Letter, clock: Position, limit: Duration) {
        // One that comes back without a missing part is never noticed.
        let dead = until(&format!("pipeline {letter} noticed as dead"), limit, async || {
            let status = self.try_status().await?;
            let dead = |t: &Track| !t.pipeline(letter).alive;
            let new = |t: &Track| t.pipeline(letter).last.is_some_and(|last| last.msn > clock.msn + 1);
            (status.tracks.iter().all(dead) || status.tracks.iter().all(new)).then_some(status)
        })
        .await;
        let came = until(&format!("pipeline {letter} back"), limit, async || {
            let status = self.try_status().await?;
            let back = status.tracks.iter().zip(&dead.tracks).all(|(now, then)| {
                let (now, then) = (now.pipeline(letter), then.pipeline(letter));
                now.alive && (now.last > then.last || then.alive)
            });
            back.then_some(status)
        })
        .await;
        until(&format!("pipeline {letter} as good as before"), limit, async || {
            let status = self.try_status().await?;
            let msn = |t: &Track| t.pipeline(letter).last.map(|last| last.msn);
            let good = status.tracks.iter().zip(&came.tracks).all(|(now, then)| msn(now) > msn(then));
            good.then_some(())
        })
        .await;
    }
}
