//! The ground: a live contribution feed over two paths at once. It is generated (a moving picture, commentary
//! in three languages, the venue clock for people and for machines, and the score of a match that is played from a
//! recording) or a copy of any feed that ffmpeg reads.
//!
//! Path A is an SRT listener, path B is UDP; both carry the same MPEG-TS bytes, so the same PTS. In the
//! generated feed PTS is UTC: a frame that shows the instant T has the PTS [`pts`]`(T)` and is handed to the
//! encoder at T, and sound is exact to the sample on the same scale.

mod backdrop;
pub mod blockcode;
mod bug;
mod clock;
mod commentary;
mod config;
mod error;
mod feed;
mod font;
mod frame;
mod ground;
mod mkv;
mod paths;
mod play;
mod program;
mod scene;
mod score;
mod scoreboard;
mod sound;

use tokio_util::sync::CancellationToken;

pub use clock::{CATCH_UP_MS, FRAME_MS, pts};
pub use config::{Config, Size};
pub use error::Error;
pub use sound::{PIP_HZ, PIP_SAMPLES, SAMPLE_HZ};

use feed::Feed;
use ground::Ground;
use paths::{Bus, Udp};
use program::SRT;

/// Whether a file can be carried, before anything is started for it. A live feed is not asked: it may come
/// later, and some senders speak to their first caller only.
pub async fn check(input: &str, looped: bool) -> Result<(), Error> {
    if input.contains("://") && !input.starts_with("file:") {
        return Ok(());
    }
    Feed::inspect(input, looped).await.map(drop)
}

/// Runs the ground until `shutdown` is cancelled or a file that is not looped has ended. What is wrong with the
/// configuration or this machine shows before anything is on air; after that nothing stops it.
pub async fn run(config: Config, shutdown: CancellationToken) -> Result<(), Error> {
    // Everything that can be refused comes first, the cheapest before the dearest.
    SRT.installed("-version").await?;
    let udp = Udp::open(&config.udp).await?;
    let source = match &config.input {
        Some(input) => Source::Feed(Feed::inspect(input, config.looped).await?),
        None => Source::Ground(Box::new(Ground::prepare(&config).await?)),
    };

    // The paths listen before the source speaks, so that its first byte is on both.
    let bus = Bus::new();
    let from = bus.receiver();
    let ended = shutdown.child_token();
    let _end_with_us = ended.clone().drop_guard();
    let path_b = async {
        tokio::select! {
            () = udp.run(from) => {}
            () = ended.cancelled() => {}
        }
    };
    let source = async {
        match source {
            Source::Ground(ground) => ground.run(&bus, &ended).await,
            Source::Feed(feed) => feed.run(&bus, &ended).await,
        }
        ended.cancel();
    };
    tokio::join!(paths::srt(config.srt_port, &bus, &ended), path_b, source);
    Ok(())
}

enum Source {
    Ground(Box<Ground>),
    Feed(Feed),
}
