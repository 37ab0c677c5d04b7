//! Who makes the pass that opens the edge.

use pass::{Ask, Refusal};
use subtle::ConstantTimeEq;

/// What a pass says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The stream's; unique.
    pub session: String,
    /// The match's run, as it stands in URLs: `/{match}/{run}/`.
    pub path: String,
    /// Its programmes that are open, as they stand in URLs. None: all of them.
    pub programmes: Option<Vec<String>>,
    /// ISO 3166-1: it is good only there. None: everywhere.
    pub country: Option<[u8; 2]>,
    /// The network (ASN) that it is bound to. None: any.
    pub network: Option<u32>,
    /// UTC, seconds: now.
    pub begin_s: i64,
    /// UTC, seconds: by then the player must ask to play again, however often it was renewed.
    pub end_s: i64,
    /// Edges renew it. Otherwise it is good to its end: nobody knows whether they have paid, or their player takes no
    /// renewals.
    pub renewed: bool,
}

/// Whose pass it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The stream's. None where everybody has the same word.
    pub session: Option<String>,
    /// UTC, seconds: the pass is not good from then on.
    pub until_s: i64,
    /// It may be good for longer: edges renew it.
    pub renewed: bool,
}

/// Makes passes.
pub trait Passes: Send + Sync {
    /// The pass, as it stands in a path.
    ///
    /// # Errors
    ///
    /// Why there is none, for the log.
    fn issue(&self, grant: &Grant) -> Result<String, String>;

    /// Whether a pass opens this, for whoever is asked beside the edge: a licence for `/{match}/{run}/{programme}/`. A
    /// pass that is bound to a place opens nothing when `ask` does not say where its client is.
    ///
    /// # Errors
    ///
    /// Why it does not.
    fn check(&self, token: &str, ask: &Ask<'_>) -> Result<Admitted, Refusal>;

    /// A session is over before its time: its viewer stopped it from another device, or turned out to have no right.
    fn revoke(&self, _session: &str) {}
}

/// The same word for everybody, where the edge knows no passes.
pub struct Word(pub String);

impl Passes for Word {
    fn issue(&self, _grant: &Grant) -> Result<String, String> {
        Ok(self.0.clone())
    }

    fn check(&self, token: &str, _ask: &Ask<'_>) -> Result<Admitted, Refusal> {
        match () {
            () if token.is_empty() => Err(Refusal::Missing),
            () if bool::from(self.0.as_bytes().ct_eq(token.as_bytes())) => {
                Ok(Admitted { session: None, until_s: i64::MAX, renewed: false })
            }
            () => Err(Refusal::Malformed),
        }
    }
}
