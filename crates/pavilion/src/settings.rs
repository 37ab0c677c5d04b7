//! Where settings come from: flags, then the environment, then the file, then defaults. The file's values and
//! the environment's names are put into the command before it parses, so there is one parser for all.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};

use crate::cli::Cli;

/// Why there are no settings.
pub(crate) enum Refusal {
    /// A usage error, or help; clap says it best.
    Clap(clap::Error),
    /// Anything else, in one sentence.
    Sentence(String),
}

/// Which file was read, if any.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) file: Option<PathBuf>,
    /// Flags that the file sets, by role.
    set: BTreeMap<String, Vec<String>>,
}

/// Parses arguments over environment and file.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<(ArgMatches, Sources), Refusal> {
    let args: Vec<OsString> = args.into_iter().collect();
    let (command, sources) = layered(file_named(&args).as_deref()).map_err(Refusal::Sentence)?;
    let matches = command.try_get_matches_from(args).map_err(Refusal::Clap)?;
    Ok((matches, sources))
}

/// The file must be known before the rest can be parsed.
fn file_named(args: &[OsString]) -> Option<PathBuf> {
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        let Some(word) = word.to_str() else { continue };
        if word == "--config" {
            return words.next().map(PathBuf::from);
        }
        if let Some(file) = word.strip_prefix("--config=") {
            return Some(PathBuf::from(file));
        }
    }
    std::env::var_os("PAVILION_CONFIG").map(PathBuf::from)
}

fn layered(file: Option<&Path>) -> Result<(Command, Sources), String> {
    let mut command = Cli::command();
    let mut sources = Sources::default();
    let roles: Vec<String> = command.get_subcommands().map(|c| c.get_name().to_owned()).collect();
    for role in &roles {
        command =
            command.mut_subcommand(role.as_str(), |sub| sub.mut_args(|arg| with_environment(role, arg)));
    }
    let Some(file) = file else { return Ok((command, sources)) };
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|e| format!("cannot read {name}: {e}"))?;
    let table: toml::Table = text.parse().map_err(|e: toml::de::Error| format!("{name}: {}", e.message()))?;
    for (role, values) in &table {
        let Some(sub) = command.find_subcommand(role).cloned() else {
            return Err(format!(
                "{name} has a table [{role}], but there is no such role; the roles are {}",
                roles.join(", ")
            ));
        };
        let toml::Value::Table(values) = values else {
            return Err(format!("{name}: '{role}' must be a table: write [{role}] and its settings below"));
        };
        let known: Vec<String> =
            sub.get_arguments().filter_map(|a| a.get_long().map(str::to_owned)).collect();
        for (key, value) in values {
            let long = key.replace('_', "-");
            let id = sub.get_arguments().find(|a| a.get_long() == Some(&long)).map(|a| a.get_id().clone());
            let Some(id) = id else {
                return Err(format!(
                    "{name} sets '{key}' in [{role}], which has no such setting; it has {}",
                    known.join(", ")
                ));
            };
            let words = words(value).ok_or_else(|| {
                format!("{name}: {role}.{key} must be a word, a number, true or false, or a list of these")
            })?;
            command = command.mut_subcommand(role.as_str(), |sub| {
                sub.mut_arg(id, |arg| arg.required(false).default_values(words))
            });
            sources.set.entry(role.clone()).or_default().push(long);
        }
    }
    sources.file = Some(file.to_owned());
    Ok((command, sources))
}

fn with_environment(role: &str, arg: Arg) -> Arg {
    if arg.get_env().is_some() || arg.get_long().is_none() {
        return arg;
    }
    let name = format!("PAVILION_{role}_{}", arg.get_id()).to_uppercase().replace('-', "_");
    arg.env(name).hide_env(true)
}

fn words(value: &toml::Value) -> Option<Vec<String>> {
    match value {
        toml::Value::Array(all) => all.iter().map(word).collect(),
        one => Some(vec![word(one)?]),
    }
}

fn word(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(s) => Some(s.clone()),
        toml::Value::Integer(n) => Some(n.to_string()),
        toml::Value::Float(n) => Some(n.to_string()),
        toml::Value::Boolean(b) => Some(b.to_string()),
        toml::Value::Datetime(t) => Some(t.to_string()),
        toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}

/// Prints a role's settings, one a line, with where each comes from.
pub(crate) fn show(words: &[String], file: Option<&Path>) -> anyhow::Result<()> {
    let (command, sources) = layered(file).map_err(anyhow::Error::msg)?;
    let role = words.first().map(String::as_str).unwrap_or_default();
    let Some(sub) = command.find_subcommand(role).cloned() else {
        let roles: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        bail!("there is no role '{role}'; the roles are {}", roles.join(", "));
    };
    // What is missing is shown as missing, not refused.
    let arguments: Vec<Arg> = sub.get_arguments().cloned().collect();
    let matches = command
        .mut_subcommand(role, |sub| sub.mut_args(|arg| arg.required(false)))
        .try_get_matches_from(std::iter::once("pavilion").chain(words.iter().map(String::as_str)))
        .unwrap_or_else(|e| e.exit());
    let Some((_, matches)) = matches.subcommand() else { return Ok(()) };
    let from_file = sources.set.get(role).cloned().unwrap_or_default();
    for arg in arguments {
        let Some(long) =
            arg.get_long().filter(|l| !matches!(*l, "help" | "version" | "config" | "log-json" | "log"))
        else {
            continue;
        };
        let id = arg.get_id().as_str();
        let secret = arg.is_hide_env_values_set();
        let value = match matches.get_raw(id) {
            None if matches!(arg.get_action(), ArgAction::SetTrue) => "false".to_owned(),
            None => "-".to_owned(),
            Some(_) if secret => "(set)".to_owned(),
            Some(values) => values.map(|v| store::shown(&v.to_string_lossy())).collect::<Vec<_>>().join(","),
        };
        let source = match matches.value_source(id) {
            Some(ValueSource::CommandLine) => "flag".to_owned(),
            Some(ValueSource::EnvVariable) => {
                format!("environment ({})", arg.get_env().unwrap_or_default().to_string_lossy())
            }
            Some(_) if from_file.iter().any(|l| l == long) => {
                format!("file ({})", sources.file.as_deref().unwrap_or(Path::new("?")).display())
            }
            Some(_) => "default".to_owned(),
            None if arg.is_required_set() => "MISSING".to_owned(),
            None => "not set".to_owned(),
        };
        println!("{long:<24} {value:<40} {source}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file(text: &str) -> Result<(Command, Sources), String> {
        let file = std::env::temp_dir().join(format!(
            "pavilion-settings-{}-{}.toml",
            std::process::id(),
            fastrand::u64(..)
        ));
        std::fs::write(&file, text).unwrap();
        let layered = layered(Some(&file));
        std::fs::remove_file(&file).unwrap();
        layered
    }

    #[test]
    fn the_command_is_sound() {
        layered(None).ok().unwrap().0.debug_assert();
    }

    #[test]
    fn a_file_gives_defaults_that_flags_beat() {
        let (command, _) = in_file("[stadium]\nsrt-port = 7000\nsize = \"640x360\"\n").unwrap();
        let port = |args: &[&str]| {
            let matches = command.clone().try_get_matches_from(args).unwrap();
            *matches.subcommand().unwrap().1.get_one::<u16>("srt_port").unwrap()
        };
        assert_eq!(port(&["pavilion", "stadium"]), 7_000);
        assert_eq!(port(&["pavilion", "stadium", "--srt-port", "7001"]), 7_001);
        // What a command needs may come from the file.
        let (command, _) = in_file("[pipeline]\nname = \"a\"\nepoch = \"2026-11-29T14:00:00Z\"\ninput = \"x.ts\"\norigin = [\"http://o:1\"]\n").unwrap();
        command.try_get_matches_from(["pavilion", "pipeline"]).unwrap();
    }

    #[test]
    fn a_wrong_file_says_what_to_write() {
        for (text, says) in [
            ("[stadum]\n", "there is no such role"),
            ("[stadium]\nprot = 1\n", "it has admin, srt-port"),
            ("stadium = 1\n", "write [stadium]"),
            ("[stadium]\nsrt-port = {a=1}\n", "must be a word"),
            ("[stadium\n", ""),
        ] {
            let error = in_file(text).err().unwrap();
            assert!(error.contains(says), "{error}");
        }
    }
}
