//! Who may do what: roles, permission patterns, scopes, and the decision.
//!
//! Three things must all say yes: the role is at least the permission's minimum,
//! one of the grants matches the permission's name, and the target lies in the
//! scope. A role alone grants nothing. Nothing here looks anything up: the
//! principal is an argument, so that one function decides for every face.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::NameError;

pub mod decision;
pub mod pattern;
pub mod permissions;
pub mod scope;

/// How far a principal may be trusted at most. Each role may what the one before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Looks.
    Viewer,
    /// Changes what can be changed back.
    Editor,
    /// Destroys, and rules over clusters and people.
    Admin,
}

impl Role {
    /// All roles, the weakest first.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Editor, Self::Admin];

    /// Returns the role as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(NameError::Role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_ordered_and_read_as_they_are_written() {
        assert!(Role::Viewer < Role::Editor && Role::Editor < Role::Admin);
        for role in Role::ALL {
            assert_eq!(role.to_string().parse(), Ok(role));
            assert_eq!(serde_json::to_string(&role).unwrap(), format!("\"{role}\""));
        }
        assert_eq!("root".parse::<Role>(), Err(NameError::Role));
    }
}
