//! Everybody's access tokens, as admins see and end them.

mod list_tokens;
mod revoke_token;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![list_tokens::endpoint(), revoke_token::endpoint()]
}
