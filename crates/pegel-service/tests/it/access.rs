//! The gate: every role against every permission.

use pegel_core::access::Role;
use pegel_core::access::decision::Target;
use pegel_core::access::scope::Scope;
use pegel_core::ids::ClusterSlug;
use pegel_service::Error;
use pegel_service::policy::permission::*;
use pegel_store::audit::{self, Filter};

use crate::house::{House, code, scope};
use crate::on_both;

on_both!(
    every_role_passes_exactly_its_permissions,
    inside_the_scope_the_pattern_is_named_and_outside_nothing_is,
    the_audit_log_is_read_by_those_who_may,
);

/// Asks the gate for each permission and compares with the table.
macro_rules! check_each {
    ($house:expr, $caller:expr, $role:expr, $($permit:ident),* $(,)?) => {{
        let mut count = 0;
        $(
            let answer = $house.policy.authorize::<$permit>($caller, Target::Global).await;
            let permission = $permit::PERMISSION;
            assert_eq!(answer.is_ok(), $role >= permission.default_role, "{:?} {}", $role, permission.name);
            if let Err(error) = answer {
                assert!(
                    matches!(error, Error::PermissionDenied { pattern, .. } if pattern == permission.name),
                    "{error}"
                );
            }
            count += 1;
        )*
        count
    }};
}

async fn every_role_passes_exactly_its_permissions(house: House) {
    let admin = house.admin().await;
    for role in Role::ALL {
        let person = house.person(&admin, &format!("some-{role}"), role, Scope::All).await;
        let caller = house.caller(&person).await;
        let count = check_each!(
            house,
            &caller,
            role,
            ClusterRead,
            CatalogRead,
            CatalogWrite,
            CatalogDelete,
            ConfigRead,
            ConfigWrite,
            DataRead,
            DataWrite,
            DataDelete,
            SecurityRead,
            SecurityWrite,
            MaintenanceRead,
            MaintenanceWrite,
            AnomalyRead,
            ClustersRead,
            ClustersWrite,
            DiagnosticsRead,
            DiagnosticsWrite,
            DiagnosticsRun,
            MetricsRead,
            MetricsWrite,
            MonitorsRead,
            MonitorsWrite,
            IncidentsRead,
            IncidentsWrite,
            AlertingRead,
            AlertingWrite,
            AuditRead,
            AuditWrite,
            UsersRead,
            UsersWrite,
            TokensRead,
            TokensWrite,
            DataExport,
            DataTail,
        );
        assert_eq!(count, pegel_core::access::permissions::ALL.len());
    }
    let denied = house.audit().await.into_iter().filter(|row| row.entry.action == "access.denied").count();
    let expected: usize = Role::ALL
        .iter()
        .map(|role| {
            let all = pegel_core::access::permissions::ALL.iter();
            all.filter(|permission| permission.default_role > *role).count()
        })
        .sum();
    assert_eq!(denied, expected);
}

async fn inside_the_scope_the_pattern_is_named_and_outside_nothing_is(house: House) {
    let admin = house.admin().await;
    let some = scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.*"]}}]}"#);
    let ann = house.person(&admin, "ann", Role::Viewer, some).await;
    let caller = house.caller(&ann).await;
    let (eu, us): (ClusterSlug, ClusterSlug) = ("eu".parse().unwrap(), "us".parse().unwrap());
    let inside = Target::Table(&eu, "sales", "orders");
    let handle = house.policy.authorize::<DataRead>(&caller, inside).await.unwrap();
    assert_eq!(handle.target().to_string(), "cluster/eu/table/sales.orders");
    let error = house.policy.authorize::<DataWrite>(&caller, inside).await.unwrap_err();
    assert!(error.public().contains("fluss-plugin.operations.data.write"), "{}", error.public());
    assert_eq!(error.code().http_status(), 403);
    let long = "x\u{0}".repeat(2_000);
    for outside in
        [Target::Table(&us, "sales", "orders"), Target::Table(&eu, "hr", &long), Target::WholeCluster(&eu)]
    {
        let error = house.policy.authorize::<DataWrite>(&caller, outside).await.unwrap_err();
        assert_eq!(error.code().http_status(), 404);
        assert!(!error.public().contains("fluss-plugin"), "{}", error.public());
        assert_eq!(house.last_audit().await, ("access.denied".to_owned(), "out_of_scope".to_owned()));
    }
}

async fn the_audit_log_is_read_by_those_who_may(house: House) {
    let admin = house.admin().await;
    let ann = house.person(&admin, "ann", Role::Viewer, Scope::All).await;
    let denied = house.policy.authorize::<AuditRead>(&house.caller(&ann).await, Target::Global).await;
    assert_eq!(code(denied), "permission_denied");
    let may = house.may::<AuditRead>(&house.caller(&admin).await).await;
    let filter = Filter { action: Some("access.denied".to_owned()), ..Filter::default() };
    let rows = house.people.list_audit(&may, filter, None, 10).await.unwrap();
    assert_eq!((rows.len(), rows[0].principal_name.as_str()), (1, "ann"));
    assert!(rows.iter().all(|row| !row.request_id.is_empty()));
    let verified = audit::verify(&house.db, 1).await.unwrap();
    assert!(matches!(verified, audit::Verification::Whole { .. }), "{verified:?}");
}
