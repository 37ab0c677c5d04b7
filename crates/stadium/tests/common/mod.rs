//! A receiver for each path, and foreign programs that look at what came.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stadium::{Config, Error};
use tokio::net::UdpSocket;
use tokio_util::sync::CancellationToken;

/// Nothing here takes longer unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A ground on free ports, with our receiver of path B.
pub(crate) struct OnAir {
    pub(crate) config: Config,
    pub(crate) path_b: UdpSocket,
    pub(crate) shutdown: CancellationToken,
    pub(crate) running: tokio::task::JoinHandle<Result<(), Error>>,
}

/// A UDP port that was free just now.
pub(crate) fn free_port() -> u16 {
    std::net::UdpSocket::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

pub(crate) async fn start(change: impl FnOnce(&mut Config)) -> OnAir {
    let path_b = UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
    let mut config = Config {
        srt_port: free_port(),
        udp: path_b.local_addr().unwrap().to_string(),
        size: "640x360".parse().unwrap(),
        ..Config::default()
    };
    change(&mut config);
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(stadium::run(config.clone(), shutdown.clone()));
    OnAir { config, path_b, shutdown, running }
}

impl OnAir {
    /// Datagrams of path B until `enough` says so of the bytes so far.
    pub(crate) async fn receive(&mut self, mut enough: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = [0; 2048];
        let deadline = Instant::now() + PATIENCE;
        while !enough(&all) {
            let left = deadline.saturating_duration_since(Instant::now());
            tokio::select! {
                read = tokio::time::timeout(left, self.path_b.recv(&mut buffer)) => {
                    all.extend_from_slice(&buffer[..read.expect("path B went silent").unwrap()]);
                }
                ended = &mut self.running => panic!("the ground ended: {ended:?}"),
            }
        }
        all
    }

    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        tokio::time::timeout(PATIENCE, self.running).await.expect("it does not stop").unwrap().unwrap();
    }
}

/// Output of a program over bytes.
pub(crate) fn filter(program: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().unwrap().stdout
    })
}

/// One line for each packet of a stream (`v:0`, `a:1`): its PTS, and whether it is a keyframe.
pub(crate) fn packets(ts: &[u8], stream: &str) -> Vec<(u64, bool)> {
    let args =
        ["-v", "quiet", "-f", "mpegts", "-select_streams", stream, "-show_entries", "packet=pts,flags"];
    let out = filter("ffprobe", &[&args[..], &["-of", "csv=p=0", "-i", "pipe:0"]].concat(), ts);
    let lines = String::from_utf8(out).unwrap();
    lines
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(',');
            Some((fields.next()?.parse().ok()?, fields.next()?.starts_with('K')))
        })
        .collect()
}
