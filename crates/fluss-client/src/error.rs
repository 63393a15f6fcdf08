//! The crate's one error type.
//!
//! Every variant names the server it concerns, has a stable code, knows whether
//! trying again can help and says which setting to change. Messages from a
//! server are kept as they came and may hold inner addresses or a stack trace:
//! callers decide who may see them.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use fluss_codec::api_key::ApiKey;
use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::frame::FrameError;
use fluss_codec::messages::DecodeError;
use fluss_codec::name::TablePath;
use fluss_codec::server_type::ServerType;

use crate::bootstrap::HostPort;

/// A cause that can be shared between callers waiting on one connection attempt.
pub type SharedSource = Arc<dyn StdError + Send + Sync>;

/// Everything that can go wrong between a caller and a Fluss server.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A connection setting or an argument is missing, out of range or contradicts another.
    #[error("invalid {field}: {reason}")]
    InvalidSetting {
        /// Name of the setting or argument as written in a configuration.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The host name has no address.
    #[error("cannot resolve {address}")]
    Resolve {
        /// Address whose host did not resolve.
        address: HostPort,
        /// What the resolver said.
        #[source]
        source: Arc<io::Error>,
    },
    /// The TCP connection was refused or failed.
    #[error("cannot connect to {address}")]
    Connect {
        /// Address that was dialled.
        address: HostPort,
        /// What the operating system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// No TCP connection or TLS session within the dial timeout.
    #[error("no connection to {address} within {timeout_ms} ms")]
    DialTimeout {
        /// Address that was dialled.
        address: HostPort,
        /// The limit that passed, in milliseconds.
        timeout_ms: u64,
    },
    /// The TLS session could not be made.
    #[error("no TLS session with {address}: {fault}")]
    Tls {
        /// Address that was dialled.
        address: HostPort,
        /// What exactly failed.
        fault: TlsFault,
        /// What the TLS library said.
        #[source]
        source: Option<SharedSource>,
    },
    /// The port is open but what answers is not a Fluss server.
    #[error("{address} did not negotiate the Fluss protocol: {fault}")]
    Protocol {
        /// Address that was dialled.
        address: HostPort,
        /// What was seen instead.
        fault: ProtocolFault,
    },
    /// The server did not accept the credentials or the way they were offered.
    #[error("authentication at {address} failed: {fault}")]
    Authentication {
        /// Server that refused.
        address: HostPort,
        /// What was refused.
        fault: AuthenticationFault,
        /// What the server said.
        #[source]
        source: Option<SharedSource>,
    },
    /// The request's deadline passed without an answer. The server took the connection.
    #[error("no answer from {address} to {api} within {timeout_ms} ms")]
    RequestTimeout {
        /// Server that was asked.
        address: HostPort,
        /// Request that was sent or waited to be sent.
        api: &'static str,
        /// The limit that passed, in milliseconds.
        timeout_ms: u64,
    },
    /// The connection ended while the request was under way.
    #[error("connection to {address} was lost during {api}")]
    ConnectionLost {
        /// Server on the other end.
        address: HostPort,
        /// Request that was under way.
        api: &'static str,
        /// Why it ended, absent when the server just closed it.
        #[source]
        source: Option<SharedSource>,
    },
    /// The server sent bytes that are not a legal answer.
    #[error("corrupt answer from {address}: {reason}")]
    Corrupt {
        /// Server that sent them.
        address: HostPort,
        /// What is wrong with them.
        reason: String,
    },
    /// The server answered with an error code.
    #[error("{address} refused {api}: {} ({})", .code.name(), .code.code())]
    Server {
        /// Server that answered.
        address: HostPort,
        /// Request it refused.
        api: &'static str,
        /// The server's error code.
        code: ServerErrorCode,
        /// The server's text, or the code's default text. May hold a stack trace.
        message: String,
    },
    /// The server does not offer this request.
    #[error("{address} does not serve {api}, or in no version this client speaks")]
    Unsupported {
        /// Server that was asked.
        address: HostPort,
        /// Request that it does not list, or not in a version this client speaks.
        api: &'static str,
    },
    /// Another kind of server answers at this address than metadata says.
    #[error("{address} answers as {found}, not as {expected}")]
    WrongServerType {
        /// Address that was dialled.
        address: HostPort,
        /// Kind that was expected.
        expected: &'static str,
        /// Kind that answered.
        found: &'static str,
    },
    /// The cluster advertises a host that the allow-list does not hold.
    #[error("{address} is advertised by the cluster but not in advertised_host_allow_list")]
    HostNotAllowed {
        /// The advertised address.
        address: HostPort,
    },
    /// Every address that the host has is one that the address rule of the settings refuses. Nothing was sent.
    #[error("{address} is not dialled: {resolved} is {reason}")]
    AddressRefused {
        /// Address whose host has it.
        address: HostPort,
        /// The first address that was refused.
        resolved: IpAddr,
        /// What keeps it from being dialled.
        reason: &'static str,
    },
    /// Metadata names no coordinator, or the one it names does not answer as itself.
    #[error("the coordinator is unavailable")]
    CoordinatorUnavailable {
        /// Address that metadata gave, absent when it named none.
        address: Option<HostPort>,
        /// Why it could not be asked.
        #[source]
        source: Option<Box<Error>>,
    },
    /// The coordinator knows no tablet server.
    #[error("{address} knows no tablet server")]
    NoTabletServer {
        /// The coordinator.
        address: HostPort,
    },
    /// No bootstrap address led to the cluster.
    #[error("none of {} bootstrap addresses answered", .failures.len())]
    BootstrapFailed {
        /// One error per address, in the order of the list.
        failures: Vec<Error>,
    },
    /// The table does not exist, or the principal may not see it.
    #[error("table {path} does not exist or may not be seen")]
    TableNotFound {
        /// The table that was asked for.
        path: TablePath,
    },
    /// The partition does not exist.
    #[error("table {path} has no such partition: {partition}")]
    PartitionNotFound {
        /// The table that was asked for.
        path: TablePath,
        /// The partition as asked for.
        partition: String,
    },
    /// The bucket has no leader that could be asked.
    #[error("{}", match .leader {
        None => format!("bucket {bucket} has no leader"),
        Some(leader) => format!("tablet server {leader}, which leads bucket {bucket}, is not registered"),
    })]
    LeaderNotAvailable {
        /// The bucket's number within its table or partition.
        bucket: i32,
        /// The leader that metadata names without an address, absent when it names none.
        leader: Option<i32>,
    },
    /// Metadata does not list a bucket that the table has.
    #[error("metadata does not know bucket {bucket} yet")]
    BucketMissing {
        /// The bucket's number within its table or partition.
        bucket: i32,
    },
    /// The table or partition was dropped and made again under the same name.
    #[error("{what} was re-created: expected id {expected}, found {found}")]
    TableRecreated {
        /// The table, or the partition of it.
        what: String,
        /// Id that the caller holds.
        expected: i64,
        /// Id that the cluster has now.
        found: i64,
    },
    /// A row or key does not fit the table. Nothing was sent.
    #[error("row {row} does not fit table {path}")]
    InvalidRow {
        /// The table.
        path: TablePath,
        /// Position of the row among those given, from 0.
        row: usize,
        /// What is wrong with it.
        #[source]
        source: SharedSource,
    },
    /// What a server sent as rows of the table is not, or the table is described in a way unknown here.
    #[error("rows of table {path} cannot be read")]
    UnreadableRow {
        /// The table.
        path: TablePath,
        /// What is wrong.
        #[source]
        source: SharedSource,
    },
    /// The table is of another kind than the request needs. Nothing was sent.
    #[error("table {path} {reason}")]
    UnsuitableTable {
        /// The table.
        path: TablePath,
        /// What it is or lacks.
        reason: &'static str,
    },
}

/// Why a TLS session could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFault {
    /// The certificate is not signed by a trusted authority.
    #[error("its certificate is not signed by a trusted authority")]
    UnknownIssuer,
    /// The certificate's end date has passed.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate's start date has not come.
    #[error("its certificate is not valid yet")]
    NotYetValid,
    /// The certificate is for other names.
    #[error("its certificate is not for `{expected}` but for {presented}")]
    NameMismatch {
        /// Name that was asked for.
        expected: String,
        /// Names in the certificate.
        presented: String,
    },
    /// The certificate is unusable for another reason.
    #[error("its certificate is not acceptable")]
    BadCertificate,
    /// What answered is not TLS.
    #[error("the server answered, but not in TLS")]
    NotTls,
    /// The server took the connection and did not answer.
    #[error("the server took the connection and did not answer the handshake within {0} ms")]
    Silent(u64),
    /// The server ended the handshake without a word.
    #[error("the server closed the connection during the handshake")]
    ClosedInHandshake,
    /// The server asks for a client certificate, or does not accept the one given.
    #[error("the server wants a client certificate it trusts")]
    ClientCertificate,
    /// Anything else.
    #[error("the handshake failed")]
    Other,
}

/// What was seen instead of a Fluss negotiation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolFault {
    /// The port speaks TLS and this side does not.
    #[error("the port speaks TLS, this side does not")]
    TlsExpected,
    /// The connection was closed before any answer.
    #[error("the server closed the connection without an answer")]
    Closed,
    /// Bytes came that are no Fluss frame.
    #[error("the answer is not a Fluss frame ({0})")]
    NotAFrame(String),
    /// The port accepted and stayed silent.
    #[error("no answer to the version request within {0} ms")]
    Silent(u64),
    /// The version request itself was refused.
    #[error("the version request was refused with code {0}")]
    Refused(i32),
}

/// What was refused during authentication.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthenticationFault {
    /// User name or password is wrong.
    #[error("the server does not accept this user name and password")]
    Credentials,
    /// The listener demands authentication and none was offered.
    #[error("the server demands authentication, none is configured")]
    Required,
    /// The listener takes no SASL, or not this mechanism.
    #[error("the server does not take SASL/PLAIN on this listener")]
    Mechanism,
    /// The server asked to start over more often than allowed.
    #[error("the server kept asking to authenticate again")]
    Unsettled,
}

impl Error {
    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidSetting { .. } => "invalid_setting",
            Self::Resolve { .. } => "resolve_failed",
            Self::Connect { .. } => "connect_failed",
            Self::DialTimeout { .. } => "dial_timeout",
            Self::Tls { fault, .. } => fault.code(),
            Self::Protocol { fault: ProtocolFault::TlsExpected, .. } => "tls_expected",
            Self::Protocol { .. } => "protocol_failed",
            Self::Authentication { fault: AuthenticationFault::Required, .. } => "authentication_required",
            Self::Authentication { fault: AuthenticationFault::Mechanism, .. } => {
                "authentication_mechanism_refused"
            }
            Self::Authentication { fault: AuthenticationFault::Unsettled, .. } => "authentication_unsettled",
            Self::Authentication { .. } => "authentication_failed",
            Self::RequestTimeout { .. } => "request_timeout",
            Self::ConnectionLost { .. } => "connection_lost",
            Self::Corrupt { .. } => "corrupt_answer",
            Self::Server { .. } => "server_error",
            Self::Unsupported { .. } => "unsupported_api",
            Self::WrongServerType { .. } => "wrong_server_type",
            Self::HostNotAllowed { .. } => "host_not_allowed",
            Self::AddressRefused { .. } => "egress_refused",
            Self::CoordinatorUnavailable { .. } => "coordinator_unavailable",
            Self::NoTabletServer { .. } => "no_tablet_server",
            Self::BootstrapFailed { .. } => "bootstrap_failed",
            Self::TableNotFound { .. } => "table_not_found",
            Self::PartitionNotFound { .. } => "partition_not_found",
            Self::LeaderNotAvailable { .. } => "leader_not_available",
            Self::BucketMissing { .. } => "bucket_missing",
            Self::TableRecreated { .. } => "table_recreated",
            Self::InvalidRow { .. } => "invalid_row",
            Self::UnreadableRow { .. } => "unreadable_row",
            Self::UnsuitableTable { .. } => "unsuitable_table",
        }
    }

    /// Returns whether the same read may succeed when it is made again.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Connect { .. }
            | Self::DialTimeout { .. }
            | Self::RequestTimeout { .. }
            | Self::ConnectionLost { .. }
            | Self::Corrupt { .. }
            | Self::WrongServerType { .. }
            | Self::LeaderNotAvailable { .. }
            | Self::BucketMissing { .. }
            | Self::NoTabletServer { .. }
            | Self::Resolve { .. }
            // A server that restarts, or whose proxy waits for it, ends connections like this.
            | Self::Protocol { fault: ProtocolFault::Closed | ProtocolFault::Silent(_), .. }
            | Self::Tls { fault: TlsFault::ClosedInHandshake | TlsFault::Silent(_), .. }
            | Self::Authentication { fault: AuthenticationFault::Unsettled, .. } => true,
            Self::Server { code, .. } => code.is_retriable() || *code == ServerErrorCode::from_code(65),
            Self::CoordinatorUnavailable { source, .. } => source.as_ref().is_none_or(|e| e.is_retryable()),
            Self::BootstrapFailed { failures } => failures.iter().any(Error::is_retryable),
            _ => false,
        }
    }

    /// Returns whether a server may have done what it was asked although this came of it.
    pub fn leaves_outcome_open(&self) -> bool {
        match self {
            // 1: the server lost a connection of its own; 25: not replicated in time; 28: appended, but to too few
            // replicas; 31: the server does not know this writer's last batch.
            Self::Server { code, .. } => matches!(code.code(), 1 | 25 | 28 | 31),
            Self::RequestTimeout { .. } | Self::ConnectionLost { .. } | Self::Corrupt { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the cached leader or address behind this answer may be out of date.
    pub fn invalidates_metadata(&self) -> bool {
        match self {
            // 24: the leader's epoch has passed; 65: this coordinator stands by for another.
            Self::Server { code, .. } => code.invalidates_metadata() || matches!(code.code(), 24 | 65),
            Self::Connect { .. }
            | Self::DialTimeout { .. }
            | Self::RequestTimeout { .. }
            | Self::Protocol { .. }
            | Self::Tls { .. }
            | Self::BucketMissing { .. }
            | Self::Resolve { .. }
            | Self::ConnectionLost { .. }
            | Self::WrongServerType { .. }
            | Self::Unsupported { .. }
            | Self::LeaderNotAvailable { .. } => true,
            _ => false,
        }
    }

    /// Returns whether the settings of this side kept a server from being asked, so that it says nothing of the
    /// server's health.
    pub(crate) fn is_of_this_side(&self) -> bool {
        matches!(
            self,
            Self::Authentication { .. } | Self::HostNotAllowed { .. } | Self::AddressRefused { .. }
        )
    }

    /// Returns the server's error code, when a server answered with one.
    pub fn server_code(&self) -> Option<ServerErrorCode> {
        match self {
            Self::Server { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Returns the first line of the server's text, without its stack trace.
    pub fn server_text(&self) -> Option<&str> {
        match self {
            Self::Server { message, .. } => message.lines().map(str::trim).find(|line| !line.is_empty()),
            _ => None,
        }
    }

    /// Returns what to change or look at, in one sentence.
    pub fn hint(&self) -> Option<String> {
        crate::hint::hint(self)
    }

    pub(crate) fn server(address: &HostPort, api: ApiKey, code: i32, message: Option<String>) -> Self {
        let code = ServerErrorCode::from_code(code);
        Self::Server {
            address: address.clone(),
            api: api.name(),
            code,
            message: message.unwrap_or_else(|| code.default_message().to_owned()),
        }
    }

    pub(crate) fn corrupt_frame(address: &HostPort, error: &FrameError) -> Self {
        Self::Corrupt { address: address.clone(), reason: error.to_string() }
    }

    pub(crate) fn corrupt_message(address: &HostPort, error: &DecodeError) -> Self {
        Self::Corrupt { address: address.clone(), reason: error.to_string() }
    }

    pub(crate) fn corrupt(address: &HostPort, reason: impl Into<String>) -> Self {
        Self::Corrupt { address: address.clone(), reason: reason.into() }
    }
}

impl TlsFault {
    fn code(&self) -> &'static str {
        match self {
            Self::UnknownIssuer => "tls_unknown_issuer",
            Self::Expired => "tls_certificate_expired",
            Self::NotYetValid => "tls_certificate_not_yet_valid",
            Self::NameMismatch { .. } => "tls_name_mismatch",
            Self::BadCertificate => "tls_bad_certificate",
            Self::NotTls | Self::ClosedInHandshake | Self::Silent(_) => "tls_not_spoken",
            Self::ClientCertificate => "tls_client_certificate_refused",
            Self::Other => "tls_failed",
        }
    }
}

/// Returns the word used in messages for a kind of server.
pub(crate) fn server_type_word(kind: Option<ServerType>) -> &'static str {
    match kind {
        Some(ServerType::Coordinator) => "coordinator",
        Some(ServerType::TabletServer) => "tablet server",
        None => "an unnamed kind of server",
    }
}
