//! Pegel's one source of chance: the system's, through the one provider of cryptography.

use aws_lc_rs::rand;
use jiff::Timestamp;
use uuid::{Builder, Uuid};

use crate::error::Error;

/// Returns random bytes.
///
/// # Errors
/// `cryptography_unavailable`.
pub fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| Error::Cryptography)?;
    Ok(bytes)
}

/// Returns a new id that sorts by its time, which is an argument.
///
/// # Errors
/// `cryptography_unavailable`.
pub fn new_id(now: Timestamp) -> Result<Uuid, Error> {
    let ms = u64::try_from(now.as_millisecond()).unwrap_or_default();
    Ok(Builder::from_unix_timestamp_millis(ms, &bytes()?).into_uuid())
}

/// Returns a new id that sorts by its time, and in any case behind another.
///
/// # Errors
/// `cryptography_unavailable`.
pub fn new_id_after(now: Timestamp, last: Option<Uuid>) -> Result<Uuid, Error> {
    let id = new_id(now)?;
    Ok(match last {
        Some(last) if last >= id => Uuid::from_u128(last.as_u128().saturating_add(1)),
        _ => id,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_version_7_and_sort_by_time() {
        let at = |text: &str| new_id(text.parse().unwrap()).unwrap();
        let (early, late) = (at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00.001Z"));
        assert_eq!(early.get_version_num(), 7);
        assert!(early < late);
        assert_ne!(at("2026-01-01T00:00:00Z"), early);
    }
}
