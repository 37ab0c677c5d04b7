//! A restart that nobody notices: on SIGHUP a process starts its successor, a new one of the same command, and
//! hands it the sockets that it listens on. It leaves when the successor says that it is ready.
//!
//! Sockets are handed over as by a service manager's socket activation: `LISTEN_FDS` descriptors from 3 on, the
//! listener first, then the one for health and metrics if there is one. A process that was started by another has
//! one more, on which it says that it is ready.

use std::ffi::OsString;
use std::net;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use command_fds::{CommandFdExt, FdMapping};
use listenfd::ListenFd;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The first descriptor that is handed over.
const FIRST_FD: i32 = 3;
/// How long a successor may take to be ready, its objects on disk read.
const READY_MAX: Duration = Duration::from_secs(60);

/// What this process was given.
pub(crate) struct Given {
    fds: ListenFd,
    next: usize,
}

impl Given {
    /// Looks what there is; to be called once.
    pub(crate) fn take() -> Given {
        Given { fds: ListenFd::from_env(), next: 0 }
    }

    /// The next listener, if one was given.
    pub(crate) fn listener(&mut self) -> anyhow::Result<Option<TcpListener>> {
        let given = self.fds.take_tcp_listener(self.next).context("taking over a listener")?;
        self.next += 1;
        let Some(listener) = given else { return Ok(None) };
        listener.set_nonblocking(true).context("taking over a listener")?;
        Ok(Some(TcpListener::from_std(listener)?))
    }

    /// Says that this process is ready to the one that it takes over from, if it does. To be called after the last
    /// listener was taken.
    pub(crate) fn ready(mut self) -> anyhow::Result<()> {
        // A service manager gives no such socket, and has other ways to be told.
        if let Ok(Some(predecessor)) = self.fds.take_unix_datagram(self.next) {
            predecessor.send(b"ready").context("telling the process before this one")?;
        }
        self.next += 1;
        Ok(())
    }
}

/// What is to be handed over, and when.
pub(crate) struct Heritage {
    program: PathBuf,
    arguments: Vec<OsString>,
    listeners: Vec<net::TcpListener>,
    hangup: Signal,
}

impl Heritage {
    /// Of this process. From now on SIGHUP does not end it.
    pub(crate) fn new() -> anyhow::Result<Heritage> {
        Ok(Heritage {
            // The path, not the file: it is by then perhaps another, newer one.
            program: std::env::current_exe().context("finding this program")?,
            arguments: std::env::args_os().skip(1).collect(),
            listeners: Vec::new(),
            hangup: signal(SignalKind::hangup()).context("listening for SIGHUP")?,
        })
    }

    /// Adds a listener.
    pub(crate) fn add(&mut self, listener: TcpListener) -> anyhow::Result<TcpListener> {
        let listener = listener.into_std()?;
        self.listeners.push(listener.try_clone()?);
        Ok(TcpListener::from_std(listener)?)
    }

    /// Hands it over at a SIGHUP, as often as it takes until a successor is ready; then cancels `leave`.
    pub(crate) async fn hand_over(mut self, leave: CancellationToken) {
        while self.hangup.recv().await.is_some() {
            match self.successor().await {
                Ok(process) => {
                    tracing::info!(
                        process,
                        "a new process has taken over; this one ends with its last request"
                    );
                    return leave.cancel();
                }
                Err(error) => tracing::warn!("no new process takes over, so this one goes on: {error:#}"),
            }
        }
    }

    /// Starts one and waits until it is ready. Its number.
    async fn successor(&self) -> anyhow::Result<u32> {
        let (ours, theirs) = UnixDatagram::pair().context("making a socket")?;
        ours.set_nonblocking(true)?;
        let ours = tokio::net::UnixDatagram::from_std(ours)?;
        let mut fds = Vec::new();
        for listener in &self.listeners {
            fds.push(OwnedFd::from(listener.try_clone()?));
        }
        fds.push(theirs.into());
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).env("LISTEN_FDS", fds.len().to_string()).env_remove("LISTEN_PID");
        let numbered = (FIRST_FD..).zip(fds);
        command
            .fd_mappings(numbered.map(|(child_fd, parent_fd)| FdMapping { parent_fd, child_fd }).collect())?;
        let mut child = tokio::process::Command::from(command)
            .spawn()
            .with_context(|| format!("starting {}", self.program.display()))?;
        let process = child.id().unwrap_or_default();
        let mut word = [0; 16];
        tokio::select! {
            said = ours.recv(&mut word) => said.map(|_| process).context("waiting until it is ready"),
            ended = child.wait() => bail!("it ended at once ({})", ended?),
            () = sleep(READY_MAX) => {
                child.kill().await?;
                bail!("it was not ready within {} s", READY_MAX.as_secs());
            }
        }
    }
}
