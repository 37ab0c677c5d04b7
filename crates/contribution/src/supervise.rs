//! Child processes that must keep running: restart with back-off, stderr into our log. Knows nothing of what
//! the children do.

use std::future::Future;
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// The wait before the first restart: short, because most deaths are one-off and the match is on air.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(200);

/// The longest wait between restarts: about a segment. A receiver whose sender is back, or whose place at an SRT
/// listener has become free, must not sleep through the match; an attempt every two seconds costs nothing.
pub const BACKOFF_MAX: Duration = Duration::from_secs(2);

/// A child that lived this long was healthy: its next restart waits [`BACKOFF_FIRST`] again. Twice the longest
/// wait, so that a child which dies slowly is still slowed down.
pub const HEALTHY_AFTER: Duration = Duration::from_secs(4);

/// Lines of a child's stderr that are logged in one [`LOG_WINDOW`]; a decoder that complains about every
/// slice writes thousands.
pub const LOG_LINES: u32 = 20;

/// See [`LOG_LINES`].
pub const LOG_WINDOW: Duration = Duration::from_secs(10);

/// Longest logged line in bytes; the rest of it is dropped.
pub const LOG_LINE_MAX: usize = 400;

/// How a session with a child ended.
#[derive(Debug)]
pub enum Ended {
    /// The work is done: do not restart.
    Done,
    /// It must run again; says why it stopped.
    Again(String),
}

/// Runs sessions one after another until one is [`Ended::Done`] or `shutdown` is cancelled, and waits longer
/// before each when they are short. An error counts as [`Ended::Again`]. On shutdown the session's future is
/// dropped, which kills children made by [`spawn`].
pub async fn keep_running<S, F>(name: &str, shutdown: &CancellationToken, mut session: S)
where
    S: FnMut() -> F,
    F: Future<Output = io::Result<Ended>>,
{
    let mut failures = 0;
    loop {
        let started = Instant::now();
        let ended = tokio::select! {
            () = shutdown.cancelled() => return,
            ended = session() => ended,
        };
        let why = match ended {
            Ok(Ended::Done) => return,
            Ok(Ended::Again(why)) => why,
            Err(error) => error.to_string(),
        };
        failures = if started.elapsed() >= HEALTHY_AFTER { 1 } else { failures + 1 };
        let wait = backoff(failures, fastrand::f64());
        tracing::warn!(child = name, why, wait_ms = wait.as_millis() as u64, "ended; starting it again");
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// The wait before the next start after `failures` in a row: doubled each time, capped, then scaled to between
/// half and all of itself by `random` (0 to 1), so that children that died together do not start together.
pub fn backoff(failures: u32, random: f64) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let full = BACKOFF_FIRST.saturating_mul(1 << doublings).min(BACKOFF_MAX);
    full.mul_f64(0.5 + 0.5 * random.clamp(0.0, 1.0))
}

/// A command that the kernel kills when we die, even by SIGKILL: `setpriv` (util-linux) sets PR_SET_PDEATHSIG and
/// becomes the program. Not every program ends when its stdin does (`srt-live-transmit` stays).
///
/// The signal follows the thread that spawns: spawn from a task or from `block_on`, never from
/// `spawn_blocking`, whose threads come and go.
pub fn command(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", program]);
    command
}

/// Starts a child that is killed when its handle is dropped and whose stderr goes to our log under `name`. The
/// caller sets stdin and stdout.
pub fn spawn(name: &str, command: &mut Command) -> io::Result<Child> {
    let mut child = command.kill_on_drop(true).stderr(Stdio::piped()).spawn()?;
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(log_lines(name.to_owned(), stderr));
    }
    Ok(child)
}

/// Logs lines until the stream ends, at most [`LOG_LINES`] in a [`LOG_WINDOW`].
async fn log_lines(name: String, mut stream: impl AsyncRead + Unpin) {
    let mut limit = Limit::new(Instant::now());
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stream.read(&mut buffer).await {
        for &byte in &buffer[..n] {
            if byte != b'\n' && byte != b'\r' {
                if line.len() < LOG_LINE_MAX {
                    line.push(byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            line.clear();
            if text.is_empty() {
                continue;
            }
            let (allowed, suppressed) = limit.admit(Instant::now());
            if suppressed > 0 {
                tracing::warn!(child = name, suppressed, "lines of its stderr were not logged");
            }
            if allowed {
                tracing::info!(child = name, "{text}");
            }
        }
    }
}

/// A fixed window that counts.
struct Limit {
    window: Instant,
    seen: u32,
}

impl Limit {
    fn new(now: Instant) -> Self {
        Limit { window: now, seen: 0 }
    }

    /// Whether a line may be logged now, and how many were not in the window that this one closes.
    fn admit(&mut self, now: Instant) -> (bool, u32) {
        let mut suppressed = 0;
        if now.duration_since(self.window) >= LOG_WINDOW {
            suppressed = self.seen.saturating_sub(LOG_LINES);
            *self = Limit::new(now);
        }
        self.seen = self.seen.saturating_add(1);
        (self.seen <= LOG_LINES, suppressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn backoff_doubles_is_capped_and_jittered() {
        assert_eq!(backoff(1, 1.0), BACKOFF_FIRST);
        assert_eq!(backoff(2, 1.0), BACKOFF_FIRST * 2);
        assert_eq!(backoff(2, 0.0), BACKOFF_FIRST);
        assert_eq!(backoff(u32::MAX, 1.0), BACKOFF_MAX);
    }

    #[test]
    fn a_flood_of_lines_is_counted_not_logged() {
        let start = Instant::now();
        let mut limit = Limit::new(start);
        let logged = (0..1_000).filter(|_| limit.admit(start).0).count();
        assert_eq!(logged as u32, LOG_LINES);
        assert_eq!(limit.admit(start + LOG_WINDOW), (true, 1_000 - LOG_LINES));
    }

    #[tokio::test]
    async fn a_dead_child_is_started_again_until_done() {
        let starts = Cell::new(0);
        keep_running("test", &CancellationToken::new(), || {
            starts.set(starts.get() + 1);
            let again = starts.get() < 3;
            async move {
                let status = spawn("test", Command::new("sh").args(["-c", "exit 3"]))?.wait().await?;
                assert_eq!(status.code(), Some(3));
                Ok(if again { Ended::Again(status.to_string()) } else { Ended::Done })
            }
        })
        .await;
        assert_eq!(starts.get(), 3);
    }

    #[tokio::test]
    async fn shutdown_kills_the_child() {
        let shutdown = CancellationToken::new();
        let pid = Cell::new(0);
        keep_running("test", &shutdown, || {
            let (shutdown, pid) = (shutdown.clone(), &pid);
            async move {
                let mut child = spawn("test", command("sleep").arg("600"))?;
                pid.set(child.id().unwrap_or(0));
                shutdown.cancel();
                Ok(Ended::Again(child.wait().await?.to_string()))
            }
        })
        .await;
        let stat = format!("/proc/{}/stat", pid.get());
        // Gone, or dead and not yet reaped.
        let dead = || std::fs::read_to_string(&stat).map_or(true, |s| s.contains(") Z "));
        while !dead() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
