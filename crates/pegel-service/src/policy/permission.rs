//! The permissions as types, so that a handle of one is not taken for another.

use pegel_core::access::permissions::{self, Permission};

mod sealed {
    pub trait Sealed {}
}

/// A permission as a type. Nothing outside of this module can be one.
pub trait Permit: sealed::Sealed + Send + Sync + 'static {
    /// The permission.
    const PERMISSION: &'static Permission;
}

/// Declares a type for each permission.
macro_rules! permits {
    ($($name:ident = $constant:ident;)*) => {
        $(
            #[doc = concat!("The permission `", stringify!($constant), "` as a type; it has no values.")]
            pub enum $name {}

            impl sealed::Sealed for $name {}

            impl Permit for $name {
                const PERMISSION: &'static Permission = &permissions::$constant;
            }
        )*

        #[cfg(test)]
        const ALL: &[&Permission] = &[$($name::PERMISSION),*];
    };
}

permits! {
    ClusterRead = CLUSTER_READ;
    CatalogRead = CATALOG_READ;
    CatalogWrite = CATALOG_WRITE;
    CatalogDelete = CATALOG_DELETE;
    ConfigRead = CONFIG_READ;
    ConfigWrite = CONFIG_WRITE;
    DataRead = DATA_READ;
    DataWrite = DATA_WRITE;
    DataDelete = DATA_DELETE;
    SecurityRead = SECURITY_READ;
    SecurityWrite = SECURITY_WRITE;
    MaintenanceRead = MAINTENANCE_READ;
    MaintenanceWrite = MAINTENANCE_WRITE;
    AnomalyRead = ANOMALY_READ;
    ClustersRead = CLUSTERS_READ;
    ClustersWrite = CLUSTERS_WRITE;
    DiagnosticsRead = DIAGNOSTICS_READ;
    DiagnosticsWrite = DIAGNOSTICS_WRITE;
    DiagnosticsRun = DIAGNOSTICS_RUN;
    MetricsRead = METRICS_READ;
    MetricsWrite = METRICS_WRITE;
    MonitorsRead = MONITORS_READ;
    MonitorsWrite = MONITORS_WRITE;
    IncidentsRead = INCIDENTS_READ;
    IncidentsWrite = INCIDENTS_WRITE;
    AlertingRead = ALERTING_READ;
    AlertingWrite = ALERTING_WRITE;
    AuditRead = AUDIT_READ;
    AuditWrite = AUDIT_WRITE;
    UsersRead = USERS_READ;
    UsersWrite = USERS_WRITE;
    TokensRead = TOKENS_READ;
    TokensWrite = TOKENS_WRITE;
    DataExport = DATA_EXPORT;
    DataTail = DATA_TAIL;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permission_is_a_type() {
        let own: Vec<_> = ALL.iter().map(|permission| permission.name).collect();
        let known: Vec<_> = permissions::ALL.iter().map(|permission| permission.name).collect();
        assert_eq!(own, known);
    }
}
