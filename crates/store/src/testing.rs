//! A PostgreSQL server of a test's own: in a folder that goes with it, reached by a socket in that folder, and killed at
//! the end. It trusts who can reach it and waits for no disk.

use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::Place;

/// Long past what a start takes on a machine full of tests; reaching it is the failure.
const START_MAX: Duration = Duration::from_secs(120);
/// How often it is asked whether it has started, and started again: processes of one that was killed take a moment to
/// notice, and it refuses while they live.
const EVERY: Duration = Duration::from_millis(20);

/// Where Debian has the programs of a version; elsewhere they are in the path.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The server.
pub struct Server {
    folder: TempDir,
    child: Option<Child>,
}

impl Server {
    /// A new one. To be called by the thread that outlives it: it ends when that does.
    ///
    /// # Panics
    ///
    /// There is no PostgreSQL here, or it does not start.
    pub async fn start() -> Server {
        let folder = tempfile::Builder::new().prefix("pg").tempdir().expect("a folder");
        if is_root() {
            let [uid, gid] = ["-u", "-g"].map(|what| {
                let said = Command::new("id").args([what, "postgres"]).output().expect("id");
                let said = String::from_utf8_lossy(&said.stdout).trim().parse().ok();
                Some(said.expect("there is a user 'postgres'; scripts/setup.sh installs the package"))
            });
            chown(folder.path(), uid, gid).expect("the folder is postgres'");
        }
        let server = Server { folder, child: None };
        let made = server
            .command("initdb")
            .args([
                "--auth=trust",
                "--username=pavilion",
                "--encoding=UTF8",
                "--no-sync",
                "--no-instructions",
            ])
            .arg("-D")
            .arg(server.data())
            .output()
            .expect("initdb runs");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut server = server;
        server.start_again().await;
        server
    }

    /// After [`Server::kill`].
    ///
    /// # Panics
    ///
    /// It does not start.
    pub async fn start_again(&mut self) {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < START_MAX, "the server does not start: {}", self.log());
            match self.child.as_mut().map(|child| child.try_wait().expect("a child")) {
                None | Some(Some(_)) => self.child = Some(self.spawn()),
                Some(None) if self.client("postgres").await.is_ok() => return,
                Some(None) => {}
            }
            tokio::time::sleep(EVERY).await;
        }
    }

    fn spawn(&self) -> Child {
        let log = std::fs::File::options().create(true).append(true).open(self.folder.path().join("log"));
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        for setting in [
            "listen_addresses=",
            "fsync=off",
            "full_page_writes=off",
            "shared_buffers=16MB",
            "restart_after_crash=off",
        ] {
            command.args(["-c", setting]);
        }
        command.stderr(log.expect("a log")).spawn().expect("postgres runs")
    }

    /// As a power cut would.
    ///
    /// # Panics
    ///
    /// It cannot be killed.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("it is killed");
            child.wait().expect("it has ended");
        }
    }

    /// A new database on it, and where that is.
    ///
    /// # Panics
    ///
    /// It cannot be made.
    pub async fn database(&self, name: &str) -> Place {
        let client = self.client("postgres").await.expect("the server answers");
        client.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a database");
        Place::from(self.url(name))
    }

    /// A connection past all of this crate.
    ///
    /// # Errors
    ///
    /// The server is not there.
    pub async fn client(&self, database: &str) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(&self.url(database), NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    fn url(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://pavilion@{folder}/{database}")
    }

    /// Whatever it has said.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A program of PostgreSQL's, as somebody whom it does not refuse, which dies with us.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        command.arg(installed(program)).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // SIGKILL leaves its shared memory to the system, which takes it back with the last of its processes.
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0)
}

/// Whether there is one here to start.
pub fn is_installed() -> bool {
    let program = installed("postgres");
    program.is_absolute()
        || std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|dir| dir.join(&program).exists())
}

/// The newest version's.
fn installed(program: &str) -> PathBuf {
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())))
        .map(|(version, folder)| (version, folder.join("bin").join(program)))
        .filter(|(_, path)| path.exists())
        .max();
    newest.map_or_else(|| Path::new(program).to_owned(), |(_, path)| path)
}
