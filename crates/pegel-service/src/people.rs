//! People: who they are, how they sign in, what they hold. Must not decide permissions; it takes handles.

mod account;
mod authentication;
mod first_start;
mod login;
mod passwords;
mod recovery;
mod tokens;
mod users;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use pegel_api_types::people::{AuditEntryView, AuditVerification, SessionView, TokenView, UserView};
use pegel_core::access::decision::{Principal, PrincipalKind};
use pegel_store::api_tokens::ApiToken;
use pegel_store::audit::Verification;
use pegel_store::login_throttle;
use pegel_store::sessions::Session;
use pegel_store::users::User;
use pegel_store::{Db, audit};
use uuid::Uuid;

use crate::error::Error;
use crate::people::passwords::Passwords;
use crate::policy::Authorized;
use crate::policy::permission::AuditRead;

pub use first_start::GeneratedAdmin;
pub use login::NewSession;
pub use passwords::HashSettings;
pub use pegel_store::audit::Filter as AuditFilter;
pub use recovery::Recovered;

/// What can be set about signing in.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// A session ends when it was not used for so long.
    pub session_idle: Duration,
    /// A session ends after so long, used or not.
    pub session_absolute: Duration,
    /// How often at most it is noted that a session or token was used.
    pub touch_every: Duration,
    /// Failed logins of one name.
    pub name_throttle: login_throttle::Policy,
    /// Failed logins from one source; looser, as many people may share one.
    pub source_throttle: login_throttle::Policy,
    /// What hashing costs.
    pub hash: HashSettings,
}

impl Default for Settings {
    fn default() -> Self {
        let throttle = |free_failures| login_throttle::Policy {
            free_failures,
            first_lock: Duration::from_secs(5),
            longest_lock: Duration::from_secs(15 * 60),
            forget_after: Duration::from_secs(24 * 3_600),
        };
        Self {
            session_idle: Duration::from_secs(12 * 3_600),
            session_absolute: Duration::from_secs(7 * 24 * 3_600),
            touch_every: Duration::from_secs(60),
            name_throttle: throttle(5),
            source_throttle: throttle(30),
            hash: HashSettings::default(),
        }
    }
}

/// The service of people. Cheap to clone.
#[derive(Debug, Clone)]
pub struct People {
    db: Db,
    settings: Settings,
    passwords: Arc<Passwords>,
}

impl People {
    /// Makes the service. Hashes one password, so it takes some tens of milliseconds.
    ///
    /// # Errors
    /// `cryptography_unavailable`, also for hash settings that argon2id does not know.
    pub fn new(db: Db, settings: Settings) -> Result<Self, Error> {
        let passwords = Arc::new(Passwords::new(settings.hash)?);
        Ok(Self { db, settings, passwords })
    }

    /// Returns how many passwords have been checked since the start.
    pub fn password_checks(&self) -> u64 {
        self.passwords.verifications()
    }

    /// Returns audit rows, the newest first, before `before_seq`, at most `limit` (up to 1,000).
    ///
    /// # Errors
    /// As the store.
    pub async fn list_audit(
        &self,
        _may: &Authorized<AuditRead>,
        filter: AuditFilter,
        before_seq: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AuditEntryView>, Error> {
        let rows = self.db.read(move |tx| {
            let filter = filter.clone();
            Box::pin(async move { audit::list(tx, &filter, before_seq, limit).await })
        });
        Ok(rows.await?.into_iter().map(audit_view).collect())
    }

    /// Walks the whole audit log and says whether it is as it was written. Reads a few hundred rows at a time.
    ///
    /// # Errors
    /// As the store. A broken log is not an error but an answer.
    pub async fn verify_audit(&self, _may: &Authorized<AuditRead>) -> Result<AuditVerification, Error> {
        Ok(match audit::verify(&self.db, 1).await? {
            Verification::Whole { from_seq, through_seq, row_count, head } => {
                AuditVerification::Whole { from_seq, through_seq, row_count, head: head.to_string() }
            }
            Verification::Broken { seq, reason } => {
                AuditVerification::Broken { seq, reason: reason.to_owned() }
            }
        })
    }
}

/// Adds a span to a time; stops at the end of time.
fn later(now: Timestamp, by: Duration) -> Timestamp {
    let by_ms = i64::try_from(by.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(now.as_millisecond().saturating_add(by_ms)).unwrap_or(Timestamp::MAX)
}

fn principal_of(user: &User) -> Principal {
    Principal {
        kind: PrincipalKind::User,
        id: user.id,
        name: user.profile.name.clone(),
        role: user.profile.role,
        grants: user.grants(),
        scope: user.profile.scope.clone(),
    }
}

fn user_view(user: &User) -> UserView {
    UserView {
        id: user.id,
        name: user.profile.name.clone(),
        display_name: user.profile.display_name.clone(),
        role: user.profile.role,
        grants: user.grants(),
        has_default_grants: user.profile.grants.is_none(),
        scope: user.profile.scope.clone(),
        must_change_password: user.must_change_password,
        disabled_at: user.disabled_at,
        created_at: user.created_at,
        updated_at: user.updated_at,
        version: user.version,
    }
}

fn session_view(session: Session, current: Option<Uuid>) -> SessionView {
    SessionView {
        is_current: Some(session.id) == current,
        id: session.id,
        source: session.source,
        user_agent: session.user_agent,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
        expires_at: session.expires_at,
    }
}

fn token_view(stored: ApiToken) -> TokenView {
    TokenView {
        id: stored.id,
        user_id: stored.token.user_id,
        name: stored.token.name,
        role: stored.token.role,
        grants: stored.token.grants,
        scope: stored.token.scope,
        created_at: stored.created_at,
        expires_at: stored.token.expires_at,
        last_used_at: stored.last_used_at,
        revoked_at: stored.revoked_at,
    }
}

fn audit_view(row: audit::AuditRow) -> AuditEntryView {
    AuditEntryView {
        seq: row.seq,
        at: row.at,
        request_id: row.entry.request_id,
        principal_kind: row.entry.principal_kind,
        principal_id: row.entry.principal_id,
        principal_name: row.entry.principal_name,
        action: row.entry.action,
        target: row.entry.target,
        outcome: row.entry.outcome,
    }
}
