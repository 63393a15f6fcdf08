//! The change feed as callers may follow it: which changes a caller may learn of, and one reader for all.
//!
//! A change is a key and a version, never data. What is not known here is shown to nobody.

use std::collections::VecDeque;
use std::fmt;

use pegel_core::access::decision::{Decision, Target, decide};
use pegel_core::access::permissions::{AUDIT_READ, CLUSTERS_READ, Permission, USERS_READ};
use pegel_store::Db;
use tokio::sync::{Mutex, watch};
use uuid::Uuid;

use crate::caller::Caller;
use crate::error::Error;

pub use pegel_store::change::{Change, Changes};

/// How many of the newest changes are kept at hand.
const RECENT: usize = 4_096;

/// Changes that one read of the store brings.
const PAGE: u32 = 1_000;

/// The change feed, read from the store once for all who follow it.
pub struct ChangeFeed {
    db: Db,
    recent: Mutex<Recent>,
}

impl fmt::Debug for ChangeFeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeFeed").finish_non_exhaustive()
    }
}

/// All changes after one number up to another.
struct Recent {
    after: i64,
    through: i64,
    changes: VecDeque<Change>,
}

impl ChangeFeed {
    /// Begins at the present end of the store's feed.
    pub fn new(db: Db) -> Self {
        let head = *db.watch().borrow();
        let recent = Recent { after: head, through: head, changes: VecDeque::new() };
        Self { db, recent: Mutex::new(recent) }
    }

    /// Returns a watch on the newest change's number.
    pub fn watch(&self) -> watch::Receiver<i64> {
        self.db.watch()
    }

    /// Returns changes after a number, oldest first, or says that the reader has to begin anew.
    ///
    /// # Errors
    /// As the store.
    pub async fn after(&self, seq: i64) -> Result<Changes, Error> {
        let mut recent = self.recent.lock().await;
        // Whoever comes first reads; the others find it read when they get the lock.
        loop {
            let head = *self.db.watch().borrow();
            if head <= recent.through {
                break;
            }
            match self.db.changes_after(recent.through, PAGE).await? {
                Changes::Page(page) => {
                    recent.through = page.last().map_or(head, |last| last.seq);
                    recent.changes.extend(page);
                }
                Changes::Resync { head } => {
                    *recent = Recent { after: head, through: head, changes: VecDeque::new() };
                }
            }
            while recent.changes.len() > RECENT
                && let Some(oldest) = recent.changes.pop_front()
            {
                recent.after = oldest.seq;
            }
        }
        if (recent.after..=recent.through).contains(&seq) {
            let newer = recent.changes.iter().skip_while(|change| change.seq <= seq);
            return Ok(Changes::Page(newer.cloned().collect()));
        }
        drop(recent);
        Ok(self.db.changes_after(seq, PAGE).await?)
    }
}

/// Returns whether a caller may learn that this changed.
pub fn is_visible(caller: &Caller, resource_key: &str) -> bool {
    let may = |permission: &Permission, target: Target<'_>| {
        decide(&caller.principal, permission, target) == Decision::Allowed
    };
    let parts: Vec<&str> = resource_key.split('/').collect();
    match *parts.as_slice() {
        ["cluster", slug] | ["cluster", slug, "state"] => {
            slug.parse().is_ok_and(|slug| may(&CLUSTERS_READ, Target::Cluster(&slug)))
        }
        ["user" | "sessions", id] => is_own(caller, id) || may(&USERS_READ, Target::Global),
        ["api_token", _] => may(&USERS_READ, Target::Global),
        ["audit"] => may(&AUDIT_READ, Target::Global),
        _ => false,
    }
}

/// Returns whether a change may have taken rights from the caller, or ended what it was authenticated by.
pub fn concerns_rights(caller: &Caller, resource_key: &str) -> bool {
    match resource_key.split_once('/') {
        Some(("user" | "sessions", id)) => is_own(caller, id),
        Some(("api_token", id)) => caller.token_id().is_some_and(|own| id.parse() == Ok(own)),
        _ => false,
    }
}

fn is_own(caller: &Caller, id: &str) -> bool {
    id.parse::<Uuid>() == Ok(caller.user_id)
}

#[cfg(test)]
mod tests {
    use pegel_core::access::Role;
    use pegel_core::access::decision::{Principal, PrincipalKind};
    use pegel_core::access::permissions::default_grants;
    use pegel_store::token::TokenHash;

    use super::*;
    use crate::caller::Credential;

    const ME: Uuid = Uuid::from_u128(1);
    const TOKEN: Uuid = Uuid::from_u128(2);

    fn caller(role: Role, credential: Credential) -> Caller {
        let scope = r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.*"]}}]}"#;
        Caller {
            principal: Principal {
                kind: PrincipalKind::User,
                id: ME,
                name: "ann".to_owned(),
                role,
                grants: default_grants(role),
                scope: serde_json::from_str(scope).unwrap(),
            },
            user_id: ME,
            request_id: Uuid::nil(),
            credential,
            must_change_password: false,
        }
    }

    fn session(role: Role) -> Caller {
        caller(role, Credential::Session { id: Uuid::from_u128(3), token: TokenHash::of("x") })
    }

    #[test]
    fn clusters_are_shown_by_scope_and_people_to_those_who_may_see_them() {
        let (viewer, admin) = (session(Role::Viewer), session(Role::Admin));
        let other = Uuid::from_u128(9);
        for (key, viewers, admins) in [
            ("cluster/eu".to_owned(), true, true),
            ("cluster/eu/state".to_owned(), true, true),
            ("cluster/us".to_owned(), false, false),
            ("cluster/EU".to_owned(), false, false),
            ("cluster/eu/table/hr.people".to_owned(), false, false),
            (format!("user/{ME}"), true, true),
            (format!("sessions/{ME}"), true, true),
            (format!("user/{other}"), false, true),
            (format!("sessions/{other}"), false, true),
            (format!("api_token/{TOKEN}"), false, true),
            ("audit".to_owned(), false, true),
            ("login_throttle".to_owned(), false, false),
            ("something/new".to_owned(), false, false),
            (String::new(), false, false),
        ] {
            assert_eq!(is_visible(&viewer, &key), viewers, "{key} to a viewer");
            assert_eq!(is_visible(&admin, &key), admins, "{key} to an admin");
        }
        let ungranted = Caller { principal: Principal { grants: Vec::new(), ..admin.principal }, ..viewer };
        assert!(!is_visible(&ungranted, "cluster/eu") && !is_visible(&ungranted, "audit"));
    }

    #[test]
    fn only_what_is_ones_own_concerns_ones_rights() {
        let own = session(Role::Viewer);
        let token = caller(Role::Viewer, Credential::Token { id: TOKEN });
        assert!(concerns_rights(&own, &format!("sessions/{ME}")));
        assert!(concerns_rights(&token, &format!("user/{ME}")));
        assert!(concerns_rights(&token, &format!("api_token/{TOKEN}")));
        assert!(!concerns_rights(&own, &format!("api_token/{TOKEN}")));
        assert!(!concerns_rights(&own, &format!("user/{TOKEN}")));
        assert!(!concerns_rights(&own, "cluster/eu"));
    }
}
