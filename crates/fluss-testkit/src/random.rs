//! Randomness from the operating system, by way of the crate's TLS provider.

use rustls::crypto::aws_lc_rs;

use crate::error::Error;

/// Letters and digits without those that look alike; 32 of them, so that five random bits choose one evenly.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// Returns a random word of `length` characters, five bits each, fit for a password or a name.
///
/// # Errors
/// `randomness_unavailable` if the system gives none.
pub(crate) fn word(length: usize) -> Result<String, Error> {
    let mut bytes = vec![0_u8; length];
    aws_lc_rs::default_provider().secure_random.fill(&mut bytes).map_err(|_| Error::RandomnessUnavailable)?;
    Ok(bytes
        .iter()
        .map(|byte| {
            let index = usize::from(byte % 32);
            char::from(*ALPHABET.get(index).expect("an index below 32 is inside the alphabet"))
        })
        .collect())
}

/// Returns a random number below `bound` (`bound` itself excluded; 0 if it is 0).
///
/// # Errors
/// `randomness_unavailable` if the system gives none.
pub(crate) fn below(bound: u16) -> Result<u16, Error> {
    let mut bytes = [0_u8; 2];
    aws_lc_rs::default_provider().secure_random.fill(&mut bytes).map_err(|_| Error::RandomnessUnavailable)?;
    Ok(u16::from_le_bytes(bytes).checked_rem(bound).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{below, word};

    #[test]
    fn two_words_have_the_asked_length_and_differ() {
        let first = word(24).unwrap();
        let second = word(24).unwrap();
        assert_eq!((first.len(), second.len()), (24, 24));
        assert_ne!(first, second);
        assert!(first.chars().all(|c| c.is_ascii_alphanumeric()), "{first}");
    }

    #[test]
    fn a_bounded_number_stays_below_its_bound() {
        assert!((0..200).all(|_| below(7).unwrap() < 7));
        assert_eq!(below(0).unwrap(), 0);
    }
}
