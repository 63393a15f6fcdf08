//! Properties as they are shown.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Property {
    /// Key, always shown.
    pub key: String,
    /// Value, or `***` when it was hidden.
    pub value: String,
    /// Whether the value was hidden.
    pub is_redacted: bool,
}
