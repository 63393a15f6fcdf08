//! Every permission the product knows, as one table.
//!
//! The names below `fluss-plugin.` and their minimum roles are the operations
//! manual's; those below `pegel.` are Pegel's own. A name is a promise to those
//! who wrote it into a grant: it is never renamed.

use crate::access::Role;
use crate::access::pattern::Pattern;

/// One permission.
#[derive(Debug, PartialEq, Eq)]
pub struct Permission {
    /// The full name, which grants match against.
    pub name: &'static str,
    /// The weakest role that can be granted it.
    pub minimum_role: Role,
    /// The weakest role that has it without being granted it in particular.
    pub default_role: Role,
    /// What it allows, in a few words.
    pub meaning: &'static str,
}

/// Declares each permission as a constant and all of them as one list.
macro_rules! permissions {
    ($($constant:ident = $name:literal, $minimum:ident, $default:ident, $meaning:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $meaning, ".")]
            pub const $constant: Permission = Permission {
                name: $name,
                minimum_role: Role::$minimum,
                default_role: Role::$default,
                meaning: $meaning,
            };
        )*

        /// All permissions.
        pub const ALL: &[Permission] = &[$($constant),*];
    };
}

permissions! {
    CLUSTER_READ = "fluss-plugin.operations.cluster.read", Viewer, Viewer, "see servers and their state";
    CATALOG_READ = "fluss-plugin.operations.catalog.read", Viewer, Viewer, "see databases, tables and partitions";
    CATALOG_WRITE = "fluss-plugin.operations.catalog.write", Editor, Editor, "create and alter databases, tables and partitions";
    CATALOG_DELETE = "fluss-plugin.operations.catalog.delete", Admin, Admin, "drop databases, tables and partitions";
    CONFIG_READ = "fluss-plugin.operations.config.read", Viewer, Viewer, "see the cluster's configuration";
    CONFIG_WRITE = "fluss-plugin.operations.config.write", Admin, Admin, "change the cluster's configuration";
    DATA_READ = "fluss-plugin.operations.data.read", Viewer, Viewer, "read bounded numbers of rows";
    DATA_WRITE = "fluss-plugin.operations.data.write", Editor, Editor, "append and upsert rows";
    DATA_DELETE = "fluss-plugin.operations.data.delete", Admin, Admin, "delete rows by key";
    SECURITY_READ = "fluss-plugin.operations.security.read", Admin, Admin, "see access control lists";
    SECURITY_WRITE = "fluss-plugin.operations.security.write", Admin, Admin, "create and drop access control entries";
    MAINTENANCE_READ = "fluss-plugin.operations.maintenance.read", Admin, Admin, "see rebalances";
    MAINTENANCE_WRITE = "fluss-plugin.operations.maintenance.write", Admin, Admin, "tag servers, start and cancel rebalances";
    ANOMALY_READ = "fluss-plugin.anomaly.read", Viewer, Viewer, "see anomaly rules and their verdicts";
    CLUSTERS_READ = "pegel.clusters.read", Viewer, Viewer, "see registered clusters, without secrets";
    CLUSTERS_WRITE = "pegel.clusters.write", Admin, Admin, "register, change and remove clusters";
    DIAGNOSTICS_READ = "pegel.diagnostics.read", Viewer, Viewer, "see diagnoses and their history";
    DIAGNOSTICS_WRITE = "pegel.diagnostics.write", Editor, Admin, "change thresholds of diagnoses";
    DIAGNOSTICS_RUN = "pegel.diagnostics.run", Viewer, Editor, "run a bounded diagnosis against the cluster";
    METRICS_READ = "pegel.metrics.read", Viewer, Viewer, "query metrics and their mappings";
    METRICS_WRITE = "pegel.metrics.write", Editor, Admin, "change metric sources and mappings";
    MONITORS_READ = "pegel.monitors.read", Viewer, Viewer, "see monitors and their results";
    MONITORS_WRITE = "pegel.monitors.write", Editor, Editor, "create, change and remove monitors";
    INCIDENTS_READ = "pegel.incidents.read", Viewer, Viewer, "see incidents";
    INCIDENTS_WRITE = "pegel.incidents.write", Editor, Editor, "acknowledge, comment and resolve incidents";
    ALERTING_READ = "pegel.alerting.read", Viewer, Viewer, "see channels, routes and silences, without secrets";
    ALERTING_WRITE = "pegel.alerting.write", Editor, Editor, "change channels, routes and silences";
    AUDIT_READ = "pegel.audit.read", Viewer, Admin, "read and verify the audit log";
    AUDIT_WRITE = "pegel.audit.write", Admin, Admin, "change how long the audit log is kept";
    USERS_READ = "pegel.users.read", Admin, Admin, "see users and their sessions";
    USERS_WRITE = "pegel.users.write", Admin, Admin, "create, change and disable users, end sessions";
    TOKENS_READ = "pegel.tokens.read", Viewer, Viewer, "see access tokens, without the tokens themselves";
    TOKENS_WRITE = "pegel.tokens.write", Viewer, Admin, "make and revoke access tokens";
    DATA_EXPORT = "pegel.data.export", Viewer, Admin, "save rows to a file";
    DATA_TAIL = "pegel.data.tail", Viewer, Viewer, "follow new rows of a log table";
}

/// What an admin is granted by default: everything, also what comes later.
const ADMIN_GRANTS: &[&str] = &["fluss-plugin.*.*", "fluss-plugin.*.*.*", "pegel.*.*"];

/// Returns the permission of this full name.
pub fn find(name: &str) -> Option<&'static Permission> {
    ALL.iter().find(|permission| permission.name == name)
}

/// Returns the grants of a user of this role who was granted nothing in particular.
///
/// A viewer gets all reads but those of security, maintenance, audit and users, and
/// no export; an editor also writes to the catalog, data, monitors, incidents and
/// alerting, and runs diagnoses; an admin gets everything.
pub fn default_grants(role: Role) -> Vec<Pattern> {
    let parse = |name: &str| name.parse().expect("a test parses every name of the table");
    if role == Role::Admin {
        return ADMIN_GRANTS.iter().map(|name| parse(name)).collect();
    }
    ALL.iter()
        .filter(|permission| permission.default_role <= role)
        .map(|permission| parse(permission.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn has(role: Role, permission: &Permission) -> bool {
        default_grants(role).iter().any(|grant| grant.matches(permission.name))
    }

    #[test]
    fn every_name_parses_is_unique_and_has_no_star() {
        let names: BTreeSet<_> = ALL.iter().map(|permission| permission.name).collect();
        assert_eq!(names.len(), ALL.len());
        for permission in ALL {
            assert!(permission.name.parse::<Pattern>().is_ok() && !permission.name.contains('*'));
            assert!(permission.minimum_role <= permission.default_role, "{}", permission.name);
            assert_eq!(find(permission.name), Some(permission));
        }
        assert_eq!(find("pegel.audit.*"), None);
    }

    #[test]
    fn minimum_roles_are_those_of_the_manual() {
        let of = |role| {
            let below =
                |p: &&Permission| p.name.starts_with("fluss-plugin.operations.") && p.minimum_role == role;
            let short = |p: &Permission| p.name.trim_start_matches("fluss-plugin.operations.");
            ALL.iter().filter(below).map(short).collect::<Vec<_>>()
        };
        assert_eq!(of(Role::Viewer), ["cluster.read", "catalog.read", "config.read", "data.read"]);
        assert_eq!(of(Role::Editor), ["catalog.write", "data.write"]);
        assert_eq!(
            of(Role::Admin),
            [
                "catalog.delete",
                "config.write",
                "data.delete",
                "security.read",
                "security.write",
                "maintenance.read",
                "maintenance.write",
            ]
        );
    }

    #[test]
    fn a_viewer_reads_all_but_security_maintenance_audit_users_and_exports() {
        for permission in ALL {
            let is_kept = ["security", "maintenance", "audit", "users", "export"]
                .iter()
                .any(|word| permission.name.contains(word));
            let is_read = permission.name.ends_with(".read") || permission == &DATA_TAIL;
            assert_eq!(has(Role::Viewer, permission), is_read && !is_kept, "{}", permission.name);
        }
    }

    #[test]
    fn an_editor_adds_writes_to_catalog_data_monitors_incidents_and_alerting() {
        let added: Vec<_> = ALL
            .iter()
            .filter(|permission| has(Role::Editor, permission) && !has(Role::Viewer, permission))
            .collect();
        let expected = [
            &CATALOG_WRITE,
            &DATA_WRITE,
            &DIAGNOSTICS_RUN,
            &MONITORS_WRITE,
            &INCIDENTS_WRITE,
            &ALERTING_WRITE,
        ];
        assert_eq!(added, expected);
    }

    #[test]
    fn an_admin_has_everything() {
        assert!(ALL.iter().all(|permission| has(Role::Admin, permission)));
    }
}
