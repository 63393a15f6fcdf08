//! The crate's one error type.

use pegel_store::Error as StoreError;

/// Everything that can go wrong in looking after monitors. That a target is down is no error.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What somebody wrote makes no sense.
    #[error("{field}: {reason}")]
    Invalid {
        /// Where, such as `target.url`.
        field: String,
        /// Why; never a secret.
        reason: String,
    },
    /// A heartbeat's key belongs to none.
    #[error("there is no such heartbeat")]
    UnknownKey,
    /// The ping could be kept neither in the store nor beside it.
    #[error("the ping cannot be kept")]
    NotKept {
        /// What the store said.
        #[source]
        source: StoreError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::UnknownKey => "not_found",
            Self::NotKept { source } | Self::Store(source) => source.code(),
        }
    }

    /// Returns whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::NotKept { source } | Self::Store(source) => source.is_retryable(),
            Self::Invalid { .. } | Self::UnknownKey => false,
        }
    }

    pub(crate) fn invalid(field: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Self::Invalid { field: field.into(), reason: reason.to_string() }
    }
}
