//! The configuration of a cluster, secrets hidden.

use pegel_core::access::permissions::CONFIG_READ;
use pegel_core::limits::Page;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::operation::{Concerns, Meta, Operation, Risk};

/// Lists the configuration of a cluster.
pub enum ListClusterConfig {}

impl Operation for ListClusterConfig {
    type Input = ListClusterConfigInput;
    type Output = Page<ConfigValue>;

    const META: Meta = Meta {
        id: "list_cluster_config",
        route: "operations/cluster-config",
        summary: "Lists the configuration of the cluster with the source of each value; secrets are hidden",
        permission: &CONFIG_READ,
        risk: Risk::Read,
        phrase: None,
        cooldown: None,
        is_list: true,
    };

    fn target(_: &Self::Input) -> Concerns<'_> {
        Concerns::WholeCluster
    }
}

/// Which values are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListClusterConfigInput {
    /// Text to find in key, shown value and source, without regard to case; up to 200 bytes.
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

/// One configuration value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigValue {
    /// Key, always shown.
    pub key: String,
    /// Value, `***` when it was hidden, absent when none is set.
    pub value: Option<String>,
    /// Whether the value was hidden.
    pub is_redacted: bool,
    /// Where the value comes from, as the server says.
    pub source: String,
    /// What Fluss 0.9.1 does where nothing is set; absent where it has no default or does not know the key.
    #[serde(default)]
    pub default_value: Option<String>,
    /// Whether the value means something else than the default; absent where Fluss 0.9.1 does not know the key, and
    /// for hidden values.
    #[serde(default)]
    pub differs_from_default: Option<bool>,
}
