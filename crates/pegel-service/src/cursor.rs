//! Cursors of pages: where the next page begins, sealed for one caller and one list with its filters.
//!
//! A caller can neither read nor make one, nor use one of another caller or another list. A cursor is no
//! right: each page is filtered anew.

use std::sync::Arc;

use pegel_api_types::problem::FieldProblem;
use pegel_store::secret_box::SecretBox;
use secrecy::{ExposeSecret, SecretString};

use crate::caller::Caller;
use crate::error::Error;

/// The longest cursor that is looked at, in characters.
const MAX_CURSOR_CHARS: usize = 4_096;

/// Makes and reads cursors. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Cursors {
    secrets: Arc<SecretBox>,
}

impl Cursors {
    pub(crate) const fn new(secrets: Arc<SecretBox>) -> Self {
        Self { secrets }
    }

    /// Returns the cursor of a position in a list; `list` names the list and its filters.
    ///
    /// # Errors
    /// `too_large`, `cryptography_unavailable`.
    pub fn seal(&self, caller: &Caller, list: &str, position: &str) -> Result<String, Error> {
        let sealed = self.secrets.seal(&owner(caller), list, &SecretString::from(position))?;
        Ok(sealed.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the position that a cursor of this caller and list stands for.
    ///
    /// # Errors
    /// `invalid` for anything else.
    pub fn open(&self, caller: &Caller, list: &str, cursor: &str) -> Result<String, Error> {
        let invalid = || Error::Invalid {
            problems: vec![FieldProblem::new(
                "/cursor",
                "characters",
                "this is no cursor of this list with these filters: begin with the first page",
            )],
        };
        let bytes = bytes_of(cursor).ok_or_else(invalid)?;
        let key_id = self.secrets.key_id();
        let position = self.secrets.open(&owner(caller), list, key_id, &bytes).map_err(|_| invalid())?;
        Ok(position.expose_secret().to_owned())
    }
}

fn owner(caller: &Caller) -> String {
    format!("cursor/{}", caller.principal.id)
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    if hex.len() > MAX_CURSOR_CHARS || !rest.is_empty() {
        return None;
    }
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4) | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use pegel_core::access::Role;
    use pegel_core::access::decision::{Principal, PrincipalKind};
    use pegel_core::access::scope::Scope;
    use uuid::Uuid;

    use super::*;
    use crate::caller::Credential;

    fn caller(id: u128) -> Caller {
        let id = Uuid::from_u128(id);
        Caller {
            principal: Principal {
                kind: PrincipalKind::User,
                id,
                name: "ann".to_owned(),
                role: Role::Viewer,
                grants: Vec::new(),
                scope: Scope::All,
            },
            user_id: id,
            request_id: Uuid::nil(),
            credential: Credential::Token { id },
            must_change_password: false,
        }
    }

    #[test]
    fn a_cursor_is_read_by_its_caller_and_list_only() {
        let cursors =
            Cursors::new(Arc::new(SecretBox::from_text(&SecretString::from("a".repeat(64))).unwrap()));
        let cursor = cursors.seal(&caller(1), "users", "ann").unwrap();
        assert_eq!(cursors.open(&caller(1), "users", &cursor).unwrap(), "ann");
        assert!(!cursor.contains("ann") && !cursor.contains("616e6e"));
        let mut changed = cursor.clone();
        changed.replace_range(8..9, if changed.as_bytes()[8] == b'0' { "1" } else { "0" });
        for (who, list, text) in [
            (2, "users", cursor.as_str()),
            (1, "tokens", &cursor),
            (1, "users", &changed),
            (1, "users", &cursor[2..]),
            (1, "users", "abc"),
            (1, "users", "ää"),
            (1, "users", ""),
            (1, "users", &"00".repeat(3_000)),
        ] {
            let error = cursors.open(&caller(who), list, text).unwrap_err();
            assert_eq!(error.code().as_str(), "invalid", "{who} {list} {text}");
        }
    }
}
