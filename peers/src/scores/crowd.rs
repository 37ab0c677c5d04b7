//! The subscribers of one server, as the bench sees them: processes of [`super::audience`], and the lines that are
//! exchanged with them.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use super::audience::Opened;
use super::audience::speech::Speech;
use super::audience::tally::Counts;
use crate::nursery::{Child, Nursery};

/// Sockets of one process: a process may hold 20,000 files on many machines, and has some of its own.
pub(crate) const EACH_MAX: usize = 18_000;
/// For a process to come.
const COME_MAX: Duration = Duration::from_secs(10);
/// For an answer: a process opens some thousand sockets a second on a busy core.
const ANSWER_MAX: Duration = Duration::from_secs(180);

/// Processes so far: each has loopback addresses of its own, because a port of an address is used once, whatever it is
/// connected to. After 256 the first ones have long ended.
static PROCESSES: AtomicU8 = AtomicU8::new(0);

/// Who subscribes to what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Processes.
    pub(crate) processes: usize,
    /// Channels in all.
    pub(crate) channels: usize,
    /// Channels of each socket.
    pub(crate) each: usize,
}

impl Shape {
    /// One process, one channel.
    pub(crate) const ONE: Shape = Shape { processes: 1, channels: 1, each: 1 };
}

/// Subscribers.
pub(crate) struct Crowd {
    members: Vec<Member>,
}

struct Member {
    child: Child,
    lines: Lines<BufReader<OwnedReadHalf>>,
    say: OwnedWriteHalf,
    live: usize,
}

impl Crowd {
    /// Starts the processes, on the cores that `cores` names if any.
    pub(crate) async fn start(
        nursery: &Nursery,
        cores: Option<&str>,
        target: SocketAddr,
        speech: &Speech,
        shape: Shape,
    ) -> anyhow::Result<Crowd> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let control = listener.local_addr()?;
        let speech = serde_json::to_string(speech)?;
        let mut members = Vec::new();
        for _ in 0..shape.processes {
            let nth = PROCESSES.fetch_add(1, Ordering::Relaxed);
            let own = std::env::current_exe()?;
            let mut command = match cores {
                Some(cores) => {
                    let mut command = Command::new("taskset");
                    command.args(["-c", cores]).arg(own);
                    command
                }
                None => Command::new(own),
            };
            command
                .args(["score-audience", "--control", &control.to_string()])
                .args(["--target", &target.to_string(), "--speech", &speech, "--nth", &nth.to_string()])
                .args(["--channels", &shape.channels.to_string(), "--each", &shape.each.to_string()])
                .stdout(std::process::Stdio::null());
            let child = nursery.start(&format!("audience {} {nth}", target.port()), command)?;
            let (stream, _) = tokio::time::timeout(COME_MAX, listener.accept())
                .await
                .ok()
                .context("no audience")
                .and_then(|accepted| Ok(accepted?))
                .inspect_err(|_| drop(child.check()))?;
            members.push(Member::new(child, stream)?);
        }
        Ok(Crowd { members })
    }

    /// Opens so many more, shared out; all must be subscribed.
    pub(crate) async fn open(&mut self, sockets: usize) -> anyhow::Result<()> {
        let members = self.members.len();
        let shares = self.members.iter_mut().enumerate().map(|(n, member)| {
            let share = sockets / members + usize::from(n < sockets % members);
            async move {
                ensure!(member.live + share <= EACH_MAX, "a process holds {EACH_MAX} sockets at most");
                let opened: Opened = member.ask(&format!("open {share}")).await?;
                let why = opened.why.unwrap_or_default();
                ensure!(opened.failed == 0, "{} of {share} sockets were not had: {why}", opened.failed);
                member.live = opened.live;
                anyhow::Ok(())
            }
        });
        try_join_all(shares).await.map(drop)
    }

    /// How many were open at last.
    pub(crate) fn live(&self) -> usize {
        self.members.iter().map(|member| member.live).sum()
    }

    /// What has arrived since this was last asked. An error if anybody was cut off.
    pub(crate) async fn tally(&mut self) -> anyhow::Result<Counts> {
        let all = try_join_all(self.members.iter_mut().map(|member| member.ask::<Counts>("tally"))).await?;
        let mut counts = Counts::default();
        all.into_iter().for_each(|one| counts.add(one));
        let why = counts.why.as_deref().unwrap_or_default();
        ensure!(counts.closed == 0, "{} sockets were cut off: {why}", counts.closed);
        Ok(counts)
    }
}

impl Member {
    fn new(child: Child, stream: TcpStream) -> anyhow::Result<Member> {
        stream.set_nodelay(true)?;
        let (read, say) = stream.into_split();
        Ok(Member { child, lines: BufReader::new(read).lines(), say, live: 0 })
    }

    async fn ask<T: serde::de::DeserializeOwned>(&mut self, line: &str) -> anyhow::Result<T> {
        self.child.check()?;
        self.say.write_all(format!("{line}\n").as_bytes()).await?;
        let answer =
            tokio::time::timeout(ANSWER_MAX, self.lines.next_line()).await.context("no answer")??;
        self.child.check()?;
        Ok(serde_json::from_str(&answer.context("an audience is gone")?)?)
    }
}
