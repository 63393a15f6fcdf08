//! Kind of a Fluss server, as its `API_VERSIONS` answer tells it.

use std::fmt;

/// A kind of Fluss server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerType {
    /// The coordinator: administration and metadata.
    Coordinator,
    /// A tablet server: data and metadata.
    TabletServer,
}

impl ServerType {
    /// Returns the type with a code, or nothing if the code is unknown.
    pub fn from_code(code: i32) -> Option<Self> {
        match code {
            1 => Some(Self::Coordinator),
            2 => Some(Self::TabletServer),
            _ => None,
        }
    }

    /// Returns the number in `ApiVersionsResponse.server_type`.
    pub fn code(self) -> i32 {
        match self {
            Self::Coordinator => 1,
            Self::TabletServer => 2,
        }
    }

    /// Returns the name used in texts: `coordinator` or `tablet server`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coordinator => "coordinator",
            Self::TabletServer => "tablet server",
        }
    }
}

impl fmt::Display for ServerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::ServerType;

    #[test]
    fn codes_round_trip_and_others_are_unknown() {
        for server_type in [ServerType::Coordinator, ServerType::TabletServer] {
            assert_eq!(ServerType::from_code(server_type.code()), Some(server_type));
        }
        assert_eq!(ServerType::from_code(0), None);
        assert_eq!(ServerType::from_code(3), None);
    }
}
