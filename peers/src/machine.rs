//! What the figures were taken on.

use std::thread::available_parallelism;

/// In one phrase: cores and their make, memory, kernel.
pub(crate) fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let cores = available_parallelism().map_or(0, usize::from);
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown processor", |(_, name)| name.trim());
    let meminfo = read("/proc/meminfo");
    let kb = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().split(' ').next());
    let gb = kb.and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) * 1024.0 / 1e9;
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{cores} x {model}, {gb:.1} GB, Linux {}", kernel.trim())
}

/// The load that others put on the machine, from `/proc/loadavg`: processes that ran or wanted to, averaged over
/// a minute.
pub(crate) fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
