//! Logging in by e-mail and password, whose hash is dear on purpose; and twelve times as many logins as before.

use std::time::Duration;

use anyhow::Context;
use futures_util::future::try_join_all;
use http::Method;
use serde_json::json;
use store::{Account, Accounts, SqliteAccounts};

use super::Plan;
use super::load::now_ms;
use super::load::paced::{Pace, Paces, Phase, Tally};
use super::rig::{Door, Keeps, Manner, Rig, only};
use super::viewers::{Ask, PASSWORD, account, email};
use crate::figure::{Figure, Goal, figures};
use crate::http::until;

/// The figure.
pub(crate) const ID: &str = "login_per_s";

/// Enough that nobody comes twice within what the door allows of one account.
const ACCOUNTS: usize = 4_000;
/// Made at once: one wait for the disk serves them all.
const MADE_AT_ONCE: usize = 64;
/// Connections that log in one after the other: more than there are threads that hash.
const CONNECTIONS: usize = 8;
/// Those of a spike: as many as may wait for their answers.
const CONNECTIONS_SPIKE: usize = 4_096;
/// Before the spike, of what it can: a door that cruises.
const CRUISE: f64 = 0.5;
/// 10,000 to 125,000 a second.
const FOLD: f64 = 12.5;
/// Beside it, of viewers who are logged in, plays a second.
const PLAYS_PER_S: f64 = 500.0;
/// For a mail to be in its folder.
const MAIL_MAX: Duration = Duration::from_secs(10);

/// How many it can, and what becomes of a spike.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let manner = Manner { pinned: true, copy: true, accounts: ACCOUNTS, keeps: Keeps::Sqlite };
    let door = rig.door(manner).await?;
    sign_up(rig, &door).await?;
    let paces = vec![Pace { ask: Ask::Login, per_s: None }];
    let flat_out = Paces { connections: CONNECTIONS, phases: vec![Phase { seconds: plan.login_s, paces }] };
    let most = only(&rig.paced(&door, 0..ACCOUNTS, false, flat_out).await?)?.clone();
    let per_s = most.accepted.count as f64 / plan.login_s;

    let phase = |logins: f64, seconds| {
        let pace = |ask, per_s| Pace { ask, per_s: Some(per_s) };
        Phase { seconds, paces: vec![pace(Ask::Login, logins), pace(Ask::Play, PLAYS_PER_S)] }
    };
    let cruise = per_s * CRUISE;
    let phases = vec![
        phase(cruise, plan.login_s),
        phase(cruise * FOLD, plan.login_s * 2.0),
        phase(cruise, plan.login_s),
    ];
    let spike = Paces { connections: CONNECTIONS_SPIKE, phases };
    let report = rig.paced(&door, 0..ACCOUNTS, true, spike).await?;
    let [before, during, after] = report.as_slice() else { anyhow::bail!("the load said too little") };
    let tally = |phase: &[Tally], n: usize| phase.get(n).cloned().context("the load said too little");
    let (calm, crowd, calm_again) = (tally(before, 0)?, tally(during, 0)?, tally(after, 0)?);
    let (plays_before, plays) = (tally(before, 1)?, tally(during, 1)?);
    let fault = most.blemish().or(calm.fault()).or(crowd.fault()).or(plays.fault());
    let share = |count: u64| 100.0 * count as f64 / crowd.asked.max(1) as f64;
    let in_time = crowd.accepted.count as f64 / (plan.login_s * 2.0);
    Ok(vec![
        Figure::new(ID, per_s, "logins/s", Goal::Any)
            .spoiled(fault)
            .how(format!(
                "argon2id, 19 MiB, 2 passes, 1 lane, as OWASP asks; SQLite; the server with one core; {CONNECTIONS} connections for {} s: \
                 p50 {} ms, p99 {}",
                plan.login_s,
                figures(most.accepted.p50),
                figures(most.accepted.p99)
            ))
            .how(format!(
                "a spike from {} a second to {} for {} s: {} came, {:.1} % answered ({} a second; p50 {} ms, p99 {}, most {}: they \
                 queued), {:.1} % shed with 503 and Retry-After (p99 {} ms), {} not sent",
                figures(cruise),
                figures(cruise * FOLD),
                plan.login_s * 2.0,
                crowd.asked,
                share(crowd.accepted.count),
                figures(in_time),
                figures(crowd.accepted.p50),
                figures(crowd.accepted.p99),
                figures(crowd.accepted.max),
                share(crowd.refused.count),
                figures(crowd.refused.p99),
                crowd.unsent,
            ))
            .how(format!(
                "before it {} of {} were answered, p99 {} ms; in the {} s after it {} of {}, the last that was not within 100 ms was due \
                 after {} ms",
                calm.accepted.count,
                calm.asked,
                figures(calm.accepted.p99),
                plan.login_s,
                calm_again.accepted.count,
                calm_again.asked,
                figures(calm_again.last_bad_ms),
            ))
            .how(format!(
                "beside it {PLAYS_PER_S} plays a second: p99 {} ms, {} refused (before it {} ms, {})",
                figures(plays.accepted.p99),
                plays.refused.count,
                figures(plays_before.accepted.p99),
                plays_before.refused.count,
            )),
    ])
}

/// One account signs up by mail, as anybody does; the others get its hash.
async fn sign_up(rig: &Rig<'_>, door: &Door) -> anyhow::Result<()> {
    let url = |path: &str| door.url(&format!("/v1/identity/{path}"));
    let first = email(0);
    rig.send(Method::POST, &url("register"), &json!({ "email": first })).await?;
    let code = until("the mail", MAIL_MAX, async || {
        let mails = std::fs::read_dir(door.dir.join("mail").join("new"))?.filter_map(Result::ok);
        let mut texts = mails.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        Ok(texts.find_map(|text| {
            let line = text.lines().find(|line| line.starts_with("    "))?;
            Some(line.trim().to_owned())
        }))
    })
    .await?;
    let body = json!({ "email": first, "code": code, "password": PASSWORD });
    rig.send(Method::POST, &url("register/confirm"), &body).await?;
    let accounts = SqliteAccounts::open(&door.dir.join("accounts.db"))?;
    let hash = accounts.by_email(&first).await?.and_then(|account| account.password);
    let hash = hash.context("an account that signed up has no password")?;
    let others: Vec<Account> = (1..ACCOUNTS)
        .map(|n| {
            let (email, password) = (Some(email(n)), Some(hash.clone()));
            Account { id: account(n), email, password, created_ms: now_ms() }
        })
        .collect();
    for some in others.chunks(MADE_AT_ONCE) {
        try_join_all(some.iter().map(|account| accounts.create(account))).await?;
    }
    Ok(())
}
