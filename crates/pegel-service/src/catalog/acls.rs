//! Access-control entries.

use fluss_client::admin::{AclEntry, AclFilter, Principal};
use fluss_codec::codes::{AclOperation, AclResourceType};
use pegel_api_types::operations::acls::{Acl, ListAcls, ListAclsInput};
use pegel_core::limits::Page;

use crate::catalog::{Execute, list_status};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::policy::Authorized;
use crate::policy::permission::SecurityRead;

impl Execute for ListAcls {
    type Permit = SecurityRead;

    /// Lists access-control entries.
    ///
    /// # Errors
    /// `security_disabled` when the cluster has no authorizer, `authorization_failed` without the right,
    /// `invalid` for a filter that names nothing there is.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<SecurityRead>,
        input: ListAclsInput,
    ) -> Result<Answer<Page<Acl>>, Failure> {
        let page = execution.page(input.search.as_deref(), input.offset, input.limit)?;
        let filter = filter(&input)?;
        let entries: Vec<Acl> = execution.client.list_acls(&filter).await?.into_iter().map(view).collect();
        let page = page.cut(entries, |acl| {
            let principal = format!("{}:{}", acl.principal_type, acl.principal_name);
            let resource = format!("{}:{}", acl.resource_type, acl.resource_name);
            vec![principal, resource, acl.operation.clone(), acl.host.clone()]
        });
        let (status, warning) = list_status(&page);
        let mut answer = Answer::new(status, page);
        answer.warnings.extend(warning.into_iter().chain(execution.filter_warning(false)));
        Ok(answer)
    }
}

/// Reads the parts of a filter. What is not given matches everything.
fn filter(input: &ListAclsInput) -> Result<AclFilter, Failure> {
    let (resource_type, resource_name) = match input.resource.as_deref().map(split_resource) {
        None => (None, None),
        Some((kind, name)) => (Some(resource_type(kind)?), name.map(str::to_owned)),
    };
    // There is no other kind of entry, so a filter for it leaves nothing out.
    if input.permission.as_ref().is_some_and(|permission| !permission.eq_ignore_ascii_case("allow")) {
        return Err(Failure::invalid_field("/permission", "the only permission there is, is allow"));
    }
    Ok(AclFilter {
        resource_type,
        resource_name,
        principal: input.principal.as_deref().map(principal).transpose()?,
        host: input.host.clone(),
        operation: input.operation.as_deref().map(operation).transpose()?,
    })
}

fn split_resource(text: &str) -> (&str, Option<&str>) {
    text.split_once(':').map_or((text, None), |(kind, name)| (kind, Some(name)))
}

fn resource_type(text: &str) -> Result<AclResourceType, Failure> {
    let known = [AclResourceType::Cluster, AclResourceType::Database, AclResourceType::Table];
    let found = known.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let rule =
            "a resource is cluster, database or table, or one of them with its name, as in table:shop.orders";
        Failure::invalid_field("/resource", rule)
    })
}

/// Reads a principal: always kind and name, since servers ignore half a principal and match everyone.
fn principal(text: &str) -> Result<Principal, Failure> {
    match text.split_once(':') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => {
            Ok(Principal { kind: kind.to_owned(), name: name.to_owned() })
        }
        _ => Err(Failure::invalid_field("/principal", "a principal has a kind and a name, as in User:alice")),
    }
}

fn operation(text: &str) -> Result<AclOperation, Failure> {
    let known = AclOperation::ALL.iter().copied().filter(|operation| *operation != AclOperation::Any);
    let found = known.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let rule = "an operation is all, read, write, create, drop, alter or describe";
        Failure::invalid_field("/operation", rule)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_filter_are_read_without_regard_to_case() {
        let input = ListAclsInput {
            resource: Some("Table:shop.orders".to_owned()),
            principal: Some("User:a:b".to_owned()),
            operation: Some("READ".to_owned()),
            permission: Some("ALLOW".to_owned()),
            ..ListAclsInput::default()
        };
        let read = filter(&input).unwrap();
        assert_eq!(read.resource_type, Some(AclResourceType::Table));
        assert_eq!(read.resource_name.as_deref(), Some("shop.orders"));
        assert_eq!(read.principal.unwrap().name, "a:b");
        assert_eq!(read.operation, Some(AclOperation::Read));
        assert_eq!(filter(&ListAclsInput::default()).unwrap(), AclFilter::default());
    }

    #[test]
    fn a_part_that_names_nothing_is_told_with_its_field() {
        let refused = |change: fn(&mut ListAclsInput)| {
            let mut input = ListAclsInput::default();
            change(&mut input);
            filter(&input).unwrap_err().pointer.unwrap()
        };
        assert_eq!(refused(|input| input.resource = Some("topic".to_owned())), "/resource");
        assert_eq!(refused(|input| input.principal = Some("alice".to_owned())), "/principal");
        assert_eq!(refused(|input| input.operation = Some("any".to_owned())), "/operation");
        assert_eq!(refused(|input| input.permission = Some("deny".to_owned())), "/permission");
    }
}
