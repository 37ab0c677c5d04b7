//! Child processes that never outlive us: each ends when its handle is dropped, and, however we end, when its
//! standard input does. Other people's servers do not look at theirs: they are sent SIGTERM.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// A child that was asked to end is ended after this: an edge drains for up to 10 s.
const END_MAX: Duration = Duration::from_secs(12);

/// Tells a role that it has a parent: it ends gently with its standard input.
const SUPERVISED: &str = "PAVILION_SUPERVISED";

/// Lines of a log that are worth showing.
const LOG_LINES: usize = 5;

/// Where children are started, and what waits for their end.
pub(crate) struct Nursery {
    pavilion: PathBuf,
    scratch: tempfile::TempDir,
    tracker: TaskTracker,
}

/// How a child is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    Stdin,
    Signal,
}

/// A child process. Dropping it ends it.
pub(crate) struct Child {
    name: String,
    pid: u32,
    log: PathBuf,
    ended: watch::Receiver<Option<String>>,
    _end: DropGuard,
}

impl Nursery {
    /// For roles of that program.
    pub(crate) fn new(pavilion: PathBuf) -> anyhow::Result<Nursery> {
        let scratch =
            tempfile::Builder::new().prefix("pavilion-bench-").tempdir().context("a folder for logs")?;
        Ok(Nursery { pavilion, scratch, tracker: TaskTracker::new() })
    }

    /// A folder for files of this run.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Keeps the folder after the end, for someone to look into.
    pub(crate) fn keep_logs(mut self) -> PathBuf {
        self.scratch.disable_cleanup(true);
        self.scratch.path().to_owned()
    }

    /// Starts a role. `name` is for people, and for its log.
    pub(crate) fn role(&self, name: &str, args: &[String]) -> anyhow::Result<Child> {
        let mut command = Command::new(&self.pavilion);
        command.args(args);
        self.supervised(name, command)
    }

    /// Starts a role on one core.
    pub(crate) fn role_on(&self, core: usize, name: &str, args: &[String]) -> anyhow::Result<Child> {
        let mut command = Command::new("taskset");
        command.args(["-c", &core.to_string()]).arg(&self.pavilion).args(args);
        self.supervised(name, command)
    }

    /// Starts a role, however it is called.
    pub(crate) fn supervised(&self, name: &str, mut command: Command) -> anyhow::Result<Child> {
        command.env(SUPERVISED, "1").env("PAVILION_LOG", "warn").stdout(Stdio::null());
        self.start(name, command)
    }

    /// Starts a program that ends with its standard input.
    pub(crate) fn start(&self, name: &str, command: Command) -> anyhow::Result<Child> {
        self.spawn(name, command, Asking::Stdin)
    }

    /// Starts a program that ends with SIGTERM. What it says goes to its log.
    pub(crate) fn service(&self, name: &str, command: Command) -> anyhow::Result<Child> {
        self.spawn(name, command, Asking::Signal)
    }

    fn spawn(&self, name: &str, mut command: Command, asking: Asking) -> anyhow::Result<Child> {
        let log = self.scratch.path().join(format!("{name}.log"));
        let said = File::create(&log)?;
        if asking == Asking::Signal {
            command.stdout(said.try_clone()?);
        }
        // Ctrl-C reaches us, and we end it gently.
        command.stdin(Stdio::piped()).stderr(said).process_group(0).kill_on_drop(true);
        let mut process = command.spawn().with_context(|| format!("starting {name}"))?;
        let pid = process.id().with_context(|| format!("{name} ended at once"))?;
        let stdin = process.stdin.take();
        let end = CancellationToken::new();
        let (said, ended) = watch::channel(None);
        let asked = end.clone();
        self.tracker.spawn(async move {
            let status = tokio::select! {
                status = process.wait() => status,
                () = asked.cancelled() => {
                    drop(stdin);
                    // It has not been waited for, so the number is still its own.
                    if asking == Asking::Signal && let Some(pid) = Pid::from_raw(pid as i32) {
                        let _ = kill_process(pid, Signal::TERM);
                    }
                    match tokio::time::timeout(END_MAX, process.wait()).await {
                        Ok(status) => status,
                        Err(_) => process.kill().await.and(process.wait().await),
                    }
                }
            };
            said.send_replace(Some(status.map_or_else(|e| e.to_string(), |s| s.to_string())));
        });
        Ok(Child { name: name.to_owned(), pid, log, ended, _end: end.drop_guard() })
    }

    /// Waits until all whose handles were dropped have ended.
    pub(crate) async fn empty(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl Child {
    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Refuses one that has ended, with the end of its log.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        match &*self.ended.borrow() {
            None => Ok(()),
            Some(status) => bail!("{} ended ({status}): {}", self.name, self.last_words()),
        }
    }

    /// Waits for its end; an error unless it ended well.
    pub(crate) async fn finished(&self) -> anyhow::Result<()> {
        let mut ended = self.ended.clone();
        let status = ended.wait_for(Option::is_some).await.context("nobody waits for it")?.clone();
        match status.as_deref() {
            Some("exit status: 0") => Ok(()),
            _ => self.check(),
        }
    }

    fn last_words(&self) -> String {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().rev().take(LOG_LINES).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
    }
}

/// A TCP port that nobody has now. Another process could take it before our child does; then the child says so.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Likewise for UDP.
pub(crate) fn free_udp_port() -> anyhow::Result<u16> {
    Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_child_ends_with_its_handle_or_says_how_it_ended() {
        let nursery = Nursery::new("pavilion".into()).unwrap();
        let child = nursery.start("cat", Command::new("cat")).unwrap();
        child.check().unwrap();
        let pid = child.pid();
        drop(child);
        nursery.empty().await;
        assert!(crate::proc::cpu_seconds(pid).is_err());

        // It never looks at its standard input.
        let mut sleeps = Command::new("sleep");
        sleeps.arg("1000");
        let ended = nursery.service("sleep", sleeps).unwrap().ended.clone();
        nursery.empty().await;
        assert!(ended.borrow().as_deref().unwrap().contains("signal: 15"));

        let mut fails = Command::new("sh");
        fails.args(["-c", "echo sorry >&2; exit 3"]);
        let said = nursery.start("sh", fails).unwrap().finished().await.unwrap_err().to_string();
        assert!(said.contains("exit status: 3") && said.contains("sorry"), "{said}");
    }
}
