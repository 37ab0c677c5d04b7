//! Others' programs on this machine: where they are, of which version, and as whom they run.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tokio::process::Command;

/// A program by its name; servers' own are not in everybody's path.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]);
    dirs.map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// The version of an installed package.
pub(crate) async fn version(package: &str) -> Option<String> {
    let asked = Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]).output().await.ok()?;
    let version = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    (asked.status.success() && !version.is_empty()).then_some(version)
}

/// The user and group that others' servers run as when we are root: no server needs to be.
pub(crate) fn nobody() -> anyhow::Result<Option<(u32, u32)>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find(|line| line.starts_with("nobody:")).context("there is no user nobody")?;
    let mut fields = line.split(':').skip(2);
    let mut id = || fields.next().and_then(|id| id.parse().ok()).context("nobody has no id");
    Ok(Some((id()?, id()?)))
}

/// Makes all in a folder belong to whom peers run as.
pub(crate) fn give_away(dir: &Path) -> anyhow::Result<()> {
    let Some((user, group)) = nobody()? else { return Ok(()) };
    chown(dir, Some(user), Some(group))?;
    for entry in std::fs::read_dir(dir)? {
        chown(entry?.path(), Some(user), Some(group))?;
    }
    Ok(())
}
