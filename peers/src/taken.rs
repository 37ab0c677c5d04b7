//! What a bench has measured so far.

use crate::figure::Figure;

/// The figures that were asked for, and whether one of them could not be had.
pub(crate) struct Taken<'a> {
    only: &'a [String],
    figures: &'a mut Vec<Figure>,
    /// What is said of each of them.
    on: Option<String>,
    /// Something could not be measured.
    pub(crate) failed: bool,
}

impl<'a> Taken<'a> {
    /// `only` these, or all if there are none; they are added to `figures`.
    pub(crate) fn new(only: &'a [String], figures: &'a mut Vec<Figure>) -> Taken<'a> {
        Taken { only, figures, on: None, failed: false }
    }

    /// Says this of each of them.
    pub(crate) fn on(mut self, on: String) -> Taken<'a> {
        self.on = Some(on);
        self
    }

    /// Whether one of these was asked for.
    pub(crate) fn wants(&self, ids: &[&str]) -> bool {
        self.only.is_empty() || self.only.iter().any(|id| ids.contains(&id.as_str()))
    }

    /// Says and keeps those that were asked for.
    pub(crate) fn take(&mut self, what: &str, measured: anyhow::Result<Vec<Figure>>) {
        match measured {
            Ok(measured) => {
                for figure in measured {
                    if self.wants(&[figure.id]) {
                        let figure = self.on.iter().fold(figure, Figure::how);
                        println!("{figure}");
                        self.figures.push(figure);
                    }
                }
            }
            Err(error) => self.fail(what, &error),
        }
    }

    /// Says what could not be measured.
    pub(crate) fn fail(&mut self, what: &str, error: &anyhow::Error) {
        println!("FAIL  could not measure {what}: {error:#}");
        self.failed = true;
    }
}
