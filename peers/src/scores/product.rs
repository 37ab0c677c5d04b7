//! What is measured beside Pavilion: how each product is called and configured. The configurations are in
//! `peers/scores`; here only names, ports and paths are filled in.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::audience::speech::{Mark, Speech, Step};
use crate::installed::{self, program};

/// A server of sockets that is not ours, or that is next to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Peer {
    /// [`super::bare`].
    Bare,
    Centrifugo,
    Nats,
    Nchan,
    Socketify,
}

/// Python that prints it.
const SOCKETIFY_VERSION: &[&str] = &["-c", "import importlib.metadata as m; print(m.version('socketify'))"];

/// What a configuration is told.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// For all that it writes; its configuration is put here too.
    pub(crate) dir: PathBuf,
    /// For subscribers.
    pub(crate) port: u16,
    /// For publishers, where that is another.
    pub(crate) publish: u16,
    /// Processes of those that have several.
    pub(crate) workers: usize,
}

impl Peer {
    /// All.
    pub(crate) const ALL: [Peer; 5] =
        [Peer::Bare, Peer::Centrifugo, Peer::Nats, Peer::Nchan, Peer::Socketify];

    /// Lower-case, as in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Bare => "bare",
            Peer::Centrifugo => "centrifugo",
            Peer::Nats => "nats",
            Peer::Nchan => "nchan",
            Peer::Socketify => "socketify",
        }
    }

    /// Whether messages can be published through it here.
    pub(crate) fn publishes(self) -> bool {
        self != Peer::Socketify
    }

    /// The program, if it is installed.
    pub(crate) fn program(self, root: &Path) -> Option<PathBuf> {
        let ours = |path: &str| Some(root.join("peers/scores").join(path)).filter(|p| p.is_file());
        match self {
            Peer::Bare => std::env::current_exe().ok(),
            Peer::Centrifugo => ours(".bin/centrifugo"),
            Peer::Nats => program("nats-server"),
            Peer::Nchan => {
                let module = Path::new("/usr/lib/nginx/modules/ngx_nchan_module.so");
                program("nginx").filter(|_| module.is_file())
            }
            Peer::Socketify => ours(".venv/bin/python"),
        }
    }

    /// Its version, for people.
    pub(crate) async fn version(self, root: &Path) -> Option<String> {
        let said = |path: PathBuf, args: &'static [&'static str]| async move {
            let output = tokio::process::Command::new(path).args(args).output().await.ok()?;
            let line = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
            (output.status.success() && !line.is_empty()).then_some(line)
        };
        match self {
            Peer::Bare => Some("ours".to_owned()),
            Peer::Centrifugo => {
                let file = self.program(root)?.with_file_name("version");
                std::fs::read_to_string(file).ok().map(|version| version.trim().to_owned())
            }
            Peer::Nats => installed::version("nats-server").await,
            Peer::Nchan => installed::version("libnginx-mod-nchan").await,
            Peer::Socketify => said(self.program(root)?, SOCKETIFY_VERSION).await,
        }
    }

    /// Writes its configuration from `templates` into its place; answers the words after the program's name.
    pub(crate) fn configure(self, templates: &Path, place: &Place) -> anyhow::Result<Vec<String>> {
        let Place { dir, port, publish, .. } = place;
        if self != Peer::Bare {
            let from = templates.join(self.name());
            for entry in std::fs::read_dir(&from).with_context(|| format!("no {}", from.display()))? {
                let entry = entry?;
                let text = std::fs::read_to_string(entry.path())?;
                let text = fill(&text, place).with_context(|| format!("in {}", entry.path().display()))?;
                std::fs::write(dir.join(entry.file_name()), text)?;
            }
            std::fs::create_dir_all(dir.join("cache"))?;
        }
        let dir = dir.display();
        let line = match self {
            Peer::Bare => {
                format!("score-bare --listen 127.0.0.1:{port} --publish 127.0.0.1:{publish}")
            }
            Peer::Centrifugo => format!("--config {dir}/config.yaml"),
            Peer::Nats => format!("-c {dir}/nats.conf"),
            Peer::Nchan => format!("-e stderr -p {dir}/ -c {dir}/nginx.conf"),
            Peer::Socketify => format!("{dir}/app.py {port}"),
        };
        Ok(line.split_ascii_whitespace().map(str::to_owned).collect())
    }

    /// How its subscribers speak.
    pub(crate) fn speech(self) -> Speech {
        let mark = Mark { text: super::payload::MARK.to_owned(), unit_us: 1 };
        let plain = Speech { path: "/".to_owned(), mark, ..Speech::default() };
        match self {
            Peer::Bare | Peer::Socketify => plain,
            Peer::Nchan => Speech { path: "/sub?id=@channel@".to_owned(), ..plain },
            Peer::Centrifugo => Speech {
                path: "/connection/websocket".to_owned(),
                greet: vec![Step::new(r#"{"id":1,"connect":{}}"#, "\"connect\"")],
                subscribe: Some(Step::new(
                    r#"{"id":2,"subscribe":{"channel":"@channel@"}}"#,
                    "\"subscribe\"",
                )),
                ..plain
            },
            Peer::Nats => Speech {
                greet: vec![
                    Step::new("", "INFO"),
                    Step::new("CONNECT {\"verbose\":false,\"pedantic\":false}\r\nPING\r\n", "PONG"),
                ],
                // The subscription is there when the server has answered what came after it.
                subscribe: Some(Step::new("SUB @channel@ 1\r\nPING\r\n", "PONG")),
                ..plain
            },
        }
    }
}

/// Replaces the `@names@` of a template.
fn fill(template: &str, place: &Place) -> anyhow::Result<String> {
    let values = [
        ("dir", place.dir.display().to_string()),
        ("port", place.port.to_string()),
        ("publish", place.publish.to_string()),
        ("workers", place.workers.to_string()),
    ];
    let mut text = template.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("@{name}@"), &value);
    }
    let left = text.split('@').skip(1).step_by(2).next();
    ensure!(left.is_none(), "@{}@ is not known", left.unwrap_or_default());
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_in_every_configuration_is_known() {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("scores");
        for peer in Peer::ALL {
            let dir = tempfile::tempdir().unwrap();
            let place = Place { dir: dir.path().to_owned(), port: 1, publish: 2, workers: 1 };
            let args = peer.configure(&templates, &place).unwrap();
            assert!(!args.is_empty(), "{peer:?}");
        }
        let place = Place { dir: "/x".into(), port: 1, publish: 2, workers: 1 };
        assert!(fill("listen @prot@", &place).is_err());
    }
}
