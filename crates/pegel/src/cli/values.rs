//! Parsers of single arguments, whose messages say what would be right.

use fluss_codec::codes::{AclOperation, AclResourceType};
use pegel_core::ids::Environment;

/// A kind of resource as written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResourceTypeName(pub(crate) AclResourceType);

/// An operation as written on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OperationName(pub(crate) AclOperation);

/// A principal as written on the command line: always kind and name, since
/// servers ignore half a principal and would match everyone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrincipalName {
    pub(crate) kind: String,
    pub(crate) name: String,
}

pub(super) fn partition_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE, as in region=eu".to_owned()),
    }
}

pub(super) fn time_with_zone(text: &str) -> Result<jiff::Timestamp, String> {
    text.parse()
        .map_err(|_| "write an RFC 3339 time with its zone, as in 2026-01-31T12:00:00Z or …+01:00".to_owned())
}

pub(super) fn environment(text: &str) -> Result<Environment, String> {
    text.parse().map_err(|_| "write production, staging, development or test".to_owned())
}

pub(super) fn principal(text: &str) -> Result<PrincipalName, String> {
    match text.split_once(':') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() => {
            Ok(PrincipalName { kind: kind.to_owned(), name: name.to_owned() })
        }
        _ => Err("write kind and name, as in User:alice".to_owned()),
    }
}

pub(super) fn resource_type(text: &str) -> Result<ResourceTypeName, String> {
    let known = [AclResourceType::Cluster, AclResourceType::Database, AclResourceType::Table];
    let found = known.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(text));
    found.map(ResourceTypeName).ok_or_else(|| "write cluster, database or table".to_owned())
}

pub(super) fn operation(text: &str) -> Result<OperationName, String> {
    let known = AclOperation::ALL.iter().copied().filter(|operation| *operation != AclOperation::Any);
    let found = known.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(text));
    found
        .map(OperationName)
        .ok_or_else(|| "write all, read, write, create, drop, alter or describe".to_owned())
}
