//! What is played: from the configuration to a scoreboard.

use std::path::Path;

use scores::recording::{BYTES_MAX, DEMO, Recording};
use timeline::Utc;

use crate::Error;
use crate::config::Config;
use crate::scoreboard::Scoreboard;

/// From the ground's own start to the match's: pipelines and pages are there by then.
const STARTS_AFTER_MS: i64 = 15_000;

/// The match that ships with the project.
const SHIPPED: &str = "demo";

/// The scoreboard that is asked for, if one is. Its start is logged, for whoever plays the same match as a feed.
pub(crate) fn board(config: &Config, now_ms: i64) -> Result<Option<Scoreboard>, Error> {
    let Some(file) = &config.play else { return Ok(None) };
    let refuse = |why: String| Error::Play { file: file.clone(), why };
    if !(config.speed.is_finite() && config.speed > 0.0) {
        return Err(refuse(format!("--speed {} is no speed; give a number above 0", config.speed)));
    }
    let recording = match file.as_str() {
        SHIPPED => Recording::read(DEMO),
        file => read(Path::new(file)).map_err(refuse)?,
    };
    let recording = recording.map_err(|error| refuse(error.to_string()))?;
    let starts_ms = match config.starts {
        Some(Utc(micros)) => micros.div_euclid(1_000),
        None => now_ms.saturating_add(STARTS_AFTER_MS),
    };
    let starts = Utc(starts_ms.saturating_mul(1_000));
    tracing::info!(match_title = %recording.title, %starts, speed = config.speed, "ground: plays a match");
    Ok(Some(Scoreboard::new(&recording, starts_ms, config.speed)))
}

/// A recording of ours, or what Cricsheet publishes: that has an `info`, ours has none.
fn read(file: &Path) -> Result<Result<Recording, scores::Error>, String> {
    let length =
        std::fs::metadata(file).map_err(|error| format!("{error}; give a file, or `{SHIPPED}`"))?.len();
    if length > BYTES_MAX as u64 {
        return Err(format!("it has {length} bytes, more than the {BYTES_MAX} of any match"));
    }
    let json = std::fs::read_to_string(file).map_err(|error| format!("{error}; give a JSON file"))?;
    Ok(match Recording::read(&json) {
        Err(_) if json.contains("\"info\"") => Recording::from_cricsheet(&json),
        read => read,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_played_says_what_to_give() {
        let refused = |change: fn(&mut Config)| {
            let mut config = Config { play: Some("/no/such/match.json".to_owned()), ..Config::default() };
            change(&mut config);
            board(&config, 0).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert!(refused(|_| {}).contains("`demo`"));
        assert!(refused(|config| config.speed = 0.0).contains("above 0"));
        assert!(refused(|config| config.speed = f64::NAN).contains("above 0"));
        let dir = std::env::temp_dir().display().to_string();
        assert!(board(&Config { play: Some(dir), ..Config::default() }, 0).is_err());
        assert!(board(&Config::default(), 0).unwrap().is_none());
    }
}
