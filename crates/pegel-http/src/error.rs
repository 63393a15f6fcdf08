//! The crate's one error type, and the phases in which an exchange can fail.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

use pegel_core::error_code::ErrorCode;
use serde::{Deserialize, Serialize};

/// What an exchange is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Looking up the name.
    Resolve,
    /// Connecting.
    Connect,
    /// The TLS handshake.
    Tls,
    /// Waiting for the answer to begin, from the first byte of the request on.
    FirstByte,
    /// Reading the body or the reply.
    Body,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 5] = [Self::Resolve, Self::Connect, Self::Tls, Self::FirstByte, Self::Body];

    /// Returns the phase as it is written in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::FirstByte => "first_byte",
            Self::Body => "body",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is wrong with a TLS session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsFault {
    /// Nobody who is trusted has signed the certificate.
    UnknownIssuer,
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// The certificate is for other names.
    NameMismatch,
    /// The certificate is broken in another way.
    BadCertificate,
    /// The target does not speak TLS.
    NotSpoken,
    /// The target wants a certificate of ours.
    ClientCertificate,
    /// Anything else.
    Other,
}

/// Everything that can go wrong in an exchange.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself makes no sense.
    #[error("{reason}")]
    Invalid {
        /// Why.
        reason: String,
    },
    /// The egress policy does not let it pass.
    #[error("{host} is not asked at {address}: {reason}")]
    EgressRefused {
        /// The host as the target or a redirect names it.
        host: String,
        /// The address.
        address: IpAddr,
        /// Why not.
        reason: &'static str,
    },
    /// The name has no address.
    #[error("{host} has no address")]
    ResolveFailed {
        /// The name.
        host: String,
        /// What the resolver said.
        #[source]
        source: Option<io::Error>,
    },
    /// The name server did not answer; that says nothing about the target.
    #[error("the name server did not answer for {host}")]
    ResolverUnavailable {
        /// The name.
        host: String,
        /// What the resolver said.
        #[source]
        source: Option<io::Error>,
    },
    /// The machine refuses connections on this port.
    #[error("{address} refuses connections")]
    ConnectionRefused {
        /// The address.
        address: SocketAddr,
    },
    /// The machine cannot be reached.
    #[error("cannot connect to {address}")]
    ConnectFailed {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The deadline passed.
    #[error("no end of {phase} within {deadline_ms} ms")]
    Timeout {
        /// What it was busy with.
        phase: Phase,
        /// The deadline that passed, from the beginning of the exchange.
        deadline_ms: u64,
    },
    /// TLS failed.
    #[error("tls with {host} failed: {reason}")]
    Tls {
        /// The host whose name was checked.
        host: String,
        /// What is wrong.
        fault: TlsFault,
        /// In a few words.
        reason: String,
    },
    /// The connection was lost.
    #[error("the connection was lost in {phase}")]
    ConnectionLost {
        /// What it was busy with.
        phase: Phase,
        /// What the system said.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The answer is not HTTP.
    #[error("the answer is no http")]
    HttpMalformed {
        /// What the parser said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer's headers are too many or too large.
    #[error("the answer's headers are too large")]
    HeadersTooLarge,
    /// A redirect led to what had been asked already.
    #[error("redirects lead in a circle at {url}")]
    RedirectLoop {
        /// Where.
        url: String,
    },
    /// There were more redirects than are followed.
    #[error("more than {limit} redirects")]
    RedirectLimit {
        /// How many are followed.
        limit: u8,
    },
    /// A redirect is not followed.
    #[error("a redirect is not followed: {reason}")]
    RedirectRefused {
        /// Why not.
        reason: String,
    },
    /// The body was cut off.
    #[error("the body was cut off after {received_bytes} bytes")]
    BodyIncomplete {
        /// How much had come.
        received_bytes: u64,
    },
    /// The body is not in the encoding it says.
    #[error("the body cannot be decoded as {encoding}")]
    BodyUndecodable {
        /// What its header says.
        encoding: String,
    },
    /// The status is not among the expected.
    #[error("status {status} is not expected")]
    StatusUnexpected {
        /// The status.
        status: u16,
    },
    /// The body does not contain a text.
    #[error("the body does not contain `{text}`")]
    TextMissing {
        /// The text.
        text: String,
    },
    /// What was read of the body does not contain a text.
    #[error("the first {limit_bytes} bytes of the body do not contain `{text}`")]
    TextMissingWithinLimit {
        /// The text.
        text: String,
        /// How much was read.
        limit_bytes: u64,
    },
    /// The body contains a text that it must not.
    #[error("the body contains `{text}`")]
    TextPresent {
        /// The text.
        text: String,
    },
    /// The body is not JSON, or too large to be read as such.
    #[error("the body is no json: {reason}")]
    JsonInvalid {
        /// Why.
        reason: String,
    },
    /// There is no value at a path.
    #[error("there is nothing at {path}")]
    JsonMissing {
        /// The path.
        path: String,
    },
    /// The value at a path is another one.
    #[error("the value at {path} is {found}")]
    JsonUnexpected {
        /// The path.
        path: String,
        /// The value, cut.
        found: String,
    },
    /// The connection was closed without a reply.
    #[error("the target closed the connection without a reply")]
    ReplyMissing,
    /// The reply is another one.
    #[error("the target replied something else, {received_bytes} bytes")]
    ReplyUnexpected {
        /// How much was read.
        received_bytes: u64,
    },
}

impl Error {
    /// Returns the stable code.
    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::Invalid,
            Self::EgressRefused { .. } => ErrorCode::EgressRefused,
            Self::ResolveFailed { .. } => ErrorCode::ResolveFailed,
            Self::ResolverUnavailable { .. } => ErrorCode::ResolverUnavailable,
            Self::ConnectionRefused { .. } => ErrorCode::ConnectionRefused,
            Self::ConnectFailed { .. } => ErrorCode::ConnectFailed,
            Self::Timeout { .. } => ErrorCode::OutboundTimeout,
            Self::Tls { fault, .. } => match fault {
                TlsFault::UnknownIssuer => ErrorCode::TlsUnknownIssuer,
                TlsFault::Expired => ErrorCode::TlsCertificateExpired,
                TlsFault::NotYetValid => ErrorCode::TlsCertificateNotYetValid,
                TlsFault::NameMismatch => ErrorCode::TlsNameMismatch,
                TlsFault::BadCertificate => ErrorCode::TlsBadCertificate,
                TlsFault::NotSpoken => ErrorCode::TlsNotSpoken,
                TlsFault::ClientCertificate => ErrorCode::TlsClientCertificateRefused,
                TlsFault::Other => ErrorCode::TlsFailed,
            },
            Self::ConnectionLost { .. } => ErrorCode::ConnectionLost,
            Self::HttpMalformed { .. } => ErrorCode::HttpMalformed,
            Self::HeadersTooLarge => ErrorCode::HeadersTooLarge,
            Self::RedirectLoop { .. } => ErrorCode::RedirectLoop,
            Self::RedirectLimit { .. } => ErrorCode::RedirectLimit,
            Self::RedirectRefused { .. } => ErrorCode::RedirectRefused,
            Self::BodyIncomplete { .. } => ErrorCode::BodyIncomplete,
            Self::BodyUndecodable { .. } => ErrorCode::BodyUndecodable,
            Self::StatusUnexpected { .. } => ErrorCode::StatusUnexpected,
            Self::TextMissing { .. } => ErrorCode::TextMissing,
            Self::TextMissingWithinLimit { .. } => ErrorCode::TextMissingWithinLimit,
            Self::TextPresent { .. } => ErrorCode::TextPresent,
            Self::JsonInvalid { .. } => ErrorCode::JsonInvalid,
            Self::JsonMissing { .. } => ErrorCode::JsonMissing,
            Self::JsonUnexpected { .. } => ErrorCode::JsonUnexpected,
            Self::ReplyMissing => ErrorCode::ReplyMissing,
            Self::ReplyUnexpected { .. } => ErrorCode::ReplyUnexpected,
        }
    }

    /// Returns whether the same exchange may succeed later without anyone changing anything.
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::ResolveFailed { .. }
                | Self::ResolverUnavailable { .. }
                | Self::ConnectionRefused { .. }
                | Self::ConnectFailed { .. }
                | Self::Timeout { .. }
                | Self::ConnectionLost { .. }
                | Self::BodyIncomplete { .. }
                | Self::ReplyMissing
        )
    }

    /// Returns whether it says nothing about the target: a fault of ours or of our surroundings.
    pub const fn is_own_fault(&self) -> bool {
        matches!(self, Self::Invalid { .. } | Self::EgressRefused { .. } | Self::ResolverUnavailable { .. })
    }

    pub(crate) fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }
}
