//! Every number that bounds the way in, with its reason.

/// How long an access token is good, in seconds (the design: 15 minutes). It is what a revoked session lives on at
/// edges, which ask nobody.
pub(crate) const TOKEN_LIFE_S: i64 = 15 * 60;

/// A session that is not used for this long is over, in milliseconds: sixty days, so that who watches each final of a
/// season stays signed in.
pub(crate) const SESSION_LIFE_MS: i64 = 60 * 24 * 3_600_000;

/// For how long the last refresh token still gives its successor, in milliseconds, unless the successor was presented
/// meanwhile. A phone that lost an answer tries again within its timeout of some seconds, and two tabs wake together;
/// whoever steals a token gets no more by it than the same successor as its owner, and the second of them to use that
/// ends the family.
pub(crate) const GRACE_MS: i64 = 30_000;

/// Sessions of one account. A household has fewer devices; what a plan allows to play at once is another limit.
pub(crate) const SESSIONS_MAX: usize = 20;

/// Profiles of one account: a household.
pub(crate) const PROFILES_MAX: usize = 6;

/// A body of a request, in bytes: the longest has two passwords of [`PASSWORD_BYTES_MAX`] and a token.
pub(crate) const BODY_BYTES_MAX: usize = 8 << 10;

/// A password, in characters at least (NIST SP 800-63B, 5.1.1.2) and in bytes at most: a sentence in any script; argon2
/// hashes it first, so its length costs nothing.
pub(crate) const PASSWORD_CHARS_MIN: usize = 8;
pub(crate) const PASSWORD_BYTES_MAX: usize = 1_024;

/// An e-mail address, in bytes (RFC 5321, 4.5.3.1.3, less the brackets).
pub(crate) const EMAIL_BYTES_MAX: usize = 254;

/// A profile's name or a device's, in characters: what fits on a button of a phone.
pub(crate) const NAME_CHARS_MAX: usize = 40;

/// A code that proves an address: how long it is good, in milliseconds (time to find the mail), and how many wrong
/// ones it takes. It has 40 bits, so five guesses of 2^40.
pub(crate) const CODE_LIFE_MS: i64 = 20 * 60_000;
pub(crate) const CODE_TRIES: u32 = 5;

/// Hashes that wait for a thread, for each thread. One takes some 30 ms, so the last of these would wait two seconds;
/// more is told at once to come back.
pub(crate) const HASHES_WAITING_PER_THREAD: usize = 64;

/// The longest wait for a hash, in milliseconds: beyond it people tap again, which makes it worse.
pub(crate) const HASH_WAIT_MS: u64 = 2_500;

/// Access tokens whose check is remembered: what one process sees within a quarter of an hour of a busy evening; some
/// 300 bytes each.
pub(crate) const VERIFIED_MAX: usize = 50_000;

/// Addresses and accounts whose buckets are remembered; some 100 bytes each. One that is forgotten is full again: an
/// attacker who can come from a million addresses has no use for that.
pub(crate) const BUCKETS_MAX: usize = 100_000;

/// Tries of one account's password or code: ten at once, then one in half a minute; a right one costs none. Online
/// guessing is then 3,000 a day; and who is locked out by others is for half a minute at most.
pub(crate) const PER_ACCOUNT: (f64, f64) = (10.0, 1.0 / 30.0);

/// Mails to one address: three at once, then one in ten minutes.
pub(crate) const MAILS_PER_ACCOUNT: (f64, f64) = (3.0, 1.0 / 600.0);

/// Requests that cost a hash or a mail, from one client address (IPv4, or an IPv6 /64). A mobile network puts tens of
/// thousands behind one, so it is generous: it only keeps one machine from taking the whole pool.
pub(crate) const DEAR_PER_CLIENT: (f64, f64) = (60.0, 5.0);

/// Other requests from one client address, which cost some microseconds of signing.
pub(crate) const CHEAP_PER_CLIENT: (f64, f64) = (2_000.0, 500.0);

/// The longest `Retry-After` of an overload, in seconds; each is drawn from 1 to this.
pub(crate) const RETRY_AFTER_S_MAX: u32 = 5;

/// Mails that wait in the spool: an outage of the relay must not fill the disk.
pub(crate) const SPOOL_MAX: usize = 20_000;

/// Sessions and codes forgotten in one go, and how often, in seconds: the writer must not be held for long.
pub(crate) const SWEEP_MAX: usize = 500;
pub(crate) const SWEEP_EVERY_S: u64 = 60;

/// How often the keys are looked at, in seconds: what another process made is needed a day later.
pub(crate) const KEYS_EVERY_S: u64 = 30;

/// How long a sign-in at a provider may take, in seconds: finding the phone for the second factor.
pub(crate) const OIDC_STATE_S: i64 = 15 * 60;

/// A provider's answer: bytes, and the wait for it in milliseconds.
pub(crate) const OIDC_ANSWER_BYTES_MAX: usize = 256 << 10;
pub(crate) const OIDC_WAIT_MS: u64 = 3_000;

/// How long a provider's settings and keys are good, in milliseconds, and how long they are used on when it cannot be
/// asked: its keys rotate over days.
pub(crate) const OIDC_FRESH_MS: i64 = 3_600_000;
pub(crate) const OIDC_STALE_MS: i64 = 24 * 3_600_000;

/// After a failure or an unknown key, a provider is not asked again for this long, in milliseconds; always the same, so
/// that a provider that is back is noticed at once, and forged tokens do not make us a flood.
pub(crate) const OIDC_PAUSE_MS: i64 = 1_000;
