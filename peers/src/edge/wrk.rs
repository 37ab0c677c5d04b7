//! Load from wrk, which is as cheap to others on the machine as a load generator can be.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;
use tokio::process::Command;

use crate::installed::program;

/// Connections that are kept: enough that the server always has one to turn to, as few as any server expects.
pub(crate) const CONNECTIONS: u32 = 32;

/// What one run did; as `peers/edge/wrk.lua` prints it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    /// With heads.
    pub(crate) bytes: u64,
    micros: u64,
    errors: u64,
    /// Answers other than 2xx and 3xx.
    bad: u64,
}

impl Load {
    /// How long it ran.
    pub(crate) fn seconds(&self) -> f64 {
        self.micros as f64 / 1e6
    }

    /// Refuses one in which something went wrong, or bodies were not whole.
    pub(crate) fn check(&self, body_bytes: usize) -> anyhow::Result<()> {
        ensure!(self.requests > 0, "no request was answered");
        ensure!(self.errors == 0, "{} connections failed or waited too long", self.errors);
        ensure!(self.bad == 0, "{} answers were not 200", self.bad);
        // A run ends inside of up to one answer for each connection, whose bytes may or may not be counted.
        let least = (self.requests.saturating_sub(u64::from(CONNECTIONS))) * body_bytes as u64;
        ensure!(self.bytes >= least, "bodies were cut: {} bytes in {} answers", self.bytes, self.requests);
        Ok(())
    }
}

/// Runs it on those cores.
pub(crate) async fn run(root: &Path, cores: &str, url: &str, length: Duration) -> anyhow::Result<Load> {
    load(root, cores, url, length, "wrk.lua", None).await
}

/// The same for the paths of a file, one a line, in turn.
pub(crate) async fn run_paths(
    root: &Path,
    cores: &str,
    url: &str,
    length: Duration,
    paths: &Path,
) -> anyhow::Result<Load> {
    load(root, cores, url, length, "passes.lua", Some(paths)).await
}

async fn load(
    root: &Path,
    cores: &str,
    url: &str,
    length: Duration,
    script: &str,
    paths: Option<&Path>,
) -> anyhow::Result<Load> {
    let program = program("wrk").context("wrk is not installed; scripts/setup.sh edge does it")?;
    let output = Command::new("taskset")
        .args(["-c", cores])
        .arg(program)
        .args(["--threads", "1", "--timeout", "20s"])
        .args(["--connections", &CONNECTIONS.to_string()])
        .args(["--duration", &format!("{}s", length.as_secs())])
        .arg("--script")
        .arg(root.join("peers/edge").join(script))
        .arg(url)
        .args(paths.map(|paths| [Path::new("--"), paths]).into_iter().flatten())
        .kill_on_drop(true)
        .output()
        .await
        .context("wrk")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|line| line.starts_with('{'));
    let line = line.with_context(|| format!("wrk: {said}{}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(serde_json::from_str(line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_judged() {
        let read = |text| serde_json::from_str::<Load>(text).unwrap();
        let good = read(r#"{"requests":100,"bytes":400000,"micros":1500000,"errors":0,"bad":0}"#);
        assert_eq!(good.seconds(), 1.5);
        assert!(good.check(4_000).is_ok() && good.check(8_000).is_err());
        assert!(read(r#"{"requests":9,"bytes":9,"micros":9,"errors":1,"bad":0}"#).check(0).is_err());
        assert!(read(r#"{"requests":9,"bytes":9,"micros":9,"errors":0,"bad":1}"#).check(0).is_err());
        assert!(read(r#"{"requests":0,"bytes":0,"micros":9,"errors":0,"bad":0}"#).check(0).is_err());
    }
}
