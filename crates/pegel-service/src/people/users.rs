//! Users as admins see and change them. Nobody rules over someone who may more than they may.
//!
//! What an admin changes about a user's rights ends the user's sessions, so that the next token is a new one.

use pegel_api_types::people::{CreateUser, SessionView, ShownOnce, UpdateUser, UserView, UserWithPassword};
use pegel_core::access::Role;
use pegel_core::access::decision::Principal;
use pegel_core::access::permissions::default_grants;
use pegel_store::audit::Entry;
use pegel_store::login_throttle::{self, Subject};
use pegel_store::tx::Tx;
use pegel_store::users::{Profile, User};
use pegel_store::{audit, sessions, users};
use secrecy::SecretString;
use serde_json::json;
use uuid::Uuid;

use crate::error::Error;
use crate::journal;
use crate::people::{People, passwords, user_view};
use crate::policy::permission::{UsersRead, UsersWrite};
use crate::policy::{Authorized, rights};

/// A job's answer: the inner error is a refusal before anything was written.
type Answer<T> = Result<Result<T, Error>, pegel_store::Error>;

impl People {
    /// Returns users by name, after that of `after`, at most `limit` (up to 1,000).
    ///
    /// # Errors
    /// As the store.
    pub async fn list_users(
        &self,
        _may: &Authorized<UsersRead>,
        after: Option<String>,
        limit: u32,
    ) -> Result<Vec<UserView>, Error> {
        let list = self.db.read(move |tx| {
            let after = after.clone();
            Box::pin(async move { users::list(tx, after.as_deref(), limit).await })
        });
        Ok(list.await?.iter().map(user_view).collect())
    }

    /// Returns a user.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn get_user(&self, _may: &Authorized<UsersRead>, id: Uuid) -> Result<UserView, Error> {
        let user = self.db.read(move |tx| Box::pin(users::get(tx, id))).await?;
        Ok(user_view(&user))
    }

    /// Makes a user with a generated password, which is shown once and has to be changed.
    ///
    /// # Errors
    /// `invalid`, `rights_exceeded`, `conflict` for a name that is taken, `login_busy`, or as the store.
    pub async fn create_user(
        &self,
        may: &Authorized<UsersWrite>,
        request: &CreateUser,
    ) -> Result<UserWithPassword, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let profile = Profile {
            name: request.name.clone(),
            display_name: request.display_name.clone(),
            role: request.role,
            grants: request.grants.clone(),
            scope: request.scope.clone(),
        };
        check_profile(may.caller().principal(), &profile)?;
        let (password, hash) = self.generated().await?;
        let entry = journal::of_caller(may.caller(), "users.create", String::new());
        let user = self.db.write(move |tx| {
            let (profile, hash, entry) = (profile.clone(), hash.clone(), entry.clone());
            Box::pin(async move {
                let user = users::create(tx, &profile, Some(&hash)).await?;
                users::set_must_change_password(tx, user.id, true).await?;
                let entry = Entry { target: users::resource_key(user.id), ..entry };
                let detail = json!({ "name": profile.name, "role": profile.role });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                users::get(tx, user.id).await
            })
        });
        Ok(UserWithPassword { user: user_view(&user.await?), password: ShownOnce::new(password) })
    }

    /// Changes a user. If the rights change or the user is disabled, all of the user's sessions end.
    ///
    /// # Errors
    /// `invalid`, `rights_exceeded`, `last_admin`, `conflict` for another version, `not_found`, or as the store.
    pub async fn update_user(
        &self,
        may: &Authorized<UsersWrite>,
        id: Uuid,
        request: &UpdateUser,
    ) -> Result<UserView, Error> {
        request.validate().map_err(|problems| Error::Invalid { problems })?;
        let entry = journal::of_caller(may.caller(), "users.update", users::resource_key(id));
        let (ruler, request) = (may.caller().principal().clone(), request.clone());
        let user = self.db.write(move |tx| {
            let (ruler, request, entry) = (ruler.clone(), request.clone(), entry.clone());
            Box::pin(async move { update(tx, &ruler, id, request, entry).await })
        });
        Ok(user_view(&user.await??))
    }

    /// Removes a user with all sessions and tokens.
    ///
    /// # Errors
    /// `rights_exceeded`, `last_admin`, `not_found`, or as the store.
    pub async fn delete_user(&self, may: &Authorized<UsersWrite>, id: Uuid) -> Result<(), Error> {
        let entry = journal::of_caller(may.caller(), "users.delete", users::resource_key(id));
        let ruler = may.caller().principal().clone();
        let done = self.db.write(move |tx| {
            let (ruler, entry) = (ruler.clone(), entry.clone());
            Box::pin(async move {
                users::lock_admins(tx).await?;
                let user = users::get(tx, id).await?;
                if let Err(refused) = check_user(&ruler, &user) {
                    return Ok(Err(refused));
                }
                if is_last_admin(tx, &user).await? {
                    return Ok(Err(Error::LastAdmin));
                }
                users::delete(tx, id).await?;
                let detail = json!({ "name": user.profile.name, "role": user.profile.role });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(Ok(()))
            })
        });
        done.await?
    }

    /// Gives a user a generated password, shown once and to be changed. Ends all of the user's
    /// sessions and forgets failed logins.
    ///
    /// # Errors
    /// `rights_exceeded`, `not_found`, `login_busy`, or as the store.
    pub async fn reset_password(
        &self,
        may: &Authorized<UsersWrite>,
        id: Uuid,
    ) -> Result<UserWithPassword, Error> {
        let (password, hash) = self.generated().await?;
        let entry = journal::of_caller(may.caller(), "password.reset", users::resource_key(id));
        let ruler = may.caller().principal().clone();
        let user = self.db.write(move |tx| {
            let (ruler, hash, entry) = (ruler.clone(), hash.clone(), entry.clone());
            Box::pin(async move {
                let user = users::get(tx, id).await?;
                if let Err(refused) = check_user(&ruler, &user) {
                    return Ok(Err(refused));
                }
                let ended = set_generated(tx, &user, &hash).await?;
                let detail = json!({ "ended_session_count": ended });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(Ok(users::get(tx, id).await?))
            })
        });
        Ok(UserWithPassword { user: user_view(&user.await??), password: ShownOnce::new(password) })
    }

    /// Returns a user's sessions, the newest first.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn list_user_sessions(
        &self,
        may: &Authorized<UsersRead>,
        user_id: Uuid,
    ) -> Result<Vec<SessionView>, Error> {
        self.db.read(move |tx| Box::pin(users::get(tx, user_id))).await?;
        self.sessions_of(user_id, may.caller().session_id()).await
    }

    /// Ends one of a user's sessions, or all; returns how many.
    ///
    /// # Errors
    /// `rights_exceeded`, `not_found`, or as the store.
    pub async fn revoke_user_sessions(
        &self,
        may: &Authorized<UsersWrite>,
        user_id: Uuid,
        session_id: Option<Uuid>,
    ) -> Result<u64, Error> {
        let entry = journal::of_caller(may.caller(), "sessions.revoke", sessions::resource_key(user_id));
        let ruler = may.caller().principal().clone();
        let count = self.db.write(move |tx| {
            let (ruler, entry) = (ruler.clone(), entry.clone());
            Box::pin(async move {
                if let Err(refused) = check_user(&ruler, &users::get(tx, user_id).await?) {
                    return Ok(Err(refused));
                }
                let count = match session_id {
                    Some(id) => sessions::revoke(tx, user_id, id).await.map(|()| 1)?,
                    None => sessions::revoke_all(tx, user_id, None).await?,
                };
                let detail = json!({ "session_id": session_id, "count": count });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(Ok(count))
            })
        });
        count.await?
    }

    /// Makes a password and its hash.
    pub(super) async fn generated(&self) -> Result<(SecretString, SecretString), Error> {
        let password = passwords::generate()?;
        let (_, hash) = self.passwords.hash(self.passwords.slot().await?, password.clone()).await?;
        Ok((password, hash))
    }
}

/// Gives a user a password that has to be changed, ends all of the user's sessions and forgets failed logins;
/// returns how many sessions there were.
pub(super) async fn set_generated(
    tx: &mut Tx<'_>,
    user: &User,
    hash: &SecretString,
) -> Result<u64, pegel_store::Error> {
    users::set_password_hash(tx, user.id, Some(hash)).await?;
    users::set_must_change_password(tx, user.id, true).await?;
    login_throttle::clear(tx, Subject::Name(&user.profile.name)).await?;
    sessions::revoke_all(tx, user.id, None).await
}

async fn update(
    tx: &mut Tx<'_>,
    ruler: &Principal,
    id: Uuid,
    request: UpdateUser,
    entry: Entry,
) -> Answer<User> {
    users::lock_admins(tx).await?;
    let before = users::get(tx, id).await?;
    let profile = Profile {
        name: before.profile.name.clone(),
        display_name: request.display_name,
        role: request.role,
        grants: request.grants,
        scope: request.scope,
    };
    if let Err(refused) = check_user(ruler, &before).and_then(|()| check_profile(ruler, &profile)) {
        return Ok(Err(refused));
    }
    let stays_admin = profile.role == Role::Admin && !request.is_disabled;
    if !stays_admin && is_last_admin(tx, &before).await? {
        return Ok(Err(Error::LastAdmin));
    }
    let mut version = users::update(tx, id, request.version, &profile).await?;
    if before.disabled_at.is_some() != request.is_disabled {
        version = users::set_disabled(tx, id, version, request.is_disabled).await?;
    }
    let have_rights_changed = before.profile.role != profile.role
        || before.profile.grants != profile.grants
        || before.profile.scope != profile.scope;
    let mut ended = 0;
    if have_rights_changed || request.is_disabled {
        ended = sessions::revoke_all(tx, id, None).await?;
    }
    let detail = json!({
        "version": version,
        "role_before": before.profile.role,
        "role": profile.role,
        "have_rights_changed": have_rights_changed,
        "is_disabled": request.is_disabled,
        "ended_session_count": ended,
    });
    audit::append(tx, &journal::with(entry, "ok", detail)).await?;
    Ok(Ok(users::get(tx, id).await?))
}

/// Checks that a user may no more than `ruler`.
pub(super) fn check_user(ruler: &Principal, user: &User) -> Result<(), Error> {
    check_profile(ruler, &user.profile)
}

fn check_profile(ruler: &Principal, profile: &Profile) -> Result<(), Error> {
    let grants = profile.grants.clone().unwrap_or_else(|| default_grants(profile.role));
    rights::check(ruler, profile.role, &grants, &profile.scope)
}

async fn is_last_admin(tx: &mut Tx<'_>, user: &User) -> Result<bool, pegel_store::Error> {
    let is_active_admin = user.profile.role == Role::Admin && user.disabled_at.is_none();
    Ok(is_active_admin && users::count_active_admins(tx).await? <= 1)
}
