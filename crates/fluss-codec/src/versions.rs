//! What a server serves, from its `API_VERSIONS` answer, and which version to use.
//!
//! A server does not refuse a wrong version and does not answer a key it does not serve, so every request
//! must pass [`ApiVersionTable::negotiate`] first. Source: `ServerApiVersions` of Fluss 0.9.1.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::api_key::ApiKey;
use crate::messages::ApiVersionsResponse;
use crate::server_type::ServerType;

/// Why no version of a request can be used with a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The server does not list the key.
    #[error("{key} is not served by this {}", server_name(*server_type))]
    NotServed {
        /// The key asked for.
        key: ApiKey,
        /// What the server says it is.
        server_type: Option<ServerType>,
    },
    /// The server's range and this crate's do not overlap.
    #[error(
        "{key} is served in versions {server_min} to {server_max}, known here are {client_min} to {client_max}"
    )]
    NoOverlap {
        /// The key asked for.
        key: ApiKey,
        /// Lowest version of the server.
        server_min: i16,
        /// Highest version of the server.
        server_max: i16,
        /// Lowest version known here.
        client_min: i16,
        /// Highest version known here.
        client_max: i16,
    },
    /// The answer holds a range that is empty or outside `i16`.
    #[error("the server lists {key} with the impossible version range {min} to {max}")]
    InvalidRange {
        /// The key concerned.
        key: ApiKey,
        /// Lowest version in the answer.
        min: i32,
        /// Highest version in the answer.
        max: i32,
    },
}

impl VersionError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotServed { .. } => "api_not_served",
            Self::NoOverlap { .. } => "api_version_unsupported",
            Self::InvalidRange { .. } => "api_version_range_invalid",
        }
    }
}

/// Layout that a server gives log batches of magic 1, which changed after 0.9.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogMagicOne {
    /// 0.9.1: magic 1 adds the leader epoch.
    LeaderEpoch,
    /// Main: magic 1 adds statistics; magic 2 has both.
    Statistics,
}

/// The API versions of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiVersionTable {
    ranges: BTreeMap<ApiKey, RangeInclusive<i16>>,
    server_type: Option<ServerType>,
}

impl ApiVersionTable {
    /// Reads the table from a server's answer; keys unknown here are left out.
    ///
    /// # Errors
    /// [`VersionError::InvalidRange`] for a known key.
    pub fn from_response(response: &ApiVersionsResponse) -> Result<Self, VersionError> {
        let mut ranges = BTreeMap::new();
        for version in &response.api_versions {
            let Some(key) = i16::try_from(version.api_key).ok().and_then(ApiKey::from_code) else { continue };
            let (min, max) = (version.min_version, version.max_version);
            match (i16::try_from(min), i16::try_from(max)) {
                (Ok(low), Ok(high)) if 0 <= low && low <= high => {
                    ranges.insert(key, low..=high);
                }
                _ => return Err(VersionError::InvalidRange { key, min, max }),
            }
        }
        Ok(Self { ranges, server_type: response.server_type.and_then(ServerType::from_code) })
    }

    /// Returns the highest version that both sides know.
    ///
    /// # Errors
    /// [`VersionError::NotServed`] or [`VersionError::NoOverlap`].
    pub fn negotiate(&self, key: ApiKey) -> Result<i16, VersionError> {
        let Some(server) = self.ranges.get(&key) else {
            return Err(VersionError::NotServed { key, server_type: self.server_type });
        };
        let client = key.client_versions();
        let highest = *server.end().min(client.end());
        if highest < *server.start().max(client.start()) {
            return Err(VersionError::NoOverlap {
                key,
                server_min: *server.start(),
                server_max: *server.end(),
                client_min: *client.start(),
                client_max: *client.end(),
            });
        }
        Ok(highest)
    }

    /// Returns what the server says it is; very old servers say nothing.
    pub fn server_type(&self) -> Option<ServerType> {
        self.server_type
    }

    /// Tells whether the server lists a key, in whatever version.
    pub fn supports(&self, key: ApiKey) -> bool {
        self.ranges.contains_key(&key)
    }

    /// Returns the keys the server lists, ascending, with their version ranges.
    pub fn keys(&self) -> impl Iterator<Item = (ApiKey, RangeInclusive<i16>)> + '_ {
        self.ranges.iter().map(|(key, range)| (*key, range.clone()))
    }

    /// Returns the layout of log batches of magic 1 that the server writes.
    pub fn log_format(&self) -> LogMagicOne {
        if self.ranges.keys().any(|key| key.is_main_only()) {
            LogMagicOne::Statistics
        } else {
            LogMagicOne::LeaderEpoch
        }
    }

    /// Returns the release line the listed keys point to, for display only: `1.0`, `0.9` or `before 0.9`.
    ///
    /// Fluss has no request that tells its version. `1.0` stands for any server with keys added after 0.9.1.
    pub fn server_line(&self) -> &'static str {
        if self.ranges.keys().any(|key| key.is_main_only()) {
            "1.0"
        } else if self.ranges.keys().any(|key| *key >= ApiKey::AddServerTag) {
            "0.9"
        } else {
            "before 0.9"
        }
    }
}

fn server_name(server_type: Option<ServerType>) -> &'static str {
    server_type.map_or("server", ServerType::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_key::ServedBy;
    use crate::messages::PbApiVersion;

    fn table(
        versions: &[(i32, i32, i32)],
        server_type: Option<i32>,
    ) -> Result<ApiVersionTable, VersionError> {
        let api_versions = versions
            .iter()
            .map(|(api_key, min_version, max_version)| PbApiVersion {
                api_key: *api_key,
                min_version: *min_version,
                max_version: *max_version,
            })
            .collect();
        ApiVersionTable::from_response(&ApiVersionsResponse { api_versions, server_type })
    }

    #[test]
    fn highest_common_version_is_chosen() {
        let table = table(&[(1016, 0, 1), (1017, 0, 9), (1003, 2, 4), (4711, 0, 0)], Some(2)).unwrap();
        assert_eq!(table.negotiate(ApiKey::PutKv), Ok(1));
        assert_eq!(table.negotiate(ApiKey::Lookup), Ok(1));
        assert_eq!(table.negotiate(ApiKey::ListDatabases).unwrap_err().code(), "api_version_unsupported");
        let missing = table.negotiate(ApiKey::CreateTable).unwrap_err();
        assert_eq!(missing.to_string(), "CREATE_TABLE is not served by this tablet server");
        assert!(table.supports(ApiKey::ListDatabases));
        assert_eq!(table.server_type(), Some(ServerType::TabletServer));
    }

    #[test]
    fn impossible_ranges_are_refused_for_known_keys_only() {
        for (min, max) in [(1, 0), (-1, 0), (0, 40_000), (0, -1)] {
            assert_eq!(table(&[(1003, min, max)], None).unwrap_err().code(), "api_version_range_invalid");
            assert!(table(&[(4711, min, max)], None).is_ok());
            assert!(table(&[(70_000, min, max)], None).is_ok());
        }
    }

    #[test]
    fn release_line_follows_the_listed_keys() {
        let of = |keep: &dyn Fn(ApiKey) -> bool| {
            let versions: Vec<_> = ApiKey::ALL
                .iter()
                .filter(|key| keep(**key))
                .map(|key| (i32::from(key.code()), 0, 0))
                .collect();
            table(&versions, None).unwrap()
        };
        let tablet = |key: ApiKey| key.served_by() != ServedBy::Coordinator;
        let main = of(&tablet);
        assert_eq!((main.server_line(), main.log_format()), ("1.0", LogMagicOne::Statistics));
        let released = of(&|key| tablet(key) && !key.is_main_only());
        assert_eq!((released.server_line(), released.log_format()), ("0.9", LogMagicOne::LeaderEpoch));
        let old = of(&|key| key < ApiKey::AddServerTag);
        assert_eq!((old.server_line(), old.log_format()), ("before 0.9", LogMagicOne::LeaderEpoch));
        assert_eq!(old.server_type(), None);
    }
}
