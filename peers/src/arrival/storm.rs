//! The storm of the postmortem, both ways: the same naive clients, who tap within a minute, give an answer five seconds and
//! ask again at once; before a door that checks each play at the central store, and before ours.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::process::Command;

use super::Plan;
use super::load::crowd::{Report, Taps};
use super::load::{Order, Work, now_ms};
use super::naive::CHECK_MS;
use super::rig::{Door, Keeps, Manner, Rig, here, nth, paying};
use crate::figure::{Figure, Goal, figures};
use crate::http::{sample, until};
use crate::nursery::Child;

/// The figures.
pub(crate) const IDS: [&str; 3] =
    ["storm_all_playing_s", "storm_db_checks_ratio", "storm_retry_amplification"];

const ALL_PLAYING_S: f64 = 10.0;
const CHECKS_RATIO: f64 = 0.02;
const AMPLIFICATION: f64 = 1.1;

/// Of clients, and of the control's doors: a process may hold 20,000 files on many machines, and when the control has
/// collapsed each client has a connection open.
const PROCESSES: usize = 3;
/// Connections of the control's pool, over all its doors.
const POOL: usize = 20;
/// For a load process to sign its viewers' tokens before the first tap.
const SIGNING: Duration = Duration::from_secs(6);
/// For the control to listen.
const READY_MAX: Duration = Duration::from_secs(20);
/// Fewer of the control's clients than this play within ten seconds of their tap when it has collapsed; and they ask so
/// many times as often. As the model in simulated time has it (`arrival::entitlement`).
const COLLAPSED_SOON: f64 = 0.2;
const COLLAPSED_AMPLIFICATION: f64 = 3.0;

/// Runs it both ways.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let clients = plan.storm_clients;
    let manner = Manner { pinned: false, copy: false, accounts: clients, keeps: Keeps::Sqlite };
    let door = rig.door(manner).await?;
    // Every other one has asked before, so that their purchases are known here: pre-authorised.
    storm(rig, &[door.addr], &door, plan, Known::Half).await?;
    let before = Counts::of(rig, &door).await?;
    let cpu = door.cpu_seconds()?;
    let ours = storm(rig, &[door.addr], &door, plan, Known::All).await?;
    let cpu = door.cpu_seconds()? - cpu;
    let counts = Counts::of(rig, &door).await?.since(&before);
    let control = control(rig, &door, plan).await?;

    let paying = paying(clients) as u64;
    let mut spoiled = None;
    if ours.playing < paying {
        spoiled = Some(format!("{} of {paying} who have paid do not play", paying - ours.playing));
    } else if ours.playing > paying {
        spoiled = Some(format!("{} play who have not paid", ours.playing - paying));
    }
    let amplification = |report: &Report| report.asked as f64 / report.clients as f64;
    let stands = (control.soon as f64) < COLLAPSED_SOON * control.clients as f64
        && amplification(&control) > COLLAPSED_AMPLIFICATION;
    if !stands && !plan.quick {
        spoiled.get_or_insert("the control did not collapse".to_owned());
    }
    let said = |report: &Report| {
        format!(
            "{} of {} play, {} within 10 s of their tap, median {} ms, slowest {} s; {} requests for each; playing in each 10 s: {:?}; \
             answers by status (0: the connection broke): {:?}",
            report.playing,
            report.clients,
            report.soon,
            figures(report.median_ms),
            figures(report.slowest_ms as f64 / 1e3),
            figures(amplification(report)),
            report.played_in,
            report.answers,
        )
    };
    let way = format!(
        "{clients} clients tap within {} s, logged in, each over a connection of its own, half of them never seen before; one in 50 has not \
         paid; SQLite without a copy of the purchases; nothing pinned; the door used {} s of CPU time",
        figures(plan.storm_s),
        figures(cpu),
    );
    let control = format!(
        "control, a check of {CHECK_MS} ms for each play at {POOL} connections in all: {}: {}",
        if stands { "it collapsed" } else { "it did not collapse" },
        said(&control)
    );
    let ours_said = format!("ours: {}", said(&ours));
    let figure = |id, value, unit, most: f64| {
        Figure::new(id, value, unit, Goal::AtMost(most))
            .spoiled(spoiled.clone())
            .how(ours_said.clone())
            .how(control.clone())
            .how(way.clone())
    };
    Ok(vec![
        figure(IDS[0], ours.slowest_ms as f64 / 1e3, "s", ALL_PLAYING_S),
        figure(IDS[1], counts.checks / counts.plays, "checks/play", CHECKS_RATIO).how(format!(
            "{} queries for {} accounts, {} plays, {} of them provisional; at {CHECK_MS} ms each the queries would keep {} of {POOL} \
             connections busy",
            counts.checks,
            counts.accounts,
            counts.plays,
            counts.provisional,
            figures(counts.checks * CHECK_MS as f64 / 1e3 / plan.storm_s),
        )),
        figure(IDS[2], amplification(&ours), "requests/client", AMPLIFICATION),
    ])
}

/// Who comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Every other one, before the storm.
    Half,
    /// Everybody.
    All,
}

/// Each process's clients ask one of the targets in turn.
async fn storm(
    rig: &Rig<'_>,
    targets: &[SocketAddr],
    door: &Door,
    plan: &Plan,
    known: Known,
) -> anyhow::Result<Report> {
    let begin_ms = now_ms() + SIGNING.as_millis() as i64;
    let seconds = |s: f64| (s * 1e3) as i64;
    let orders: Vec<Order> = (0..PROCESSES)
        .map(|process| {
            // Viewers of a process are next to each other, and every other one is known.
            let share = plan.storm_clients / PROCESSES;
            let first = process * share;
            let every = if known == Known::Half { 2 } else { 1 };
            let clients = share / every;
            let taps = Taps {
                begin_ms,
                within_ms: seconds(if known == Known::Half { plan.storm_s / 2.0 } else { plan.storm_s }),
                until_ms: seconds(plan.storm_until_s),
                clients: clients * PROCESSES,
                process,
                processes: PROCESSES,
            };
            Order {
                target: targets[process % targets.len()],
                nth: nth(),
                keys: Some(door.keys.clone()),
                viewers: first..first + share,
                every,
                work: Work::Crowd(taps),
            }
        })
        .collect();
    let lasts = SIGNING + Duration::from_secs_f64(plan.storm_until_s);
    let reports: Vec<Report> = rig.together(&orders, lasts).await?;
    let mut all = Report::default();
    reports.iter().for_each(|report| all.add(report));
    door.child.check()?;
    Ok(all)
}

/// The same before the naive doors.
async fn control(rig: &Rig<'_>, door: &Door, plan: &Plan) -> anyhow::Result<Report> {
    let mut doors: Vec<(Child, SocketAddr)> = Vec::new();
    for n in 0..PROCESSES {
        let listen = here()?;
        let pool = POOL / PROCESSES + usize::from(n < POOL % PROCESSES);
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["arrival-naive", "--listen", &listen.to_string(), "--pool", &pool.to_string()]);
        command.stdout(std::process::Stdio::null());
        let child = rig.nursery.start(&format!("naive door {n}"), command)?;
        until("the control listens", READY_MAX, async || {
            child.check()?;
            Ok(tokio::net::TcpStream::connect(listen).await.ok().map(drop))
        })
        .await?;
        doors.push((child, listen));
    }
    let targets: Vec<SocketAddr> = doors.iter().map(|(_, listen)| *listen).collect();
    let report = storm(rig, &targets, door, plan, Known::All).await?;
    doors.iter().try_for_each(|(child, _)| child.check())?;
    Ok(report)
}

/// What the door counted.
struct Counts {
    checks: f64,
    accounts: f64,
    plays: f64,
    provisional: f64,
}

impl Counts {
    async fn of(rig: &Rig<'_>, door: &Door) -> anyhow::Result<Counts> {
        let metrics = rig.metrics(door).await?;
        let plays = |provisional: &str| {
            sample(&metrics, &format!("arrival_plays_total{{provisional=\"{provisional}\"}}"))
        };
        Ok(Counts {
            checks: sample(&metrics, "arrival_entitlement_checks_total"),
            accounts: sample(&metrics, "arrival_entitlement_checked_accounts_total"),
            plays: plays("yes") + plays("no"),
            provisional: plays("yes"),
        })
    }

    fn since(&self, before: &Counts) -> Counts {
        Counts {
            checks: self.checks - before.checks,
            accounts: self.accounts - before.accounts,
            plays: self.plays - before.plays,
            provisional: self.provisional - before.provisional,
        }
    }
}
