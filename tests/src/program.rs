//! The binary under test.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;

use crate::process;

/// A program that was asked to end and has children of its own gets this long.
const END_MAX: Duration = Duration::from_secs(8);
/// Lines of a log that are shown when a test has failed.
const TAIL: usize = 80;

/// Makes it, with the features of everything else, so that nothing is compiled twice.
const BUILD: &str = "cargo build --workspace --all-targets";

/// Where the binary is: `PAVILION_BIN`, or beside the tests, where it must not be older than its sources.
pub fn path() -> PathBuf {
    if let Some(path) = std::env::var_os("PAVILION_BIN") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().and_then(Path::parent).unwrap();
    let path = folder.join("pavilion");
    let Ok(built) = path.metadata().and_then(|m| m.modified()) else {
        panic!("{} is not there: {BUILD}", path.display());
    };
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    for source in std::fs::read_dir(crates).unwrap() {
        let source = source.unwrap().path().join("src");
        let changed = newest(&source);
        assert!(changed <= built, "{} is newer than {}: {BUILD}", source.display(), path.display());
    }
    path
}

/// When a file below this folder was last changed that the binary is made of.
fn newest(folder: &Path) -> SystemTime {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let built = entries.filter(|entry| entry.file_name() != "tests" && entry.file_name() != "tests.rs");
    let changed = built.map(|entry| match entry.metadata().unwrap() {
        of if of.is_dir() => newest(&entry.path()),
        of => of.modified().unwrap(),
    });
    changed.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The binary, with nothing of this environment that could configure it.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(path());
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("PAVILION_")) {
            command.env_remove(name);
        }
    }
    command.args(args);
    command
}

/// Runs it to its end. Panics when that takes longer than `limit`.
pub fn output(args: &[&str], limit: Duration) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::start(folder.path(), "once", args);
    let status = program.ends_within(limit);
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    Output { status, stdout: read("once.out"), stderr: read("once.log") }
}

/// The binary running as a child. It ends, with all its children, when this is dropped, or when the test's
/// process does.
pub struct Program {
    child: Child,
    log: PathBuf,
}

impl Program {
    /// Starts it; stdout goes to `{name}.out` and stderr to `{name}.log` in `folder`.
    pub fn start(folder: &Path, name: &str, args: &[&str]) -> Program {
        let log = folder.join(format!("{name}.log"));
        let file = |path: &Path| File::options().create(true).append(true).open(path).unwrap();
        let mut command = command(args);
        // It ends when its standard input does, so a killed test leaves nothing running.
        command.env("PAVILION_SUPERVISED", "1").stdin(Stdio::piped());
        command.stdout(file(&folder.join(format!("{name}.out")))).stderr(file(&log));
        Program { child: command.spawn().unwrap(), log }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for its end. Panics after `limit`.
    pub fn ends_within(&mut self, limit: Duration) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return status;
            }
            assert!(began.elapsed() < limit, "still running after {limit:?}:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, as Ctrl-C does, and panics if anything of it is left.
    pub fn end(&mut self) -> ExitStatus {
        let below = process::descendants(self.pid());
        process::signal(self.pid(), Signal::TERM);
        let status = self.ends_within(END_MAX);
        assert!(process::gone(&below, END_MAX), "it left children running: {below:?}");
        status
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!(
                "--- {}, its end:\n{}",
                self.log.display(),
                lines[lines.len().saturating_sub(TAIL)..].join("\n")
            );
        }
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return;
        }
        let below = process::descendants(self.pid());
        process::signal(self.pid(), Signal::TERM);
        let began = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && began.elapsed() < END_MAX {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !process::gone(&below, Duration::from_secs(1)) {
            below.iter().for_each(|pid| _ = process::kill(*pid));
        }
    }
}
