//! The one decision: may this principal use this permission on this target?

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::access::Role;
use crate::access::pattern::{Pattern, narrow_grants};
use crate::access::permissions::Permission;
use crate::access::scope::Scope;
use crate::ids::ClusterSlug;

/// What kind of actor a principal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A person with a session.
    User,
    /// An access token.
    Token,
    /// Pegel itself: schedules, retention, start-up.
    System,
}

impl PrincipalKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::User, Self::Token, Self::System];

    /// Returns the kind as it is written in audit rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Token => "token",
            Self::System => "system",
        }
    }
}

impl fmt::Display for PrincipalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who acts, and how far it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// What kind of actor.
    pub kind: PrincipalKind,
    /// The user's or token's id; nil for Pegel itself.
    pub id: Uuid,
    /// The name people know it by.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The granted patterns.
    pub grants: Vec<Pattern>,
    /// The clusters and tables.
    pub scope: Scope,
}

impl Principal {
    /// Returns this principal with no more than the other may: the weaker role, shared grants, shared scope.
    #[must_use]
    pub fn within(self, owner: &Self) -> Self {
        Self {
            role: self.role.min(owner.role),
            grants: narrow_grants(&self.grants, &owner.grants),
            scope: self.scope.narrow(&owner.scope),
            ..self
        }
    }
}

/// What a permission is to be used on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// Something above all clusters, such as the list of users.
    Global,
    /// Something in a cluster; answers are to be filtered by the scope.
    Cluster(&'a ClusterSlug),
    /// A cluster as a whole: its configuration, access control, servers.
    WholeCluster(&'a ClusterSlug),
    /// Something in a database; answers are to be filtered by the scope.
    Database(&'a ClusterSlug, &'a str),
    /// A database as a whole: dropping it takes its tables along.
    WholeDatabase(&'a ClusterSlug, &'a str),
    /// A table, by database and name.
    Table(&'a ClusterSlug, &'a str, &'a str),
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Go on.
    Allowed,
    /// The target may be known to the principal, but not this done to it.
    MissingPermission {
        /// The permission's full name, which a grant would have to match.
        pattern: &'static str,
        /// The weakest role that can have it.
        minimum_role: Role,
    },
    /// The principal is not to learn whether the target exists.
    OutOfScope,
}

/// Decides. The scope comes first, so that a missing permission never tells what exists.
pub fn decide(principal: &Principal, permission: &Permission, target: Target<'_>) -> Decision {
    let scope = &principal.scope;
    let is_in_scope = match target {
        Target::Global => true,
        Target::Cluster(cluster) => scope.allows_cluster(cluster),
        Target::WholeCluster(cluster) => scope.allows_whole_cluster(cluster),
        Target::Database(cluster, database) => scope.allows_database(cluster, database),
        Target::WholeDatabase(cluster, database) => scope.allows_whole_database(cluster, database),
        Target::Table(cluster, database, table) => scope.allows_table(cluster, database, table),
    };
    if !is_in_scope {
        return Decision::OutOfScope;
    }
    let is_granted = principal.grants.iter().any(|grant| grant.matches(permission.name));
    if principal.role >= permission.minimum_role && is_granted {
        Decision::Allowed
    } else {
        Decision::MissingPermission { pattern: permission.name, minimum_role: permission.minimum_role }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::access::permissions::{self, default_grants};

    fn principal(role: Role) -> Principal {
        Principal {
            kind: PrincipalKind::User,
            id: Uuid::nil(),
            name: "ann".to_owned(),
            role,
            grants: default_grants(role),
            scope: Scope::All,
        }
    }

    #[test]
    fn role_grant_and_scope_must_all_say_yes() {
        let eu: ClusterSlug = "eu".parse().unwrap();
        let table = Target::Table(&eu, "sales", "orders");
        let missing = Decision::MissingPermission {
            pattern: "fluss-plugin.operations.data.write",
            minimum_role: Role::Editor,
        };
        let write = &permissions::DATA_WRITE;
        assert_eq!(decide(&principal(Role::Editor), write, table), Decision::Allowed);
        assert_eq!(decide(&principal(Role::Viewer), write, table), missing);
        let ungranted = Principal { grants: Vec::new(), ..principal(Role::Editor) };
        assert_eq!(decide(&ungranted, write, table), missing);
        let overgranted = Principal { grants: default_grants(Role::Admin), ..principal(Role::Viewer) };
        assert_eq!(decide(&overgranted, write, table), missing);
        let outside = Principal { scope: Scope::nothing(), ..principal(Role::Admin) };
        assert_eq!(decide(&outside, write, table), Decision::OutOfScope);
        assert_eq!(decide(&outside, &permissions::USERS_READ, Target::Global), Decision::Allowed);
    }

    #[test]
    fn outside_the_scope_even_a_missing_permission_is_not_named() {
        let eu: ClusterSlug = "eu".parse().unwrap();
        let outside = Principal { scope: Scope::nothing(), ..principal(Role::Viewer) };
        assert_eq!(
            decide(&outside, &permissions::CONFIG_WRITE, Target::WholeCluster(&eu)),
            Decision::OutOfScope
        );
    }

    #[test]
    fn some_tables_are_not_the_whole_cluster() {
        let eu: ClusterSlug = "eu".parse().unwrap();
        let scope =
            serde_json::from_str(r#"{"clusters":[{"cluster":"eu","tables":{"only":["a.*"]}}]}"#).unwrap();
        let partly = Principal { scope, ..principal(Role::Admin) };
        let may = |target| decide(&partly, &permissions::CATALOG_DELETE, target) == Decision::Allowed;
        assert!(may(Target::Cluster(&eu)) && !may(Target::WholeCluster(&eu)));
        assert!(may(Target::WholeDatabase(&eu, "a")) && !may(Target::Database(&eu, "b")));
    }

    fn any_grants() -> impl Strategy<Value = Vec<Pattern>> {
        let segment = || {
            prop::sample::select(vec!["*", "pegel", "fluss-plugin", "operations", "data", "write", "read"])
        };
        let pattern = prop::collection::vec(segment(), 1..5).prop_map(|s| s.join(".").parse().unwrap());
        (prop::collection::vec(pattern, 0..6), any::<bool>()).prop_map(
            |(mut grants, all): (Vec<Pattern>, bool)| {
                if all {
                    grants.extend(default_grants(Role::Admin));
                }
                grants
            },
        )
    }

    proptest! {
        #[test]
        fn a_viewer_never_passes_an_editors_permission(grants in any_grants()) {
            let viewer = Principal { grants, ..principal(Role::Viewer) };
            for permission in permissions::ALL.iter().filter(|p| p.minimum_role > Role::Viewer) {
                prop_assert_ne!(decide(&viewer, permission, Target::Global), Decision::Allowed);
            }
        }

        #[test]
        fn a_token_never_may_what_its_owner_may_not(
            own in any_grants(),
            owners in any_grants(),
            roles in (prop::sample::select(&Role::ALL[..]), prop::sample::select(&Role::ALL[..])),
        ) {
            let owner = Principal { grants: owners, ..principal(roles.0) };
            let token = Principal { grants: own, ..principal(roles.1) };
            let narrowed = token.clone().within(&owner);
            for permission in permissions::ALL {
                let may = |who: &Principal| decide(who, permission, Target::Global) == Decision::Allowed;
                prop_assert_eq!(may(&narrowed), may(&token) && may(&owner), "{}", permission.name);
            }
        }
    }
}
