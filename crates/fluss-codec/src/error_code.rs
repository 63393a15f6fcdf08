//! Error codes of Fluss servers.
//!
//! Source: `Errors` of Fluss 0.9.1 (to 63) and main (to 73). A code is retriable if its Java exception
//! descends from `RetriableException`; it invalidates metadata if it descends from
//! `InvalidMetadataException`. The texts are this crate's own: a server leaves a message out when it equals
//! the default text of the code, so a client needs one.

use std::fmt;

/// An error code sent by a server; codes unknown here keep their number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerErrorCode(i32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Trying again unchanged does not help.
    Final,
    /// Trying again may help.
    Retriable,
    /// Trying again may help once the leader of the bucket is looked up anew.
    Stale,
}

struct Entry {
    name: &'static str,
    class: Class,
    message: &'static str,
}

macro_rules! error_codes {
    ($($name:ident = $code:literal, $class:ident, $message:literal;)*) => {
        impl ServerErrorCode {
            $(#[doc = concat!("Code ", $code, ": ", $message, ".")]
            pub const $name: Self = Self($code);)*

            /// All codes known here, ascending.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            fn entry(self) -> Option<Entry> {
                match self.0 {
                    $($code => Some(Entry {
                        name: stringify!($name),
                        class: Class::$class,
                        message: $message,
                    }),)*
                    _ => None,
                }
            }
        }
    };
}

error_codes! {
    UNKNOWN_SERVER_ERROR = -1, Final, "the server failed unexpectedly";
    NONE = 0, Final, "no error";
    NETWORK_EXCEPTION = 1, Stale, "the connection to the server was lost";
    UNSUPPORTED_VERSION = 2, Final, "the server does not support this version of the request";
    CORRUPT_MESSAGE = 3, Retriable, "the message is corrupt";
    DATABASE_NOT_EXIST = 4, Final, "the database does not exist";
    DATABASE_NOT_EMPTY = 5, Final, "the database is not empty";
    DATABASE_ALREADY_EXIST = 6, Final, "the database already exists";
    TABLE_NOT_EXIST = 7, Final, "the table does not exist";
    TABLE_ALREADY_EXIST = 8, Final, "the table already exists";
    SCHEMA_NOT_EXIST = 9, Retriable, "the schema does not exist on this server, or not yet";
    LOG_STORAGE_EXCEPTION = 10, Retriable, "the server's log storage failed";
    KV_STORAGE_EXCEPTION = 11, Retriable, "the server's key-value storage failed";
    NOT_LEADER_OR_FOLLOWER = 12, Stale, "the server does not lead or follow the bucket";
    RECORD_TOO_LARGE_EXCEPTION = 13, Final, "the record is larger than the server accepts";
    CORRUPT_RECORD_EXCEPTION = 14, Retriable, "the record is corrupt";
    INVALID_TABLE_EXCEPTION = 15, Final, "the table or the operation on it is invalid";
    INVALID_DATABASE_EXCEPTION = 16, Final, "the database is invalid";
    INVALID_REPLICATION_FACTOR = 17, Final, "the replication factor is invalid or larger than the number of servers";
    INVALID_REQUIRED_ACKS = 18, Final, "the required acknowledgements are none of 0, 1 and -1";
    LOG_OFFSET_OUT_OF_RANGE_EXCEPTION = 19, Final, "the offset lies outside the log of the bucket";
    NON_PRIMARY_KEY_TABLE_EXCEPTION = 20, Final, "the table has no primary key";
    UNKNOWN_TABLE_OR_BUCKET_EXCEPTION = 21, Stale, "the table or bucket is not known to this server";
    INVALID_UPDATE_VERSION_EXCEPTION = 22, Final, "the update carries an invalid version";
    INVALID_COORDINATOR_EXCEPTION = 23, Final, "the request came from an invalid coordinator";
    FENCED_LEADER_EPOCH_EXCEPTION = 24, Final, "the leader epoch is out of date";
    REQUEST_TIME_OUT = 25, Retriable, "the request timed out on the server; its outcome is unknown";
    STORAGE_EXCEPTION = 26, Retriable, "the server's storage failed";
    OPERATION_NOT_ATTEMPTED_EXCEPTION = 27, Final, "the operation was not attempted";
    NOT_ENOUGH_REPLICAS_AFTER_APPEND_EXCEPTION = 28, Retriable, "the write was appended, but too few replicas are in sync; its outcome is unknown";
    NOT_ENOUGH_REPLICAS_EXCEPTION = 29, Retriable, "too few replicas are in sync; nothing was written";
    SECURITY_TOKEN_EXCEPTION = 30, Final, "no security token could be obtained for the remote file system";
    OUT_OF_ORDER_SEQUENCE_EXCEPTION = 31, Final, "the batch sequence is out of order";
    DUPLICATE_SEQUENCE_EXCEPTION = 32, Final, "the batch sequence was seen before";
    UNKNOWN_WRITER_ID_EXCEPTION = 33, Final, "the writer id is unknown or has expired";
    INVALID_COLUMN_PROJECTION = 34, Final, "the column projection is invalid";
    INVALID_TARGET_COLUMN = 35, Final, "the target columns are invalid";
    PARTITION_NOT_EXISTS = 36, Final, "the partition does not exist";
    TABLE_NOT_PARTITIONED_EXCEPTION = 37, Final, "the table is not partitioned";
    INVALID_TIMESTAMP_EXCEPTION = 38, Final, "the timestamp is invalid";
    INVALID_CONFIG_EXCEPTION = 39, Final, "the configuration is invalid";
    LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION = 40, Final, "no lake storage is configured";
    KV_SNAPSHOT_NOT_EXIST = 41, Final, "the key-value snapshot does not exist";
    PARTITION_ALREADY_EXISTS = 42, Final, "the partition already exists";
    PARTITION_SPEC_INVALID_EXCEPTION = 43, Final, "the partition specification is invalid";
    LEADER_NOT_AVAILABLE_EXCEPTION = 44, Stale, "the bucket has no available leader";
    PARTITION_MAX_NUM_EXCEPTION = 45, Final, "the table has reached its limit of partitions";
    AUTHENTICATE_EXCEPTION = 46, Final, "authentication failed";
    SECURITY_DISABLED_EXCEPTION = 47, Final, "access control is switched off on the cluster";
    AUTHORIZATION_EXCEPTION = 48, Final, "the principal lacks the permission";
    BUCKET_MAX_NUM_EXCEPTION = 49, Final, "the limit of buckets is reached";
    FENCED_TIERING_EPOCH_EXCEPTION = 50, Final, "the tiering epoch is out of date";
    RETRIABLE_AUTHENTICATE_EXCEPTION = 51, Final, "authentication must be started again";
    INVALID_SERVER_RACK_INFO_EXCEPTION = 52, Final, "the server's rack information is invalid";
    LAKE_SNAPSHOT_NOT_EXIST = 53, Final, "the lake snapshot does not exist";
    LAKE_TABLE_ALREADY_EXIST = 54, Final, "the lake table already exists";
    INELIGIBLE_REPLICA_EXCEPTION = 55, Final, "the replica may not join the in-sync set";
    INVALID_ALTER_TABLE_EXCEPTION = 56, Final, "the change of the table is invalid";
    DELETION_DISABLED_EXCEPTION = 57, Final, "the table does not allow deletion";
    SERVER_NOT_EXIST_EXCEPTION = 58, Final, "the server does not exist";
    SEVER_TAG_ALREADY_EXIST_EXCEPTION = 59, Final, "the server already carries another tag";
    SEVER_TAG_NOT_EXIST_EXCEPTION = 60, Final, "the server does not carry the tag";
    REBALANCE_FAILURE_EXCEPTION = 61, Final, "the rebalance failed or could not be started";
    NO_REBALANCE_IN_PROGRESS_EXCEPTION = 62, Final, "no such rebalance is in progress";
    INVALID_PRODUCER_ID_EXCEPTION = 63, Final, "the producer id is invalid";
    CONFIG_EXCEPTION = 64, Final, "the cluster configuration is invalid or may not be changed";
    NOT_COORDINATOR_LEADER_EXCEPTION = 65, Final, "the coordinator is not the leader";
    SCANNER_EXPIRED = 66, Final, "the scanner has expired";
    UNKNOWN_SCANNER_ID = 67, Final, "the scanner is unknown";
    INVALID_SCAN_REQUEST = 68, Final, "the scan request is invalid";
    TOO_MANY_SCANNERS = 69, Final, "too many scanners are open";
    DISK_WRITE_LOCKED = 70, Retriable, "the server's disk is locked for writing";
    INSUFFICIENT_KV_LEADER_REPLICA_CAPACITY = 71, Final, "the servers lack capacity for more key-value leaders";
    STORAGE_BACKPRESSURE_EXCEPTION = 72, Retriable, "the server's storage is under pressure";
    HISTORICAL_PARTITION_THROTTLED = 73, Retriable, "requests to historical partitions are throttled";
}

impl ServerErrorCode {
    /// Takes a code as it came; any number is allowed.
    pub fn from_code(code: i32) -> Self {
        Self(code)
    }

    /// Returns the error of an item that carries `error_code` only on failure; absent and 0 mean none.
    pub fn from_item(code: Option<i32>) -> Option<Self> {
        code.map(Self).filter(|code| *code != Self::NONE)
    }

    /// Returns the number as it came.
    pub fn code(self) -> i32 {
        self.0
    }

    /// Tells whether the code is one of [`Self::ALL`].
    pub fn is_known(self) -> bool {
        self.entry().is_some()
    }

    /// Returns the name Fluss uses; a code unknown here counts as `UNKNOWN_SERVER_ERROR`.
    pub fn name(self) -> &'static str {
        self.entry().map_or("UNKNOWN_SERVER_ERROR", |entry| entry.name)
    }

    /// Tells whether the same request may succeed later.
    ///
    /// This is Fluss's own classification; 51, 65 and 69 are not in it although trying again is right after
    /// a new handshake, a look for the leader and a pause.
    pub fn is_retriable(self) -> bool {
        self.entry().is_some_and(|entry| entry.class != Class::Final)
    }

    /// Tells whether the cached leader of the bucket or table must be dropped before trying again.
    pub fn invalidates_metadata(self) -> bool {
        self.entry().is_some_and(|entry| entry.class == Class::Stale)
    }

    /// Returns a text for an error that came without a message.
    pub fn default_message(self) -> &'static str {
        self.entry()
            .map_or("the server reported an error that this client does not know", |entry| entry.message)
    }
}

impl fmt::Display for ServerErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.0)
    }
}

impl fmt::Debug for ServerErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_contiguous() {
        for (index, code) in ServerErrorCode::ALL.iter().enumerate() {
            assert_eq!(i64::from(code.code()), i64::try_from(index).unwrap() - 1, "{code}");
            assert!(code.is_known());
            assert!(!code.default_message().is_empty());
        }
        assert_eq!(ServerErrorCode::ALL.len(), 75);
    }

    #[test]
    fn unknown_code_keeps_its_number() {
        let code = ServerErrorCode::from_code(4711);
        assert_eq!(code.code(), 4711);
        assert_eq!(code.to_string(), "UNKNOWN_SERVER_ERROR (4711)");
        assert!(!code.is_known() && !code.is_retriable() && !code.invalidates_metadata());
    }

    #[test]
    fn classes_follow_the_java_exceptions() {
        let of = |keep: fn(ServerErrorCode) -> bool| {
            let codes = ServerErrorCode::ALL.iter().filter(|code| keep(**code));
            codes.map(|code| code.code()).collect::<Vec<_>>()
        };
        assert_eq!(of(ServerErrorCode::invalidates_metadata), [1, 12, 21, 44]);
        assert_eq!(
            of(ServerErrorCode::is_retriable),
            [1, 3, 9, 10, 11, 12, 14, 21, 25, 26, 28, 29, 44, 70, 72, 73]
        );
    }

    #[test]
    fn an_item_without_code_or_with_zero_has_no_error() {
        assert_eq!(ServerErrorCode::from_item(None), None);
        assert_eq!(ServerErrorCode::from_item(Some(0)), None);
        assert_eq!(ServerErrorCode::from_item(Some(7)), Some(ServerErrorCode::TABLE_NOT_EXIST));
    }
}
