//! The programs that we run as children.

use std::io;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use contribution::supervise;

use crate::Error;

/// A program and the Debian package that has it.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    package: &'static str,
}

pub(crate) const FFMPEG: Program = Program { name: "ffmpeg", package: "ffmpeg" };
pub(crate) const FFPROBE: Program = Program { name: "ffprobe", package: "ffmpeg" };
pub(crate) const ESPEAK: Program = Program { name: "espeak-ng", package: "espeak-ng" };
pub(crate) const SRT: Program = Program { name: "srt-live-transmit", package: "srt-tools" };

impl Program {
    /// For a child that runs as long as we do; begin with [`Program::installed`].
    pub(crate) fn command(self) -> Command {
        supervise::command(self.name)
    }

    /// Fails when it is not installed; `version` is the argument that makes it print its version.
    pub(crate) async fn installed(self, version: &str) -> Result<(), Error> {
        match self.output(&[version], &[]).await {
            Ok(_) | Err(Error::Failed { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Runs it over bytes; fails when it exits with anything but 0.
    pub(crate) async fn filter(self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, Error> {
        let output = self.output(args, input).await?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().map(str::trim).rfind(|line| !line.is_empty());
        let why = last.map_or_else(|| output.status.to_string(), str::to_owned);
        Err(Error::Failed { program: self.name, why })
    }

    async fn output(self, args: &[&str], input: &[u8]) -> Result<std::process::Output, Error> {
        let mut child = Command::new(self.name)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => Error::Missing { program: self.name, package: self.package },
                _ => Error::System(error),
            })?;
        let stdin = child.stdin.take();
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A broken pipe shows in the exit status, with the reason on stderr.
                let _ = stdin.write_all(input).await;
            }
        };
        let ((), output) = tokio::join!(feed, child.wait_with_output());
        Ok(output?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_missing_program_says_what_to_install() {
        let missing = Program { name: "no-such-program-here", package: "its-package" };
        let error = missing.filter(&[], &[]).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "no-such-program-here is not installed: install it with `apt-get install its-package`"
        );
        missing.installed("-version").await.unwrap_err();
    }
}
