//! Why a pass does not open.

/// The reason, in a word for metrics and logs and a sentence for people. It says nothing of the pass's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// There is none.
    #[error("this address needs a pass; open the match from its page")]
    Missing,
    /// Not a token of any kind that is taken here, or cut short.
    #[error("the pass is not well formed; open the match from its page again")]
    Malformed,
    /// Signed with a key that is not known, not in use yet, or retired.
    #[error("the pass was made with a key that is not in use; open the match from its page again")]
    UnknownKey,
    /// Its signature does not hold.
    #[error("the pass is not genuine; open the match from its page again")]
    Forged,
    /// Over.
    #[error("the pass has expired; open the match from its page again")]
    Expired,
    /// Not yet.
    #[error("the pass is not valid yet; try again when the match is open, and check this device's clock")]
    NotYet,
    /// From, or for, somebody else.
    #[error("the pass is not meant for this service")]
    WrongIssuer,
    /// For another match, programme, host or file.
    #[error("the pass is for something else; open this match from its page")]
    WrongPath,
    /// For other methods.
    #[error("the pass does not allow this kind of request")]
    WrongMethod,
    /// For other countries, or it is not known where this client is.
    #[error("this match is not available where you are")]
    WrongCountry,
    /// For other networks.
    #[error("the pass belongs to another network; open the match from its page again")]
    WrongNetwork,
    /// Its session was ended.
    #[error("this session was ended; open the match from its page again")]
    Revoked,
    /// Good for once, and used.
    #[error("the pass was good for one request and has been used")]
    Replayed,
    /// Its session came from more networks than are allowed.
    #[error("this session is used in too many places; open the match on your own device")]
    Shared,
    /// It asks for a check that is not made here, so it cannot be taken (a claim that is not understood restricts
    /// nothing, and the issuer meant it to).
    #[error("the pass asks for a check that this server does not make")]
    Unsupported,
}

impl Refusal {
    /// All of them, in the order of their numbers.
    pub const ALL: [Refusal; 15] = [
        Refusal::Missing,
        Refusal::Malformed,
        Refusal::UnknownKey,
        Refusal::Forged,
        Refusal::Expired,
        Refusal::NotYet,
        Refusal::WrongIssuer,
        Refusal::WrongPath,
        Refusal::WrongMethod,
        Refusal::WrongCountry,
        Refusal::WrongNetwork,
        Refusal::Revoked,
        Refusal::Replayed,
        Refusal::Shared,
        Refusal::Unsupported,
    ];

    /// For metrics and logs; it never changes.
    pub fn label(self) -> &'static str {
        match self {
            Refusal::Missing => "missing",
            Refusal::Malformed => "malformed",
            Refusal::UnknownKey => "unknown_key",
            Refusal::Forged => "forged",
            Refusal::Expired => "expired",
            Refusal::NotYet => "not_yet",
            Refusal::WrongIssuer => "wrong_issuer",
            Refusal::WrongPath => "wrong_path",
            Refusal::WrongMethod => "wrong_method",
            Refusal::WrongCountry => "wrong_country",
            Refusal::WrongNetwork => "wrong_network",
            Refusal::Revoked => "revoked",
            Refusal::Replayed => "replayed",
            Refusal::Shared => "shared",
            Refusal::Unsupported => "unsupported",
        }
    }

    /// Whether another pass would help (401), or not (403): RFC 9110, 15.5.2 and 15.5.4.
    pub fn status(self) -> u16 {
        match self {
            Refusal::Missing
            | Refusal::Malformed
            | Refusal::UnknownKey
            | Refusal::Forged
            | Refusal::Expired
            | Refusal::NotYet => 401,
            _ => 403,
        }
    }
}
