//! Who makes the pass that opens the edge.

/// What a pass says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The stream's; unique.
    pub session: String,
    /// The match, as it stands in URLs.
    pub r#match: String,
    /// Its programmes that are open, as they stand in URLs.
    pub programmes: Vec<String>,
    /// ISO 3166-1: it is good only there. None: everywhere.
    pub country: Option<[u8; 2]>,
    /// The network (ASN) that it is bound to. None: any.
    pub network: Option<u32>,
    /// UTC, seconds: not good from then on.
    pub not_after_s: i64,
    /// UTC, seconds: until then an edge may make a fresh one of it. None: never; the player must ask to play again.
    pub renew_until_s: Option<i64>,
}

/// Makes passes.
pub trait Passes: Send + Sync {
    /// The pass, as it stands in a path.
    ///
    /// # Errors
    ///
    /// Why there is none, for the log.
    fn issue(&self, grant: &Grant) -> Result<String, String>;

    /// A session is over before its time: its viewer stopped it from another device.
    fn revoke(&self, _session: &str) {}
}

/// The same word for everybody, where the edge knows no passes.
pub struct Word(pub String);

impl Passes for Word {
    fn issue(&self, _grant: &Grant) -> Result<String, String> {
        Ok(self.0.clone())
    }
}
