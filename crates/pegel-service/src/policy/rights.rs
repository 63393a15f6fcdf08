//! Whether rights lie within those of someone: nobody gives, or rules over, more than they have.

use pegel_core::access::Role;
use pegel_core::access::decision::Principal;
use pegel_core::access::pattern::Pattern;
use pegel_core::access::scope::{ClusterScope, Scope, TablePattern, TableScope};
use pegel_core::ids::ClusterSlug;

use crate::error::Error;

/// Checks that a role, grants and a scope lie within those of `owner`.
///
/// # Errors
/// `rights_exceeded`, naming the part that goes beyond.
pub(crate) fn check(owner: &Principal, role: Role, grants: &[Pattern], scope: &Scope) -> Result<(), Error> {
    let is_held =
        |asked: &Pattern| owner.grants.iter().any(|held| held.intersect(asked).as_ref() == Some(asked));
    if role > owner.role {
        Err(Error::RightsExceeded { part: "role" })
    } else if !grants.iter().all(is_held) {
        Err(Error::RightsExceeded { part: "grants" })
    } else if !covers(&owner.scope, scope) {
        Err(Error::RightsExceeded { part: "scope" })
    } else {
        Ok(())
    }
}

fn covers(held: &Scope, asked: &Scope) -> bool {
    let Scope::Clusters(entries) = asked else { return *held == Scope::All };
    entries.iter().all(|entry| match &entry.tables {
        TableScope::All => held.allows_whole_cluster(&entry.cluster),
        TableScope::Only(patterns) => patterns.iter().all(|pattern| covers_tables(held, entry, pattern)),
    })
}

/// Returns whether one entry of `held` covers all tables of the pattern.
fn covers_tables(held: &Scope, entry: &ClusterScope, pattern: &TablePattern) -> bool {
    let tables = TableScope::Only(vec![pattern.clone()]);
    let asked = Scope::Clusters(vec![ClusterScope { cluster: entry.cluster.clone(), tables }]);
    let Scope::Clusters(shared) = asked.narrow(held) else { return false };
    shared.iter().any(|shared| match &shared.tables {
        TableScope::All => true,
        TableScope::Only(patterns) => patterns.contains(pattern),
    })
}

/// Whether somebody with this scope may see what belongs to a cluster, or to none.
pub(crate) fn is_in_scope(scope: &Scope, cluster: Option<&ClusterSlug>) -> bool {
    match cluster {
        Some(slug) => scope.allows_whole_cluster(slug),
        None => *scope == Scope::All,
    }
}

#[cfg(test)]
mod tests {
    use pegel_core::access::decision::{Decision, PrincipalKind, Target, decide};
    use pegel_core::access::permissions::{self, default_grants};
    use pegel_core::ids::ClusterSlug;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn principal(role: Role, grants: Vec<Pattern>, scope: Scope) -> Principal {
        Principal { kind: PrincipalKind::User, id: Uuid::nil(), name: "ann".to_owned(), role, grants, scope }
    }

    fn scope(json: &str) -> Scope {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_part_that_goes_beyond_is_named() {
        let some = scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.*","*.audit"]}}]}"#);
        let editor = principal(Role::Editor, default_grants(Role::Editor), some.clone());
        let part = |role, grants: &[&str], scope: &Scope| {
            let grants: Vec<Pattern> = grants.iter().map(|grant| grant.parse().unwrap()).collect();
            match check(&editor, role, &grants, scope) {
                Err(Error::RightsExceeded { part }) => part,
                other => {
                    assert!(other.is_ok());
                    ""
                }
            }
        };
        assert_eq!(part(Role::Editor, &["pegel.monitors.write"], &some), "");
        assert_eq!(part(Role::Admin, &[], &some), "role");
        assert_eq!(part(Role::Viewer, &["pegel.users.read"], &some), "grants");
        assert_eq!(part(Role::Viewer, &["pegel.*.*"], &some), "grants");
        assert_eq!(part(Role::Viewer, &[], &Scope::All), "scope");
        let one = scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.orders"]}}]}"#);
        assert_eq!(part(Role::Viewer, &[], &one), "");
        for other in [r#"{"only":["hr.people"]}"#, "\"all\"", r#"{"only":["*.orders"]}"#] {
            let other = scope(&format!(r#"{{"clusters":[{{"cluster":"eu","tables":{other}}}]}}"#));
            assert_eq!(part(Role::Viewer, &[], &other), "scope");
        }
    }

    fn any_grants() -> impl Strategy<Value = Vec<Pattern>> {
        let segment =
            || prop::sample::select(vec!["*", "pegel", "users", "tokens", "audit", "read", "write"]);
        let pattern = prop::collection::vec(segment(), 3).prop_map(|words| words.join(".").parse().unwrap());
        prop::collection::vec(pattern, 0..4)
    }

    fn any_scope() -> impl Strategy<Value = Scope> {
        let name = || prop::sample::select(vec!["a", "b", "*"]);
        let pattern = (name(), name()).prop_map(|(db, table)| format!("{db}.{table}").parse().unwrap());
        let tables = prop_oneof![
            1 => Just(TableScope::All),
            3 => prop::collection::vec(pattern, 0..3).prop_map(TableScope::Only),
        ];
        let entry = (prop::sample::select(vec!["x", "y"]), tables)
            .prop_map(|(cluster, tables)| ClusterScope { cluster: cluster.parse().unwrap(), tables });
        prop_oneof![
            1 => Just(Scope::All),
            5 => prop::collection::vec(entry, 0..3).prop_map(Scope::Clusters),
        ]
    }

    fn any_principal() -> impl Strategy<Value = Principal> {
        (prop::sample::select(&Role::ALL[..]), any_grants(), any_scope())
            .prop_map(|(role, grants, scope)| principal(role, grants, scope))
    }

    proptest! {
        #[test]
        fn what_passes_never_may_more_than_its_maker(owner in any_principal(), asked in any_principal()) {
            if check(&owner, asked.role, &asked.grants, &asked.scope).is_ok() {
                for permission in permissions::ALL {
                    for cluster in ["x", "y"].map(|slug| slug.parse::<ClusterSlug>().unwrap()) {
                        for target in [
                            Target::Global,
                            Target::WholeCluster(&cluster),
                            Target::WholeDatabase(&cluster, "a"),
                            Target::Table(&cluster, "a", "b"),
                            Target::Table(&cluster, "c", "c"),
                        ] {
                            let may = |who| decide(who, permission, target) == Decision::Allowed;
                            prop_assert!(!may(&asked) || may(&owner), "{} {target:?}", permission.name);
                        }
                    }
                }
            }
        }

        #[test]
        fn everyone_may_give_what_they_have(owner in any_principal()) {
            prop_assert!(check(&owner, owner.role, &owner.grants, &owner.scope).is_ok());
        }
    }
}
