//! Users as admins see and change them.

mod create_user;
mod delete_user;
mod get_user;
mod list_user_sessions;
mod list_users;
mod reset_user_password;
mod revoke_user_session;
mod revoke_user_sessions;
mod update_user;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        list_users::endpoint(),
        create_user::endpoint(),
        get_user::endpoint(),
        update_user::endpoint(),
        delete_user::endpoint(),
        reset_user_password::endpoint(),
        list_user_sessions::endpoint(),
        revoke_user_sessions::endpoint(),
        revoke_user_session::endpoint(),
    ]
}
