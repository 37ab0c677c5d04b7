//! What the kernel says of a process (proc(5)). Children are not counted, because encoders are not ours, unless a
//! [`tree`] is asked for.

use anyhow::Context;

/// Ticks a second of the times in `/proc/{pid}/stat`: USER_HZ, which is 100 on every Linux.
const USER_HZ: f64 = 100.0;

/// CPU time of a process since its start, user and system, in seconds.
pub(crate) fn cpu_seconds(pid: u32) -> anyhow::Result<f64> {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).with_context(|| format!("process {pid}"))?;
    cpu_of(&stat).with_context(|| format!("cannot read the CPU time of process {pid}"))
}

/// `utime` and `stime`, fields 14 and 15; field 2, the name in parentheses, may hold anything.
fn cpu_of(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) as f64 / USER_HZ)
}

/// Resident set of a process, in bytes.
pub(crate) fn rss_bytes(pid: u32) -> anyhow::Result<u64> {
    let status =
        std::fs::read_to_string(format!("/proc/{pid}/status")).with_context(|| format!("process {pid}"))?;
    rss_of(&status).with_context(|| format!("cannot read the memory of process {pid}"))
}

/// What a process holds alone and its share of what it holds with others, swapped or not, in bytes.
pub(crate) fn pss_bytes(pid: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let rollup = std::fs::read_to_string(path).with_context(|| format!("process {pid}"))?;
    pss_of(&rollup).with_context(|| format!("cannot read the memory of process {pid}"))
}

fn pss_of(rollup: &str) -> Option<u64> {
    let kb = |key: &str| -> Option<u64> {
        let line = rollup.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    };
    Some((kb("Pss:")? + kb("SwapPss:").unwrap_or(0)) * 1024)
}

/// A process and all that it has started, and they: some servers are several processes.
pub(crate) fn tree(root: u32) -> anyhow::Result<Vec<u32>> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc").context("reading /proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // One that has ended meanwhile is nobody's child.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        parents.extend(parent_of(&stat).map(|parent| (parent, pid)));
    }
    let mut tree = vec![root];
    let mut seen = 0;
    while let Some(&parent) = tree.get(seen) {
        tree.extend(parents.iter().filter(|(p, _)| *p == parent).map(|(_, pid)| *pid));
        seen += 1;
    }
    Ok(tree)
}

/// Field 4.
fn parent_of(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn rss_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_kernel_writes_it() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 99 0 0 150 50 9000 9000 20 0 4 0 55 0 0";
        assert_eq!(cpu_of(stat), Some(2.0));
        assert_eq!(parent_of(stat), Some(1));
        assert_eq!(cpu_of("7 (x"), None);
        assert_eq!(rss_of("Name:\tx\nVmRSS:\t    2048 kB\n"), Some(2_097_152));
        assert_eq!(rss_of("Name:\tzombie\n"), None);
        assert_eq!(
            pss_of("0-1 ---p\nRss: 9 kB\nPss:    40 kB\nPss_Anon: 3 kB\nSwapPss:   2 kB\n"),
            Some(43_008)
        );
        assert_eq!(pss_of(""), None);
    }

    #[test]
    fn of_a_process_that_runs() {
        assert!(cpu_seconds(std::process::id()).unwrap() >= 0.0);
        assert!(rss_bytes(std::process::id()).unwrap() > 100_000);
        assert!(pss_bytes(std::process::id()).unwrap() > 100_000);
        assert!(cpu_seconds(u32::MAX).is_err());
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(tree(std::process::id()).unwrap().contains(&child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
