//! One's own affairs: password, sessions, access tokens.

mod change_own_password;
mod create_own_token;
mod list_own_sessions;
mod list_own_tokens;
mod revoke_own_other_sessions;
mod revoke_own_session;
mod revoke_own_token;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        change_own_password::endpoint(),
        list_own_sessions::endpoint(),
        revoke_own_other_sessions::endpoint(),
        revoke_own_session::endpoint(),
        list_own_tokens::endpoint(),
        create_own_token::endpoint(),
        revoke_own_token::endpoint(),
    ]
}
