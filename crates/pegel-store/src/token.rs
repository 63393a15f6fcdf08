//! Random tokens, of which only the hash is stored.

use aws_lc_rs::digest::{SHA256, digest};
use secrecy::SecretString;

use crate::error::Error;
use crate::random;
use crate::secret_box::hex;
use crate::value::Value;

/// The SHA-256 of a token. A token has 256 random bits, so a plain hash is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub(crate) [u8; 32]);

impl TokenHash {
    /// Returns the hash of a token as it was presented.
    pub fn of(token: &str) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        Self(hash)
    }

    /// Returns its bytes.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl From<TokenHash> for Value {
    fn from(hash: TokenHash) -> Self {
        Self::Blob(hash.0.to_vec())
    }
}

/// Makes a token, `prefix` and 64 hexadecimal digits, and its hash. The token is shown once and never stored.
///
/// # Errors
/// `cryptography_unavailable`.
pub fn generate(prefix: &str) -> Result<(SecretString, TokenHash), Error> {
    let token = format!("{prefix}{}", hex(&random::bytes::<32>()?));
    let hash = TokenHash::of(&token);
    Ok((SecretString::from(token), hash))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_token_is_long_random_and_found_by_its_hash() {
        let (token, hash) = generate("pgl_").unwrap();
        assert!(token.expose_secret().starts_with("pgl_") && token.expose_secret().len() == 68);
        assert_eq!(TokenHash::of(token.expose_secret()), hash);
        assert_ne!(generate("pgl_").unwrap().1, hash);
    }
}
