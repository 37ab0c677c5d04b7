//! Processes of this machine, as `/proc` shows them.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A process and its parent.
struct Row {
    pid: u32,
    parent: u32,
    name: String,
    dead: bool,
}

fn row(pid: u32) -> Option<Row> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (before, after) = stat.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut fields = after.split_whitespace();
    let dead = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    Some(Row { pid, parent, name, dead })
}

fn all() -> Vec<Row> {
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| row(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

/// The living children of a process that run this program.
pub fn children(parent: u32, program: &str) -> Vec<u32> {
    // The kernel cuts names after 15 bytes.
    let program = &program[..program.len().min(15)];
    all().into_iter().filter(|r| r.parent == parent && r.name == program && !r.dead).map(|r| r.pid).collect()
}

/// All processes below this one.
pub fn descendants(of: u32) -> Vec<u32> {
    let rows = all();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(rows.iter().filter(|r| r.parent == parent).map(|r| r.pid));
        next += 1;
    }
    found.split_off(1)
}

/// Whether it runs (a zombie does not).
pub fn alive(pid: u32) -> bool {
    row(pid).is_some_and(|row| !row.dead)
}

/// `kill -9`. Answers whether there was something to kill.
pub fn kill(pid: u32) -> bool {
    signal(pid, Signal::KILL)
}

/// Sends a signal. Answers whether there was somebody to take it.
pub fn signal(pid: u32, signal: Signal) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Waits until all are gone.
pub fn gone(pids: &[u32], limit: Duration) -> bool {
    let began = Instant::now();
    while pids.iter().any(|pid| alive(*pid)) {
        if began.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}
