//! API keys: the numbers that name a request in a frame header.
//!
//! Source: `ApiKeys` of Fluss 0.9.1 (1000 to 1059) and of main (to 1064). What a server really serves is
//! learnt from its `API_VERSIONS` answer; see [`crate::versions`].

use std::fmt;
use std::ops::RangeInclusive;

/// Which kind of server answers a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServedBy {
    /// Only the coordinator.
    Coordinator,
    /// Only tablet servers; mostly the leader of the bucket concerned.
    TabletServer,
    /// Any server.
    Both,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Public,
    Internal,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Since {
    Both,
    Main,
}

macro_rules! api_keys {
    ($($key:ident = $code:literal, $name:literal, $served:ident, $visibility:ident, $since:ident, $max:literal;)*) => {
        /// A request of the Fluss protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ApiKey {
            $(#[doc = concat!("`", $name, "` (", $code, ").")]
            $key,)*
        }

        impl ApiKey {
            /// All keys, ascending by code.
            pub const ALL: &[Self] = &[$(Self::$key,)*];

            /// Returns the key with a code, or nothing if the code is unknown.
            pub fn from_code(code: i16) -> Option<Self> {
                match code {
                    $($code => Some(Self::$key),)*
                    _ => None,
                }
            }

            /// Returns the number in the frame header.
            pub fn code(self) -> i16 {
                match self {
                    $(Self::$key => $code,)*
                }
            }

            /// Returns the name Fluss uses, such as `LIST_DATABASES`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$key => $name,)*
                }
            }

            /// Returns the kind of server that answers the request.
            pub fn served_by(self) -> ServedBy {
                match self {
                    $(Self::$key => ServedBy::$served,)*
                }
            }

            /// Returns the versions this crate can encode and decode.
            ///
            /// `PUT_KV`, `LOOKUP` and `PREFIX_LOOKUP` above 0 promise that keys follow the rules of kv
            /// format version 2, which [`crate::key`] does; `PUT_KV` 2 promises that error 72 is understood.
            pub fn client_versions(self) -> RangeInclusive<i16> {
                match self {
                    $(Self::$key => 0..=$max,)*
                }
            }

            fn visibility(self) -> Visibility {
                match self {
                    $(Self::$key => Visibility::$visibility,)*
                }
            }

            fn since(self) -> Since {
                match self {
                    $(Self::$key => Since::$since,)*
                }
            }
        }
    };
}

api_keys! {
    ApiVersions = 1000, "API_VERSIONS", Both, Public, Both, 0;
    CreateDatabase = 1001, "CREATE_DATABASE", Coordinator, Public, Both, 0;
    DropDatabase = 1002, "DROP_DATABASE", Coordinator, Public, Both, 0;
    ListDatabases = 1003, "LIST_DATABASES", Both, Public, Both, 0;
    DatabaseExists = 1004, "DATABASE_EXISTS", Both, Public, Both, 0;
    CreateTable = 1005, "CREATE_TABLE", Coordinator, Public, Both, 0;
    DropTable = 1006, "DROP_TABLE", Coordinator, Public, Both, 0;
    GetTableInfo = 1007, "GET_TABLE_INFO", Both, Public, Both, 0;
    ListTables = 1008, "LIST_TABLES", Both, Public, Both, 0;
    ListPartitionInfos = 1009, "LIST_PARTITION_INFOS", Both, Public, Both, 0;
    TableExists = 1010, "TABLE_EXISTS", Both, Public, Both, 0;
    GetTableSchema = 1011, "GET_TABLE_SCHEMA", Both, Public, Both, 0;
    GetMetadata = 1012, "GET_METADATA", Both, Public, Both, 0;
    UpdateMetadata = 1013, "UPDATE_METADATA", TabletServer, Internal, Both, 0;
    ProduceLog = 1014, "PRODUCE_LOG", TabletServer, Public, Both, 0;
    FetchLog = 1015, "FETCH_LOG", TabletServer, Public, Both, 0;
    PutKv = 1016, "PUT_KV", TabletServer, Public, Both, 2;
    Lookup = 1017, "LOOKUP", TabletServer, Public, Both, 1;
    NotifyLeaderAndIsr = 1018, "NOTIFY_LEADER_AND_ISR", TabletServer, Internal, Both, 0;
    StopReplica = 1019, "STOP_REPLICA", TabletServer, Internal, Both, 0;
    AdjustIsr = 1020, "ADJUST_ISR", Coordinator, Internal, Both, 0;
    ListOffsets = 1021, "LIST_OFFSETS", TabletServer, Public, Both, 0;
    CommitKvSnapshot = 1022, "COMMIT_KV_SNAPSHOT", Coordinator, Internal, Both, 0;
    GetLatestKvSnapshots = 1023, "GET_LATEST_KV_SNAPSHOTS", Both, Public, Both, 0;
    GetKvSnapshotMetadata = 1024, "GET_KV_SNAPSHOT_METADATA", Both, Public, Both, 0;
    GetFilesystemSecurityToken = 1025, "GET_FILESYSTEM_SECURITY_TOKEN", Both, Public, Both, 0;
    InitWriter = 1026, "INIT_WRITER", TabletServer, Public, Both, 0;
    CommitRemoteLogManifest = 1027, "COMMIT_REMOTE_LOG_MANIFEST", Coordinator, Internal, Both, 0;
    NotifyRemoteLogOffsets = 1028, "NOTIFY_REMOTE_LOG_OFFSETS", TabletServer, Internal, Both, 0;
    NotifyKvSnapshotOffset = 1029, "NOTIFY_KV_SNAPSHOT_OFFSET", TabletServer, Internal, Both, 0;
    CommitLakeTableSnapshot = 1030, "COMMIT_LAKE_TABLE_SNAPSHOT", Coordinator, Internal, Both, 0;
    NotifyLakeTableOffset = 1031, "NOTIFY_LAKE_TABLE_OFFSET", TabletServer, Internal, Both, 0;
    GetLakeSnapshot = 1032, "GET_LAKE_SNAPSHOT", Both, Public, Both, 0;
    LimitScan = 1033, "LIMIT_SCAN", TabletServer, Public, Both, 0;
    PrefixLookup = 1034, "PREFIX_LOOKUP", TabletServer, Public, Both, 1;
    GetDatabaseInfo = 1035, "GET_DATABASE_INFO", Both, Public, Both, 0;
    CreatePartition = 1036, "CREATE_PARTITION", Coordinator, Public, Both, 0;
    DropPartition = 1037, "DROP_PARTITION", Coordinator, Public, Both, 0;
    Authenticate = 1038, "AUTHENTICATE", Both, Public, Both, 0;
    CreateAcls = 1039, "CREATE_ACLS", Coordinator, Public, Both, 0;
    ListAcls = 1040, "LIST_ACLS", Both, Public, Both, 0;
    DropAcls = 1041, "DROP_ACLS", Coordinator, Public, Both, 0;
    LakeTieringHeartbeat = 1042, "LAKE_TIERING_HEARTBEAT", Coordinator, Internal, Both, 0;
    ControlledShutdown = 1043, "CONTROLLED_SHUTDOWN", Coordinator, Internal, Both, 0;
    AlterTable = 1044, "ALTER_TABLE", Coordinator, Public, Both, 0;
    DescribeClusterConfigs = 1045, "DESCRIBE_CLUSTER_CONFIGS", Both, Public, Both, 0;
    AlterClusterConfigs = 1046, "ALTER_CLUSTER_CONFIGS", Coordinator, Public, Both, 0;
    AddServerTag = 1047, "ADD_SERVER_TAG", Coordinator, Public, Both, 0;
    RemoveServerTag = 1048, "REMOVE_SERVER_TAG", Coordinator, Public, Both, 0;
    Rebalance = 1049, "REBALANCE", Coordinator, Public, Both, 0;
    ListRebalanceProgress = 1050, "LIST_REBALANCE_PROGRESS", Coordinator, Public, Both, 0;
    CancelRebalance = 1051, "CANCEL_REBALANCE", Coordinator, Public, Both, 0;
    PrepareLakeTableSnapshot = 1052, "PREPARE_LAKE_TABLE_SNAPSHOT", Coordinator, Internal, Both, 0;
    RegisterProducerOffsets = 1053, "REGISTER_PRODUCER_OFFSETS", Coordinator, Public, Both, 0;
    GetProducerOffsets = 1054, "GET_PRODUCER_OFFSETS", Coordinator, Public, Both, 0;
    DeleteProducerOffsets = 1055, "DELETE_PRODUCER_OFFSETS", Coordinator, Public, Both, 0;
    AcquireKvSnapshotLease = 1056, "ACQUIRE_KV_SNAPSHOT_LEASE", Coordinator, Public, Both, 0;
    ReleaseKvSnapshotLease = 1057, "RELEASE_KV_SNAPSHOT_LEASE", Coordinator, Public, Both, 0;
    DropKvSnapshotLease = 1058, "DROP_KV_SNAPSHOT_LEASE", Coordinator, Public, Both, 0;
    GetTableStats = 1059, "GET_TABLE_STATS", TabletServer, Public, Both, 0;
    AlterDatabase = 1060, "ALTER_DATABASE", Coordinator, Public, Main, 0;
    ScanKv = 1061, "SCAN_KV", TabletServer, Public, Main, 0;
    GetClusterHealth = 1062, "GET_CLUSTER_HEALTH", Both, Public, Main, 0;
    ListRemoteLogManifests = 1063, "LIST_REMOTE_LOG_MANIFESTS", Coordinator, Public, Main, 0;
    ListKvSnapshots = 1064, "LIST_KV_SNAPSHOTS", Coordinator, Public, Main, 0;
}

impl ApiKey {
    /// Tells whether only servers send the request to each other; a client must never.
    pub fn is_internal(self) -> bool {
        self.visibility() == Visibility::Internal
    }

    /// Tells whether the request came after 0.9.1.
    pub fn is_main_only(self) -> bool {
        self.since() == Since::Main
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_contiguous_and_round_trip() {
        for (index, key) in ApiKey::ALL.iter().enumerate() {
            assert_eq!(usize::try_from(key.code()).unwrap(), 1000 + index, "{key}");
            assert_eq!(ApiKey::from_code(key.code()), Some(*key));
        }
        assert_eq!(ApiKey::ALL.len(), 65);
        assert_eq!(ApiKey::from_code(999), None);
        assert_eq!(ApiKey::from_code(1065), None);
        assert_eq!(ApiKey::from_code(-1), None);
    }

    #[test]
    fn servers_of_0_9_1_list_45_and_32_keys() {
        // Seen in the answers of a 0.9.1 coordinator and tablet server.
        let count = |wanted: ServedBy| {
            ApiKey::ALL
                .iter()
                .filter(|key| !key.is_main_only())
                .filter(|key| key.served_by() == wanted || key.served_by() == ServedBy::Both)
                .count()
        };
        assert_eq!(count(ServedBy::Coordinator), 45);
        assert_eq!(count(ServedBy::TabletServer), 32);
    }
}
