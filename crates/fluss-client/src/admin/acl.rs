//! Access-control entries.

use fluss_codec::codes::{AclOperation, AclPermission, AclResourceType};
use fluss_codec::messages::{ListAclsRequest, PbAclFilter};

use crate::client::FlussClient;
use crate::error::Error;

/// Who an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Principal {
    /// Kind, as `User`; `*` with name `*` means everyone.
    pub kind: String,
    /// Name.
    pub name: String,
}

/// One access-control entry.
///
/// Codes are kept as numbers beside their names, so that an entry from a newer
/// server is still shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AclEntry {
    /// Kind of resource: `CLUSTER`, `DATABASE`, `TABLE`, or `UNKNOWN(n)`.
    pub resource_type: String,
    /// Name of the resource: `fluss-cluster`, `db`, `db.table`, or `*`.
    pub resource_name: String,
    /// Who may do it.
    pub principal: Principal,
    /// Host it may be done from, `*` for all.
    pub host: String,
    /// What may be done: `READ`, `WRITE`, …, or `UNKNOWN(n)`.
    pub operation: String,
    /// `ALLOW`, the only kind there is.
    pub permission: String,
}

/// Which entries are wanted. Absent parts match everything; given parts match exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AclFilter {
    /// Kind of resource; a name needs a kind, since servers ignore the name otherwise.
    pub resource_type: Option<AclResourceType>,
    /// Name of the resource.
    pub resource_name: Option<String>,
    /// Kind and name, always both: servers ignore half a principal and match everyone.
    pub principal: Option<Principal>,
    /// Host.
    pub host: Option<String>,
    /// Operation.
    pub operation: Option<AclOperation>,
}

impl AclFilter {
    fn to_pb(&self) -> Result<PbAclFilter, Error> {
        let resource_type = self.resource_type.unwrap_or(AclResourceType::Any);
        if resource_type == AclResourceType::Any && self.resource_name.is_some() {
            return Err(Error::InvalidSetting {
                field: "resource_type",
                reason: "missing; a resource name without its type would match every resource".to_owned(),
            });
        }
        Ok(PbAclFilter {
            resource_name: self.resource_name.clone(),
            resource_type: resource_type.code(),
            principal_name: self.principal.as_ref().map(|principal| principal.name.clone()),
            principal_type: self.principal.as_ref().map(|principal| principal.kind.clone()),
            host: self.host.clone(),
            operation_type: self.operation.unwrap_or(AclOperation::Any).code(),
            permission_type: AclPermission::Any.code(),
        })
    }
}

impl FlussClient {
    /// Lists access-control entries, sorted by principal, resource and operation.
    ///
    /// # Errors
    /// `server_error` with code 47 when the cluster has no authorizer and 48 without
    /// the right; `invalid_setting` when the filter would match more than it says.
    pub async fn list_acls(&self, filter: &AclFilter) -> Result<Vec<AclEntry>, Error> {
        let answer = self.ask_coordinator(&ListAclsRequest { acl_filter: filter.to_pb()? }).await?;
        let mut entries: Vec<AclEntry> = answer
            .acl
            .into_iter()
            .map(|acl| AclEntry {
                resource_type: named(
                    AclResourceType::from_code(acl.resource_type).map(AclResourceType::name),
                    acl.resource_type,
                ),
                resource_name: acl.resource_name,
                principal: Principal { kind: acl.principal_type, name: acl.principal_name },
                host: acl.host,
                operation: named(
                    AclOperation::from_code(acl.operation_type).map(AclOperation::name),
                    acl.operation_type,
                ),
                permission: named(
                    AclPermission::from_code(acl.permission_type).map(AclPermission::name),
                    acl.permission_type,
                ),
            })
            .collect();
        entries.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        Ok(entries)
    }
}

fn sort_key(entry: &AclEntry) -> (&Principal, &str, &str, &str, &str) {
    (&entry.principal, &entry.resource_type, &entry.resource_name, &entry.operation, &entry.host)
}

fn named(name: Option<&'static str>, code: i32) -> String {
    name.map_or_else(|| format!("UNKNOWN({code})"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_without_type_never_becomes_a_filter_for_everything() {
        let filter = AclFilter { resource_name: Some("shop".to_owned()), ..AclFilter::default() };
        assert_eq!(filter.to_pb().unwrap_err().code(), "invalid_setting");
    }

    #[test]
    fn empty_filter_asks_for_all_with_any_codes() {
        let pb = AclFilter::default().to_pb().unwrap();
        assert_eq!((pb.resource_type, pb.operation_type, pb.permission_type), (1, 1, 1));
        assert!(pb.principal_name.is_none() && pb.principal_type.is_none());
    }
}
