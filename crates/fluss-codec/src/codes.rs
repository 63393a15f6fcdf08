//! Enumerations that messages carry as `int32`.
//!
//! Each has `from_code` (nothing for a code unknown here, never a guess), `code` and `name`. Sources: the
//! enums of the same names in Fluss 0.9.1 and main.

macro_rules! code_enum {
    (
        $(#[$meta:meta])*
        $enum:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $code:literal, $name:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $enum {
            /// All values, ascending by code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the value with a code, or nothing if the code is unknown.
            pub fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Returns the number on the wire.
            pub fn code(self) -> i32 {
                match self {
                    $(Self::$variant => $code,)*
                }
            }

            /// Returns the name Fluss uses.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

code_enum! {
    /// Kind of resource an access rule protects.
    AclResourceType {
        /// Any kind; for filters only.
        Any = 1, "ANY";
        /// The cluster; its one resource is named `fluss-cluster`.
        Cluster = 2, "CLUSTER";
        /// A database; covers its tables.
        Database = 3, "DATABASE";
        /// A table, named `database.table`.
        Table = 4, "TABLE";
    }
}

code_enum! {
    /// Operation an access rule allows.
    AclOperation {
        /// Any operation; for filters only.
        Any = 1, "ANY";
        /// Every operation.
        All = 2, "ALL";
        /// Fetching, looking up and scanning.
        Read = 3, "READ";
        /// Producing, putting, creating and dropping partitions.
        Write = 4, "WRITE";
        /// Creating a database or a table.
        Create = 5, "CREATE";
        /// Dropping a database or a table.
        Drop = 6, "DROP";
        /// Altering; also managing access rules on 0.9.1.
        Alter = 7, "ALTER";
        /// Seeing that the resource exists, and its metadata.
        Describe = 8, "DESCRIBE";
    }
}

code_enum! {
    /// Whether an access rule allows; Fluss has no denial.
    AclPermission {
        /// Any permission; for filters only.
        Any = 1, "ANY";
        /// The operation is allowed.
        Allow = 2, "ALLOW";
    }
}

code_enum! {
    /// How `PbAlterConfig` changes a key.
    ConfigOperation {
        /// Sets the value.
        Set = 0, "SET";
        /// Removes the key, so that the default applies.
        Delete = 1, "DELETE";
        /// Adds to a list or map; cluster configuration only.
        Append = 2, "APPEND";
        /// Takes from a list or map; cluster configuration only.
        Subtract = 3, "SUBTRACT";
    }
}

code_enum! {
    /// Where `PbAddColumn` puts a column.
    ColumnPosition {
        /// After the last column; the only one accepted today.
        Last = 0, "LAST";
        /// Before the first column.
        First = 1, "FIRST";
        /// After a named column.
        After = 3, "AFTER";
    }
}

code_enum! {
    /// Mark that takes a tablet server out of service.
    ServerTag {
        /// The server will not come back: a rebalance moves its replicas away.
        PermanentOffline = 0, "PERMANENT_OFFLINE";
        /// The server will come back: a rebalance moves its leaders away.
        TemporaryOffline = 1, "TEMPORARY_OFFLINE";
    }
}

code_enum! {
    /// What a rebalance is to even out.
    RebalanceGoal {
        /// Replicas per server.
        ReplicaDistribution = 0, "REPLICA_DISTRIBUTION";
        /// Leaders per server.
        LeaderDistribution = 1, "LEADER_DISTRIBUTION";
        /// Replicas of a bucket on different racks.
        RackAware = 2, "RACK_AWARE";
    }
}

code_enum! {
    /// State of a rebalance or of one bucket in it.
    RebalanceStatus {
        /// Planned, nothing moved.
        NotStarted = 0, "NOT_STARTED";
        /// Moving.
        Rebalancing = 1, "REBALANCING";
        /// Ended with an error.
        Failed = 2, "FAILED";
        /// Ended well.
        Completed = 3, "COMPLETED";
        /// Ended by a user; what had been moved stays.
        Canceled = 4, "CANCELED";
        /// Ended by time; only on main.
        Timeout = 5, "TIMEOUT";
    }
}

impl RebalanceStatus {
    /// Tells whether the status does not change any more.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::NotStarted | Self::Rebalancing)
    }
}

code_enum! {
    /// Which offset `ListOffsetsRequest` asks for.
    OffsetType {
        /// Start of the log, tiered segments included.
        Earliest = 0, "EARLIEST";
        /// High watermark.
        Latest = 1, "LATEST";
        /// First offset whose commit timestamp is not before `startTimestamp`.
        Timestamp = 2, "TIMESTAMP";
    }
}

code_enum! {
    /// Colour of `GetClusterHealthResponse`; only on main.
    ClusterHealth {
        /// All replicas are in sync.
        Green = 0, "GREEN";
        /// All buckets have an active leader, some replicas are not in sync.
        Yellow = 1, "YELLOW";
        /// Some bucket has no active leader.
        Red = 2, "RED";
        /// The server cannot tell.
        Unknown = 3, "UNKNOWN";
    }
}

code_enum! {
    /// How `PutKvRequest` treats the merge engine of a table.
    AggregationMode {
        /// The merge engine applies.
        Default = 0, "DEFAULT";
        /// Values replace what is stored; for undoing and recovery.
        Overwrite = 1, "OVERWRITE";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! check {
        ($($enum:ident: $count:literal, $unknown:expr;)*) => {
            $(
                assert_eq!($enum::ALL.len(), $count);
                for value in $enum::ALL {
                    assert_eq!($enum::from_code(value.code()), Some(*value));
                }
                for code in $unknown {
                    assert_eq!($enum::from_code(code), None, "{} {code}", stringify!($enum));
                }
            )*
        };
    }

    #[test]
    fn codes_round_trip_and_unknown_ones_stay_unknown() {
        check! {
            AclResourceType: 4, [0, 5, -1];
            AclOperation: 8, [0, 9];
            AclPermission: 2, [0, 3];
            ConfigOperation: 4, [-1, 4];
            ColumnPosition: 3, [2, 4];
            ServerTag: 2, [-1, 2];
            RebalanceGoal: 3, [-1, 3];
            RebalanceStatus: 6, [-1, 6];
            OffsetType: 3, [-1, 3];
            ClusterHealth: 4, [-1, 4];
            AggregationMode: 2, [-1, 2, 7];
        }
    }

    #[test]
    fn final_statuses_are_those_after_rebalancing() {
        for status in RebalanceStatus::ALL {
            assert_eq!(status.is_final(), status.code() >= 2, "{status}");
        }
    }
}
