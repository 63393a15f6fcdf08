//! Access-control entries.

use fluss_client::admin::{AclEntry, AclFilter};
use pegel_core::limits::{Page, PageRequest};
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::list_status;
use crate::session::{Answer, Session};

/// One access-control entry, ordered as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Acl {
    /// Kind of principal, as `User`.
    pub(crate) principal_type: String,
    /// Name of the principal.
    pub(crate) principal_name: String,
    /// Kind of resource.
    pub(crate) resource_type: String,
    /// Name of the resource, `*` for all of its kind.
    pub(crate) resource_name: String,
    /// What may be done.
    pub(crate) operation: String,
    /// Host it may be done from, `*` for all.
    pub(crate) host: String,
    /// `ALLOW`.
    pub(crate) permission: String,
}

/// Lists access-control entries.
///
/// # Errors
/// `security_disabled` when the cluster has no authorizer, `authorization_failed` without the right.
pub(crate) async fn read(
    session: &Session,
    filter: &AclFilter,
    page: &PageRequest,
) -> Result<Answer<Page<Acl>>, Failure> {
    let entries: Vec<Acl> = session.client.list_acls(filter).await?.into_iter().map(view).collect();
    let page = page.cut(entries, |acl| {
        let principal = format!("{}:{}", acl.principal_type, acl.principal_name);
        let resource = format!("{}:{}", acl.resource_type, acl.resource_name);
        vec![principal, resource, acl.operation.clone(), acl.host.clone()]
    });
    let (status, warning) = list_status(&page);
    let mut answer = Answer::new(status, page);
    answer.warnings.extend(warning.into_iter().chain(session.filter_warning(false)));
    Ok(answer)
}

fn view(entry: AclEntry) -> Acl {
    Acl {
        principal_type: entry.principal.kind,
        principal_name: entry.principal.name,
        resource_type: entry.resource_type,
        resource_name: entry.resource_name,
        operation: entry.operation,
        host: entry.host,
        permission: entry.permission,
    }
}
