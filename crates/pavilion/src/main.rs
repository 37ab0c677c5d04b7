//! Pavilion: carries a live match from the ground to the screen. See ARCHITECTURE.md.

mod admin;
mod all;
mod child;
mod cli;
mod descriptors;
mod letters;
mod passes;
mod restart;
mod roles;
mod score;
mod settings;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (matches, sources) = match settings::parse(std::env::args_os()) {
        Ok(parsed) => parsed,
        Err(settings::Refusal::Clap(error)) => error.exit(),
        Err(settings::Refusal::Sentence(sentence)) => {
            eprintln!("pavilion: {sentence}");
            return ExitCode::from(2);
        }
    };
    match cli::dispatch(&matches, &sources) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pavilion: {error:#}");
            ExitCode::FAILURE
        }
    }
}
