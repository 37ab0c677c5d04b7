//! Argon2id hashes in the PHC string format: `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::identity::secret::same;

/// OWASP's password storage cheat sheet, first choice with 19 MiB: m in KiB, t, p.
pub(super) const COST: Cost = Cost { m: 19_456, t: 2, p: 1 };

/// A hash that was imported from elsewhere may cost up to this: 64 MiB and eight passes.
const COST_MAX: Cost = Cost { m: 65_536, t: 8, p: 4 };

const SALT_BYTES: std::ops::RangeInclusive<usize> = 8..=64;
const HASH_BYTES: std::ops::RangeInclusive<usize> = 16..=64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    m: u32,
    t: u32,
    p: u32,
}

impl Cost {
    /// Of [`COST`].
    pub(super) fn blocks() -> usize {
        COST.m as usize
    }

    fn hash(self, password: &[u8], salt: &[u8], out: &mut [u8], memory: &mut Vec<Block>) -> Option<()> {
        let params = Params::new(self.m, self.t, self.p, Some(out.len())).ok()?;
        let blocks = params.block_count();
        if memory.len() < blocks {
            memory.resize(blocks, Block::default());
        }
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        argon2.hash_password_into_with_memory(password, salt, out, &mut memory[..blocks]).ok()
    }
}

/// A hash that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hash {
    cost: Cost,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

impl Hash {
    /// Of a new password.
    pub(super) fn make(password: &[u8], salt: [u8; 16], memory: &mut Vec<Block>) -> Option<Hash> {
        let mut hash = vec![0; 32];
        COST.hash(password, &salt, &mut hash, memory)?;
        Some(Hash { cost: COST, salt: salt.to_vec(), hash })
    }

    /// Of no password that anybody knows: who is not known costs the same work.
    pub(super) fn of_nobody(random: [u8; 32]) -> Hash {
        Hash { cost: COST, salt: random[..16].to_vec(), hash: random.to_vec() }
    }

    pub(super) fn read(text: &str) -> Option<Hash> {
        let mut parts = text.strip_prefix("$argon2id$v=19$")?.split('$');
        let (costs, salt, hash) = (parts.next()?, parts.next()?, parts.next()?);
        let mut cost = Cost { m: 0, t: 0, p: 0 };
        for pair in costs.split(',') {
            let (name, value) = pair.split_once('=')?;
            let value = value.parse().ok()?;
            match name {
                "m" => cost.m = value,
                "t" => cost.t = value,
                "p" => cost.p = value,
                _ => return None,
            }
        }
        let decode = |text: &str| STANDARD_NO_PAD.decode(text).ok();
        let (salt, hash) = (decode(salt)?, decode(hash)?);
        let fits = cost.m <= COST_MAX.m
            && cost.t <= COST_MAX.t
            && cost.p <= COST_MAX.p
            && SALT_BYTES.contains(&salt.len())
            && HASH_BYTES.contains(&hash.len())
            && parts.next().is_none()
            && Params::new(cost.m, cost.t, cost.p, Some(hash.len())).is_ok();
        fits.then_some(Hash { cost, salt, hash })
    }

    pub(super) fn write(&self) -> String {
        let Cost { m, t, p } = self.cost;
        let encode = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);
        format!("$argon2id$v=19$m={m},t={t},p={p}${}${}", encode(&self.salt), encode(&self.hash))
    }

    /// Whether it is of this password.
    pub(super) fn fits(&self, password: &[u8], memory: &mut Vec<Block>) -> bool {
        let mut hash = vec![0; self.hash.len()];
        self.cost.hash(password, &self.salt, &mut hash, memory).is_some() && same(&hash, &self.hash)
    }

    /// It was made with other costs than today's.
    pub(super) fn is_old(&self) -> bool {
        self.cost != COST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_read() {
        // Made with the reference implementation: argon2 "somesalt" -id -t 2 -k 65536 -p 1, password "password".
        let text = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
        let hash = Hash::read(text).unwrap();
        assert_eq!(hash.write(), text);
        assert!(hash.is_old());
        let mut memory = Vec::new();
        assert!(hash.fits(b"password", &mut memory));
        assert!(!hash.fits(b"passwore", &mut memory));
    }

    #[test]
    fn ours_is_owasps() {
        let hash = Hash::make(b"correct horse", [7; 16], &mut Vec::new()).unwrap();
        assert!(hash.write().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.write());
        assert_eq!(Hash::read(&hash.write()).as_ref(), Some(&hash));
        assert!(!hash.is_old());
    }

    #[test]
    fn what_would_cost_the_earth_is_not_read() {
        for bad in [
            "",
            "$argon2i$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=19456,t=1000,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=0,t=0,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
            "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$",
            "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc$x",
        ] {
            assert_eq!(Hash::read(bad), None, "{bad}");
        }
    }
}
