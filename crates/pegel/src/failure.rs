//! What a command fails with, ready to be told to a person or a program.

use fluss_client::error::Error as ClientError;
use pegel_core::envelope::{Evidence, EvidenceState};
use pegel_core::error_code::ErrorCode;

mod code_map;

pub(crate) use code_map::{code_of, code_of_name};

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The stable code.
    pub(crate) code: ErrorCode,
    /// What happened, lowercase and without a final period.
    pub(crate) message: String,
    /// What led to it, nearest first.
    pub(crate) causes: Vec<String>,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// A server's own text in full. It may hold a stack trace and inner
    /// addresses, so it is shown only when asked for.
    pub(crate) server_text: Option<String>,
}

impl Failure {
    /// Makes a failure without causes; its hint is what the code's section advises.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), hint: None, server_text: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Invalid, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_cause(mut self, error: &dyn std::error::Error) -> Self {
        self.causes.extend(chain(error));
        self
    }

    /// Returns message and causes as one line.
    pub(crate) fn one_line(&self) -> String {
        let mut text = self.message.clone();
        for cause in &self.causes {
            text.push_str(": ");
            text.push_str(cause);
        }
        text
    }

    /// Tells the failure as evidence of an answer that is not there.
    pub(crate) fn evidence(&self, check: &'static str) -> Evidence {
        Evidence {
            check,
            subject: None,
            state: EvidenceState::Failed,
            code: Some(self.code),
            message: self.one_line(),
            hint: self.hint.clone(),
            duration_ms: None,
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::from(&error)
    }
}

impl From<&ClientError> for Failure {
    fn from(error: &ClientError) -> Self {
        let mut causes = Vec::new();
        let mut server_text = None;
        explain(error, &mut causes, &mut server_text);
        Self { code: code_of(error), message: error.to_string(), causes, hint: error.hint(), server_text }
    }
}

/// Collects what stands behind a client error: its sources, a server's words, the failures of each address.
fn explain(error: &ClientError, causes: &mut Vec<String>, server_text: &mut Option<String>) {
    match error {
        ClientError::Server { message, .. } => {
            causes.extend(error.server_text().map(|text| format!("the server says: {text}")));
            *server_text = Some(message.clone());
        }
        ClientError::BootstrapFailed { failures } => {
            for failure in failures {
                causes.push(Failure::from(failure).one_line());
            }
        }
        ClientError::CoordinatorUnavailable { source: Some(source), .. } => {
            causes.push(source.to_string());
            explain(source, causes, server_text);
        }
        other => causes.extend(std::error::Error::source(other).into_iter().flat_map(chain)),
    }
}

/// Returns the texts of an error and its sources; a source that only repeats the text before it is left out.
fn chain(error: &dyn std::error::Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        source = cause.source();
    }
    texts
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use fluss_client::bootstrap::HostPort;
    use fluss_codec::error_code::ServerErrorCode;

    use super::*;

    fn address(port: u16) -> HostPort {
        HostPort::new("a", port).unwrap()
    }

    fn refused(port: u16) -> ClientError {
        let source = Arc::new(io::Error::new(io::ErrorKind::ConnectionRefused, "refused"));
        ClientError::Connect { address: address(port), source }
    }

    #[test]
    fn causes_are_told_nearest_first() {
        let source = Some(Box::new(refused(1)));
        let error = ClientError::CoordinatorUnavailable { address: Some(address(1)), source };
        let failure = Failure::from(&error);
        assert_eq!(failure.code, ErrorCode::CoordinatorUnavailable);
        assert_eq!(failure.causes, ["cannot connect to a:1", "refused"]);
        assert_eq!(failure.one_line(), "the coordinator is unavailable: cannot connect to a:1: refused");
    }

    #[test]
    fn each_bootstrap_address_is_a_cause() {
        let error = ClientError::BootstrapFailed { failures: vec![refused(1), refused(2)] };
        let failure = Failure::from(&error);
        assert_eq!(failure.causes, ["cannot connect to a:1: refused", "cannot connect to a:2: refused"]);
    }

    #[test]
    fn stack_trace_is_kept_apart_from_what_is_shown() {
        let message =
            "\njava.lang.IllegalStateException: no\n\tat org.apache.fluss.Secret(Inner.java:1)".to_owned();
        let code = ServerErrorCode::from_code(-1);
        let failure =
            Failure::from(&ClientError::Server { address: address(1), api: "LIST_ACLS", code, message });
        assert_eq!(failure.causes, ["the server says: java.lang.IllegalStateException: no"]);
        assert!(!failure.one_line().contains("Inner.java"));
        assert!(failure.server_text.unwrap().contains("Inner.java"));
    }
}
