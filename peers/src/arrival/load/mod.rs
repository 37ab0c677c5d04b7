//! The viewers' side, as a process of its own: one thread, one `epoll`. What it is to do stands in a file ([`Order`]), what
//! came of it goes to its standard output, as JSON. It ends when it is done, or with its standard input.

pub(crate) mod crowd;
mod line;
pub(crate) mod paced;

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::viewers::Viewers;
use line::Line;

/// For one read: an answer is one or two KB, a page some.
const SCRATCH: usize = 64 << 10;
const EVENTS: usize = 1_024;
/// Connections from one source address: far below its ephemeral ports.
const ON_ADDRESS: usize = 10_000;

/// What is to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Whom to ask.
    pub(crate) target: SocketAddr,
    /// Which process this is: each has loopback addresses of its own, 127.2.N.1 and so on.
    pub(crate) nth: u8,
    /// The door's folder of keys; none: nobody is logged in.
    pub(crate) keys: Option<PathBuf>,
    /// Who they are: every so-many-th of those, if they are logged in.
    pub(crate) viewers: Range<usize>,
    pub(crate) every: usize,
    pub(crate) work: Work,
}

/// What viewers do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Work {
    /// They ask at a pace, over connections that are kept.
    Paced(paced::Paces),
    /// Each taps once, over a connection of its own, and tries again.
    Crowd(crowd::Taps),
}

/// Does what the file says.
pub(crate) fn run(order: &std::path::Path) -> anyhow::Result<()> {
    let order: Order = serde_json::from_slice(&std::fs::read(order)?).context("the order")?;
    std::thread::spawn(|| {
        // The bench is gone, and nobody waits for the report.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(1);
    });
    let viewers = match &order.keys {
        Some(keys) => Viewers::signed(keys, order.viewers.clone(), order.every)?,
        None => Viewers::strangers(order.viewers.clone()),
    };
    let report = match &order.work {
        Work::Paced(paces) => serde_json::to_string(&paced::run(&order, paces, &viewers)?)?,
        Work::Crowd(taps) => serde_json::to_string(&crowd::run(&order, taps, &viewers)?)?,
    };
    println!("{report}");
    Ok(())
}

impl Order {
    /// Begins to connect, for the n-th time or so.
    fn connect(&self, n: usize) -> std::io::Result<Line> {
        let from = Ipv4Addr::new(127, 2, self.nth, (1 + n / ON_ADDRESS % 250) as u8);
        Line::open(from, self.target)
    }
}

/// UTC in milliseconds.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}
