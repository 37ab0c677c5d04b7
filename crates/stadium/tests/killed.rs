//! No child is left behind by a ground that was killed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PORTS: &str = "STADIUM_TEST_PORTS";

#[test]
fn children_end_with_a_killed_ground() {
    // This same program as a process of its own, running only the ground below.
    let ports = format!("{} {}", common::free_port(), common::free_port());
    let ground = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_ground_to_kill", "--ignored"])
        .env(PORTS, &ports)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut ground = Killed(ground);
    // The kernel cuts names to 15 letters.
    let names = ["ffmpeg", "srt-live-transm"];
    let children = until("both children run", || {
        let children = children_of(ground.0.id());
        names.iter().all(|name| children.iter().any(|(_, of)| of == name)).then_some(children)
    });
    ground.kill();
    for (pid, name) in children {
        until(&format!("{name} ends"), || (!alive(pid)).then_some(()));
    }
}

/// A process that does not outlive a failed test.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

#[tokio::test]
#[ignore = "the other test starts and kills it"]
async fn a_ground_to_kill() {
    let ports = std::env::var(PORTS).unwrap();
    let (srt, udp) = ports.split_once(' ').unwrap();
    let config = stadium::Config {
        srt_port: srt.parse().unwrap(),
        udp: format!("127.0.0.1:{udp}"),
        size: "320x180".parse().unwrap(),
        ..Default::default()
    };
    stadium::run(config, Default::default()).await.unwrap();
}

/// Polls a condition that nothing announces.
fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + common::PATIENCE;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Name, state and parent of a process, from `/proc/{pid}/stat`: `1 (name) S 2 …`.
fn stat(pid: u32) -> Option<(String, String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, tail) = stat.rsplit_once(") ")?;
    let mut fields = tail.split(' ');
    Some((head.split_once('(')?.1.to_owned(), fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

fn alive(pid: u32) -> bool {
    stat(pid).is_some_and(|(_, state, _)| state != "Z")
}

fn children_of(parent: u32) -> Vec<(u32, String)> {
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| stat(pid).filter(|s| s.2 == parent).map(|(name, ..)| (pid, name))).collect()
}
