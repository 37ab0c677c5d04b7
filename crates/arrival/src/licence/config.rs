//! What the licence endpoint is told.

use std::path::PathBuf;

use drm::Class;
use drm::schedule::Length;
use serde::{Deserialize, Serialize};

use super::System;
use super::limits::WINDOW_S;
use crate::Error;

/// Settings of licences. Secret, period and lead are the pipelines'.
#[derive(Clone, Debug, PartialEq, clap::Args, Serialize, Deserialize)]
#[group(skip)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// File with the pipelines' master secret (their --drm-secret). Without it there are no ClearKey licences.
    #[arg(long, value_name = "FILE")]
    pub licence_secret: Option<PathBuf>,
    /// The pipelines' --drm-period.
    #[arg(long, value_name = "LENGTH", default_value = "0")]
    pub licence_period: String,
    /// The pipelines' --drm-clear-lead.
    #[arg(long, value_name = "LENGTH", default_value = "0")]
    pub licence_clear_lead: String,
    /// How far back viewers may go, in seconds: the origins' window.
    #[arg(long, value_name = "SECONDS", default_value_t = WINDOW_S)]
    pub licence_window_s: u64,
    /// The best picture for devices that keep keys in software: sd is below 720 lines.
    #[arg(long, value_enum, default_value_t = Picture::Sd)]
    pub licence_software: Picture,
    /// A Widevine licence server.
    #[arg(long, value_name = "URL")]
    pub licence_widevine: Option<String>,
    /// A PlayReady licence server.
    #[arg(long, value_name = "URL")]
    pub licence_playready: Option<String>,
    /// A FairPlay licence server (key security module).
    #[arg(long, value_name = "URL")]
    pub licence_fairplay: Option<String>,
}

/// A size of the picture that has keys of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Picture {
    /// Below 720 lines.
    #[default]
    Sd,
    /// All.
    Hd,
}

impl From<Picture> for Class {
    fn from(picture: Picture) -> Class {
        match picture {
            Picture::Sd => Class::Sd,
            Picture::Hd => Class::Hd,
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            licence_secret: None,
            licence_period: "0".into(),
            licence_clear_lead: "0".into(),
            licence_window_s: WINDOW_S,
            licence_software: Picture::default(),
            licence_widevine: None,
            licence_playready: None,
            licence_fairplay: None,
        }
    }
}

impl Config {
    /// The licence server of a system, if there is one.
    pub(super) fn server(&self, system: System) -> Option<&str> {
        match system {
            System::ClearKey => None,
            System::Widevine => self.licence_widevine.as_deref(),
            System::PlayReady => self.licence_playready.as_deref(),
            System::FairPlay => self.licence_fairplay.as_deref(),
        }
    }

    /// The clear lead and the period.
    pub(super) fn lengths(&self) -> Result<(Length, Length), Error> {
        let read = |text: &str| text.parse::<Length>().map_err(|error| Error::Licences(error.to_string()));
        Ok((read(&self.licence_clear_lead)?, read(&self.licence_period)?))
    }
}
