//! The bytes a row's hash is made of. They are a promise: old rows must verify for ever.

use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};

use crate::secret_box::hex;
use crate::value::Value;

/// Begins the bytes, so that no other hash is ever mistaken for one of these.
const FORMAT: &[u8] = b"pegel audit row 1\n";

/// A SHA-256 hash of the chain; prints as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

/// What the first row holds as the hash before it.
pub const CHAIN_START: Hash = Hash([0; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl From<Hash> for Value {
    fn from(hash: Hash) -> Self {
        Self::Blob(hash.0.to_vec())
    }
}

/// Everything of a row that its hash covers, as it is stored.
pub(super) struct Link<'a> {
    pub(super) seq: i64,
    pub(super) at_ms: i64,
    pub(super) request_id: &'a str,
    pub(super) principal_kind: &'a str,
    pub(super) principal_id: &'a str,
    pub(super) principal_name: &'a str,
    pub(super) action: &'a str,
    pub(super) target: &'a str,
    pub(super) outcome: &'a str,
    pub(super) detail: &'a str,
    pub(super) prev_hash: Hash,
}

impl Link<'_> {
    /// Returns the hash: format, numbers as 8 bytes, each text behind its length, all big-endian, and the
    /// hash before.
    pub(super) fn hash(&self) -> Hash {
        let mut context = Context::new(&SHA256);
        context.update(FORMAT);
        context.update(&self.seq.to_be_bytes());
        context.update(&self.at_ms.to_be_bytes());
        for text in [
            self.request_id,
            self.principal_kind,
            self.principal_id,
            self.principal_name,
            self.action,
            self.target,
            self.outcome,
            self.detail,
        ] {
            context.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            context.update(text.as_bytes());
        }
        context.update(&self.prev_hash.0);
        let mut hash = [0; 32];
        hash.copy_from_slice(context.finish().as_ref());
        Hash(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link<'static> {
        Link {
            seq: 1,
            at_ms: 1_772_366_400_000,
            request_id: "r",
            principal_kind: "user",
            principal_id: "i",
            principal_name: "ann",
            action: "tables.drop",
            target: "cluster/eu",
            outcome: "ok",
            detail: "{}",
            prev_hash: CHAIN_START,
        }
    }

    #[test]
    fn the_bytes_of_a_row_never_change() {
        // Computed by another program from the description above.
        let expected = "3edea9cdcb2b3a0373515a540269c3d2187e624d54b13757125ffae46e953126";
        assert_eq!(link().hash().to_string(), expected);
    }

    #[test]
    fn every_field_counts_and_none_runs_into_the_next() {
        let base = link().hash();
        let others = [
            Link { seq: 2, ..link() },
            Link { at_ms: 0, ..link() },
            Link { request_id: "", ..link() },
            Link { principal_kind: "token", ..link() },
            Link { principal_id: "", ..link() },
            Link { principal_name: "", ..link() },
            Link { action: "", ..link() },
            Link { target: "", ..link() },
            Link { outcome: "", ..link() },
            Link { detail: "", ..link() },
            Link { prev_hash: Hash([1; 32]), ..link() },
            Link { request_id: "ru", principal_kind: "ser", ..link() },
        ];
        assert!(others.iter().all(|other| other.hash() != base));
    }
}
