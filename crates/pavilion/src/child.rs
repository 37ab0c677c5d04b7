//! Roles as child processes of the all-in-one, so that either half can be killed and the other carries on.

use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use contribution::supervise::{self, Ended};
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

/// Set for a role that an all-in-one started: it ends when its standard input does, that is, with its parent,
/// however that ended.
const SUPERVISED: &str = "PAVILION_SUPERVISED";

/// How this process logs, in the variables that tell a child to do the same.
pub(crate) static LOG: OnceLock<Vec<(&str, String)>> = OnceLock::new();

/// Whether an all-in-one started this process, and keeps it running.
pub(crate) fn is_supervised() -> bool {
    std::env::var_os(SUPERVISED).is_some()
}

/// Ends this process gently with the parent that started it, if one did.
pub(crate) fn end_with_parent(shutdown: CancellationToken) {
    if !is_supervised() {
        return;
    }
    tokio::spawn(async move {
        let mut stdin = tokio::io::stdin();
        let mut byte = [0; 64];
        while let Ok(1..) = stdin.read(&mut byte).await {}
        shutdown.cancel();
    });
}

/// A role to run as a child.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    /// As `ports.json` and logs call it.
    pub(crate) name: &'static str,
    /// What everybody on the machine may see that it is started with.
    pub(crate) args: Vec<String>,
    /// Variables for what only the child may see: command lines stand in lists of processes.
    pub(crate) secrets: Vec<(&'static str, String)>,
}

impl Child {
    /// One without secrets.
    pub(crate) fn new(name: &'static str, args: Vec<String>) -> Child {
        Child { name, args, secrets: Vec::new() }
    }
}

/// Keeps a role running as a child, started again whenever it ends. `pid` shows the one that runs.
pub(crate) async fn keep(child: Child, pid: &AtomicU32, shutdown: CancellationToken) {
    supervise::keep_running(child.name, &shutdown, || {
        let Child { args, secrets, .. } = child.clone();
        let shutdown = shutdown.clone();
        async move {
            let mut command = tokio::process::Command::new(std::env::current_exe()?);
            command
                .args(&args)
                .envs(secrets)
                .env(SUPERVISED, "1")
                .envs(LOG.get().cloned().unwrap_or_default())
                .stdin(Stdio::piped())
                .kill_on_drop(true);
            // A process group of its own: Ctrl-C reaches the parent, which ends its children gently.
            command.process_group(0);
            let mut child = command.spawn()?;
            pid.store(child.id().unwrap_or(0), Ordering::Relaxed);
            let stdin = child.stdin.take();
            let ended = tokio::select! {
                status = child.wait() => Ended::Again(status?.to_string()),
                () = shutdown.cancelled() => {
                    drop(stdin);
                    let _ = tokio::time::timeout(crate::all::CHILD_END_MAX, child.wait()).await;
                    Ended::Done
                }
            };
            pid.store(0, Ordering::Relaxed);
            Ok(ended)
        }
    })
    .await;
}
