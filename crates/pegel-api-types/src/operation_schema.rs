//! The operations on a cluster as data, for forms that are made at run time.

use std::borrow::Cow;

use pegel_core::access::Role;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::operation::{CooldownClass, Risk};

/// The operations on a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Operations {
    /// Each, in the order in which people meet them.
    pub items: Vec<OperationSchema>,
}

/// What holds for every call of an operation, and the schema of its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OperationSchema {
    /// Its name, `<verb>_<resource>`.
    #[schema(value_type = String)]
    pub id: Cow<'static, str>,
    /// Its path below `/api/v1/clusters/{cluster}/`.
    #[schema(value_type = String)]
    pub route: Cow<'static, str>,
    /// What it does.
    #[schema(value_type = String)]
    pub summary: Cow<'static, str>,
    /// The permission that a grant has to match.
    #[schema(value_type = String)]
    pub permission: Cow<'static, str>,
    /// The weakest role that can have the permission.
    pub minimum_role: Role,
    /// Whether the caller may use it on something in the cluster.
    pub is_allowed: bool,
    /// What it can do to the cluster.
    pub risk: Risk,
    /// The phrase that confirms a real mutation, with its places as `<db>`; null for a read.
    #[schema(value_type = Option<String>)]
    pub phrase: Option<Cow<'static, str>>,
    /// Which mutations of a cluster wait for one another; null for a read.
    pub cooldown: Option<CooldownClass>,
    /// Whether the input takes `search`, `offset` and `limit`.
    pub is_list: bool,
    /// The JSON Schema of the input; null where the caller may not use the operation.
    #[schema(value_type = Option<Object>)]
    pub input: Option<Value>,
}
