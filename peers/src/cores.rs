//! Which core serves and which ones ask, where a figure is of CPU time.

use anyhow::ensure;
use rustix::thread::{CpuSet, sched_getaffinity};

/// The cores of this machine that we may use.
#[derive(Clone, Debug)]
pub(crate) struct Cores {
    /// The one that serves.
    pub(crate) server: usize,
    /// The others.
    others: Vec<usize>,
}

impl Cores {
    /// Looks.
    pub(crate) fn find() -> anyhow::Result<Cores> {
        let allowed = sched_getaffinity(None)?;
        let mut cores = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core));
        let server = cores.next().unwrap_or(0);
        let others: Vec<usize> = cores.collect();
        ensure!(!others.is_empty(), "it takes two cores: one that serves and one that asks");
        Ok(Cores { server, others })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.others.len() + 1
    }

    /// Those that ask, as taskset(1) takes them.
    pub(crate) fn askers(&self) -> String {
        self.others.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
    }
}
