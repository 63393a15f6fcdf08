//! The crate's one error type: what a caller may read, and apart from it what only a log may hold.

use std::error::Error as _;
use std::time::Duration;

use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_api_types::problem::FieldProblem;
use pegel_core::access::Role;
use pegel_core::envelope::Envelope;
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;

use crate::failure::Failure;
use crate::failure::sight::Sight;

/// Everything a service function can answer but success.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Fields of the request break their rules.
    #[error("{} of the request's fields are invalid", problems.len())]
    Invalid {
        /// Which, and the rules.
        problems: Vec<FieldProblem>,
    },
    /// There is no valid session or token.
    #[error("there is no valid session or access token")]
    SignInRequired,
    /// Name and password do not go together, for whatever reason.
    #[error("the name or the password is wrong")]
    LoginFailed,
    /// The name or the source has to wait.
    #[error("too many failed logins, try again in {} seconds", retry_after.as_secs())]
    LoginLocked {
        /// How long to wait.
        retry_after: Duration,
    },
    /// Too many passwords are being checked at this moment.
    #[error("too many logins at once")]
    LoginBusy,
    /// The caller may know of the target, but lacks the permission.
    #[error("this needs the permission {pattern} and at least the role {minimum_role}")]
    PermissionDenied {
        /// The permission's full name.
        pattern: &'static str,
        /// The weakest role that can have it.
        minimum_role: Role,
    },
    /// The caller has to change the password first.
    #[error("the password has to be changed first")]
    PasswordChangeRequired,
    /// A token cannot do this.
    #[error("this needs a session, not an access token")]
    SessionRequired,
    /// It does not exist, or the caller is not to know whether it does.
    #[error("{what} does not exist")]
    NotFound {
        /// What, as the caller named it.
        what: String,
    },
    /// More rights would be given, or ruled over, than the caller has.
    #[error("the request asks for more than your own {part}")]
    RightsExceeded {
        /// `role`, `grants` or `scope`.
        part: &'static str,
    },
    /// No admin who may sign in would be left.
    #[error("the last admin who may sign in has to stay")]
    LastAdmin,
    /// The cluster is registered, but nothing can be asked of it with what is stored.
    #[error("the stored settings of cluster {slug} cannot be used: {}", failure.one_line())]
    ClusterUnusable {
        /// The cluster.
        slug: ClusterSlug,
        /// Why.
        failure: Box<Failure>,
    },
    /// A stored secret would go to a new place.
    #[error("{} stored secrets have to be given again", problems.len())]
    SecretRequired {
        /// Which, and why.
        problems: Vec<FieldProblem>,
    },
    /// The cluster cannot be used through these settings, so they were not saved.
    #[error("the connection test failed, nothing was saved")]
    ConnectionTestFailed {
        /// Each step of the test.
        test: Box<Envelope<ConnectionTest>>,
    },
    /// Too many connection tests are running or waiting.
    #[error("too many connection tests at once")]
    ConnectionTestBusy,
    /// The cluster was asked, and the question made no sense to it or Pegel; or Pegel itself failed.
    #[error("{}", .0.message)]
    Failed(Box<Failure>),
    /// A password cannot be hashed or checked.
    #[error("the system's cryptography is unavailable")]
    Cryptography {
        /// What failed; for logs.
        reason: String,
    },
    /// The store failed or refused.
    #[error("the store failed")]
    Store(#[from] pegel_store::Error),
}

impl Error {
    /// Returns the stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::Invalid,
            Self::SignInRequired => ErrorCode::SignInRequired,
            Self::LoginFailed => ErrorCode::LoginFailed,
            Self::LoginLocked { .. } => ErrorCode::LoginLocked,
            Self::LoginBusy => ErrorCode::LoginBusy,
            Self::PermissionDenied { .. } => ErrorCode::PermissionDenied,
            Self::PasswordChangeRequired => ErrorCode::PasswordChangeRequired,
            Self::SessionRequired => ErrorCode::SessionRequired,
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::RightsExceeded { .. } => ErrorCode::RightsExceeded,
            Self::LastAdmin => ErrorCode::LastAdmin,
            Self::ClusterUnusable { .. } => ErrorCode::ClusterUnusable,
            Self::SecretRequired { .. } => ErrorCode::SecretRequired,
            Self::ConnectionTestFailed { .. } => ErrorCode::ConnectionTestFailed,
            Self::ConnectionTestBusy => ErrorCode::ConnectionTestBusy,
            Self::Failed(failure) => failure.code,
            Self::Cryptography { .. } => ErrorCode::CryptographyUnavailable,
            // A test parses every code of the store.
            Self::Store(error) => error.code().parse().unwrap_or(ErrorCode::Internal),
        }
    }

    /// Returns whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::LoginLocked { .. } | Self::LoginBusy | Self::ConnectionTestBusy => true,
            Self::Store(error) => error.is_retryable(),
            _ => false,
        }
    }

    /// Returns what a caller may read: no path, no statement, no server's text.
    pub fn public(&self) -> String {
        match self {
            Self::Store(error) => match error {
                pegel_store::Error::Conflict { .. }
                | pegel_store::Error::NotFound { .. }
                | pegel_store::Error::TooLarge { .. } => error.to_string(),
                _ => self.code().meaning().to_owned(),
            },
            Self::Failed(failure) => failure.told(Sight::Codes),
            // Why in full stands in the cluster's view, for those who may see its connection.
            Self::ClusterUnusable { slug, failure } => {
                format!("the stored settings of cluster {slug} cannot be used: {}", failure.meaning())
            }
            _ => self.to_string(),
        }
    }

    /// Returns the whole chain, for the log only.
    pub fn internal(&self) -> String {
        let mut text = self.to_string();
        if let Self::Cryptography { reason } = self {
            text.push_str(": ");
            text.push_str(reason);
        }
        if let Self::Failed(failure) = self {
            text = failure.one_line();
            text.extend(failure.server_text().into_iter().flat_map(|words| ["; the server's text: ", words]));
        }
        let mut source = self.source();
        while let Some(error) = source {
            text.push_str(": ");
            text.push_str(&error.to_string());
            source = error.source();
        }
        text
    }

    /// Names the fields of a form below its place in the request.
    pub(crate) fn invalid_below(problems: Vec<FieldProblem>, form: &str) -> Self {
        let moved = problems
            .into_iter()
            .map(|problem| FieldProblem { pointer: format!("{form}{}", problem.pointer).into(), ..problem });
        Self::Invalid { problems: moved.collect() }
    }

    pub(crate) fn not_found(kind: &str, name: impl std::fmt::Display) -> Self {
        Self::NotFound { what: format!("{kind} {name}") }
    }
}

impl From<Failure> for Error {
    /// A field that is at fault makes it a problem of that field.
    fn from(failure: Failure) -> Self {
        match failure.pointer {
            Some(pointer) if failure.code == ErrorCode::Invalid => Self::Invalid {
                problems: vec![FieldProblem::new(pointer, "value", failure.told(Sight::Codes))],
            },
            _ => Self::Failed(Box::new(failure)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_store_is_in_the_table() {
        for code in [
            "store_unavailable",
            "disk_full",
            "store_busy",
            "commit_unknown",
            "integrity_violation",
            "statement_refused",
            "store_damaged",
            "corrupt_row",
            "schema_too_new",
            "schema_outdated",
            "migration_changed",
            "migration_failed",
            "conflict",
            "not_found",
            "secret_unreadable",
            "key_file_unusable",
            "invalid_setting",
            "too_large",
            "io_failed",
            "internal",
            "store_closed",
            "cryptography_unavailable",
        ] {
            assert!(code.parse::<ErrorCode>().is_ok(), "{code}");
        }
    }

    #[test]
    fn a_caller_reads_no_path_and_a_log_does() {
        let error =
            pegel_store::Error::KeyFile { path: "/var/lib/pegel/key".into(), reason: "short".to_owned() };
        let error = Error::from(error);
        assert_eq!(error.code(), ErrorCode::KeyFileUnusable);
        assert!(!error.public().contains("/var") && error.internal().contains("/var/lib/pegel/key"));
        let failure = Box::new(Failure::new(ErrorCode::InvalidSetting, "invalid endpoint: `10.0.0.7`"));
        let error = Error::ClusterUnusable { slug: "eu".parse().unwrap(), failure };
        assert!(error.public().contains("cluster eu") && !error.public().contains("10.0.0.7"));
        assert!(error.internal().contains("10.0.0.7"));
        let error = Error::from(pegel_store::Error::Conflict { what: "user ann".to_owned() });
        assert!(error.public().contains("user ann"));
    }
}
