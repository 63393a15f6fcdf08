//! Access-control entries.

use pegel_core::access::permissions::SECURITY_READ;
use pegel_core::limits::Page;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};

/// Lists access-control entries.
pub enum ListAcls {}

impl Operation for ListAcls {
    type Input = ListAclsInput;
    type Output = Page<Acl>;

    const META: Meta = Meta {
        id: "list_acls",
        route: "operations/acls",
        summary: "Lists access-control entries",
        permission: &SECURITY_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: true,
    };

    fn target(_: &Self::Input) -> Concerns<'_> {
        Concerns::WholeCluster
    }
}

/// Which entries are asked for. Absent parts match everything, given parts match exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAclsInput {
    /// Kind of resource, or kind and name: `cluster`, `database`, `table`, `table:shop.orders`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Principal by kind and name, as `User:alice`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// `all`, `read`, `write`, `create`, `drop`, `alter` or `describe`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// `allow`, which is the only kind there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
    /// Text to find in principal, resource, operation and host, without regard to case; up to 200 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// How many of those that match to skip; 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// How many to list, 1 to 1,000; 100 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
}

/// One access-control entry, ordered as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Acl {
    /// Kind of principal, as `User`.
    pub principal_type: String,
    /// Name of the principal.
    pub principal_name: String,
    /// Kind of resource.
    pub resource_type: String,
    /// Name of the resource, `*` for all of its kind.
    pub resource_name: String,
    /// What may be done.
    pub operation: String,
    /// Host it may be done from, `*` for all.
    pub host: String,
    /// `ALLOW`.
    pub permission: String,
}
