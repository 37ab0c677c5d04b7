//! What is measured beside Pavilion: how each product is called, configured and started. The configurations are in
//! `peers/edge`; here only names, ports and paths are filled in.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::installed::program;

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Pavilion,
    Nginx,
    Varnish,
    TrafficServer,
    HaProxy,
    Apache,
}

/// What a configuration is told.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// For all that it writes; its configuration is put here too.
    pub(crate) dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) tls_port: u16,
    pub(crate) origin_port: u16,
    /// Threads or processes that serve.
    pub(crate) workers: usize,
    /// PEM files: certificate, key, and both in one.
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) both: PathBuf,
}

impl Product {
    /// The four that every figure is compared with.
    pub(crate) const PEERS: [Product; 4] =
        [Product::HaProxy, Product::Nginx, Product::TrafficServer, Product::Varnish];

    /// Lower-case, as in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Product::Pavilion => "pavilion",
            Product::Nginx => "nginx",
            Product::Varnish => "varnish",
            Product::TrafficServer => "trafficserver",
            Product::HaProxy => "haproxy",
            Product::Apache => "apache",
        }
    }

    /// The Debian package, where its name is another.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Product::Apache => "apache2",
            other => other.name(),
        }
    }

    /// Whether it speaks TLS by itself.
    pub(crate) fn has_tls(self) -> bool {
        self != Product::Varnish
    }

    /// The program that serves, if it is installed.
    pub(crate) fn program(self) -> Option<PathBuf> {
        let name = match self {
            Product::Varnish => "varnishd",
            Product::TrafficServer => "traffic_server",
            other => other.package(),
        };
        program(name)
    }

    /// Writes its configuration from `templates` into its place; answers the words after the program's name.
    pub(crate) fn configure(self, templates: &Path, place: &Place) -> anyhow::Result<Vec<String>> {
        let from = templates.join(self.name());
        for entry in std::fs::read_dir(&from).with_context(|| format!("no {}", from.display()))? {
            let entry = entry?;
            let text = std::fs::read_to_string(entry.path())?;
            let text = fill(&text, place).with_context(|| format!("in {}", entry.path().display()))?;
            std::fs::write(place.dir.join(entry.file_name()), text)?;
        }
        std::fs::create_dir_all(place.dir.join("cache"))?;
        let dir = place.dir.display();
        let line = match self {
            Product::Pavilion => String::new(),
            Product::Nginx => format!("-e stderr -p {dir}/ -c {dir}/nginx.conf"),
            Product::HaProxy => format!("-db -f {dir}/haproxy.cfg"),
            Product::TrafficServer => format!("--run-root={dir}/runroot.yaml"),
            Product::Apache => format!("-d {dir} -f {dir}/apache.conf -DFOREGROUND"),
            Product::Varnish => return varnish(place),
        };
        Ok(line.split_ascii_whitespace().map(str::to_owned).collect())
    }
}

/// Varnish takes its parameters as arguments: one a line in its file, after `#` why.
fn varnish(place: &Place) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(place.dir.join("varnishd.args"))?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    Ok(lines.flat_map(str::split_ascii_whitespace).map(str::to_owned).collect())
}

/// Replaces the `@names@` of a template.
fn fill(template: &str, place: &Place) -> anyhow::Result<String> {
    let values = [
        ("dir", place.dir.display().to_string()),
        ("port", place.port.to_string()),
        ("tls_port", place.tls_port.to_string()),
        ("origin", place.origin_port.to_string()),
        ("workers", place.workers.to_string()),
        ("cert", place.cert.display().to_string()),
        ("key", place.key.display().to_string()),
        ("both", place.both.display().to_string()),
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

    fn place(dir: &Path) -> Place {
        let file = |name: &str| dir.join(name);
        Place {
            dir: dir.to_owned(),
            port: 1,
            tls_port: 2,
            origin_port: 3,
            workers: 4,
            cert: file("cert.pem"),
            key: file("key.pem"),
            both: file("both.pem"),
        }
    }

    #[test]
    fn every_name_in_every_configuration_is_known() {
        let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("edge");
        for product in Product::PEERS.into_iter().chain([Product::Apache]) {
            let dir = tempfile::tempdir().unwrap();
            let args = product.configure(&templates, &place(dir.path())).unwrap();
            assert!(args.iter().any(|a| a.contains(dir.path().to_str().unwrap())), "{args:?}");
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(fill("listen @port@ of @origin@", &place(dir.path())).unwrap(), "listen 1 of 3");
        assert!(fill("listen @prot@", &place(dir.path())).is_err());
    }
}
