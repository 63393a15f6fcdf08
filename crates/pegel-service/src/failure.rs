//! What keeps a question about a cluster from being answered, ready to be told to a person or a program.

use std::borrow::Cow;

use fluss_client::error::Error as ClientError;
use pegel_api_types::operations::buckets::PartFailure;
use pegel_core::envelope::{Evidence, EvidenceState};
use pegel_core::error_code::ErrorCode;

mod code_map;
pub(crate) mod sight;

pub use code_map::{code_of, code_of_name};
use sight::Sight;

/// Why a question failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, lowercase and without a final period.
    pub message: String,
    /// What led to it, nearest first.
    pub causes: Vec<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The field of the question that is at fault, as a JSON pointer such as `/database`.
    pub pointer: Option<&'static str>,
    /// What of it is not for everyone; absent when all of it is.
    guarded: Option<Box<Guarded>>,
}

/// What only the owner of the connection may read, and what stands in for it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Guarded {
    /// Message and causes without the words of servers, for those who may see servers.
    without_words: String,
    /// A server's own text in full. It may hold a stack trace and inner addresses.
    server_text: Option<String>,
}

impl Failure {
    /// Makes a failure without causes; its hint is what the code's section advises.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), causes: Vec::new(), hint: None, pointer: None, guarded: None }
    }

    /// Makes a failure of a question that makes no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Invalid, message)
    }

    /// Makes a failure of a question of which one field is at fault.
    pub fn invalid_field(pointer: &'static str, message: impl Into<String>) -> Self {
        Self::invalid(message).at(pointer)
    }

    /// Makes a failure that is a fault in Pegel.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// Replaces the hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the field of the question that is at fault.
    #[must_use]
    pub fn at(mut self, pointer: &'static str) -> Self {
        self.pointer = Some(pointer);
        self
    }

    /// Adds an error and its sources as causes.
    #[must_use]
    pub fn with_cause(mut self, error: &dyn std::error::Error) -> Self {
        self.causes.extend(chain(error));
        self
    }

    /// Returns a server's own text in full. It may hold a stack trace and inner addresses, so it is shown only
    /// to the owner of the connection, and only when asked for.
    pub fn server_text(&self) -> Option<&str> {
        self.guarded.as_ref()?.server_text.as_deref()
    }

    /// Returns message and causes as one line.
    pub fn one_line(&self) -> String {
        in_one_line(&self.message, &self.causes)
    }

    /// Returns message and causes as far as `sight` reaches, as one line.
    ///
    /// What the code's table says of the failure stands in where an address would be told.
    pub(crate) fn told(&self, sight: Sight) -> String {
        match (&self.guarded, sight) {
            (None, _) | (_, Sight::Everything) => self.one_line(),
            (Some(guarded), Sight::Servers) => guarded.without_words.clone(),
            (Some(_), Sight::Codes) => self.meaning(),
        }
    }

    /// Returns what the code's table says of such failures, which quotes nothing.
    pub(crate) fn meaning(&self) -> String {
        self.code.meaning().trim_end_matches('.').to_owned()
    }

    /// Tells the failure as evidence of something that is not there.
    pub(crate) fn evidence(&self, check: impl Into<Cow<'static, str>>, sight: Sight) -> Evidence {
        Evidence {
            check: check.into(),
            subject: None,
            state: EvidenceState::Failed,
            code: Some(self.code),
            message: self.told(sight),
            hint: self.hint.clone(),
            duration_ms: None,
        }
    }

    /// Tells the failure as the reason why a part of an answer is missing.
    pub(crate) fn part(&self, sight: Sight) -> PartFailure {
        PartFailure { code: self.code, message: self.told(sight) }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::from(&error)
    }
}

impl From<&ClientError> for Failure {
    fn from(error: &ClientError) -> Self {
        let mut server_text = None;
        let causes = causes_of(error, &mut server_text);
        let message = error.to_string();
        let guarded = names_server(error).then(|| {
            let without_words = in_one_line(&message, &quiet_causes_of(error));
            Box::new(Guarded { without_words, server_text })
        });
        Self { causes, hint: error.hint(), guarded, ..Self::new(code_of(error), message) }
    }
}

/// Returns whether an error's text holds an address or a server's words.
fn names_server(error: &ClientError) -> bool {
    !matches!(
        error,
        ClientError::InvalidSetting { .. }
            | ClientError::CoordinatorUnavailable { address: None, source: None }
            | ClientError::TableNotFound { .. }
            | ClientError::PartitionNotFound { .. }
            | ClientError::LeaderNotAvailable { .. }
            | ClientError::BucketMissing { .. }
            | ClientError::TableRecreated { .. }
    )
}

/// Collects what stands behind a client error: its sources, a server's words, the failures of each address.
fn causes_of(error: &ClientError, server_text: &mut Option<String>) -> Vec<String> {
    match error {
        ClientError::Server { message, .. } => {
            *server_text = Some(message.clone());
            error.server_text().map(|text| format!("the server says: {text}")).into_iter().collect()
        }
        ClientError::BootstrapFailed { failures } => {
            failures.iter().map(|failure| Failure::from(failure).one_line()).collect()
        }
        ClientError::CoordinatorUnavailable { source: Some(source), .. } => {
            let mut causes = vec![source.to_string()];
            causes.extend(causes_of(source, server_text));
            causes
        }
        other => std::error::Error::source(other).into_iter().flat_map(chain).collect(),
    }
}

/// Collects what stands behind a client error, without the words of servers.
fn quiet_causes_of(error: &ClientError) -> Vec<String> {
    match error {
        ClientError::Server { .. } | ClientError::Authentication { .. } => Vec::new(),
        ClientError::BootstrapFailed { failures } => {
            let quiet = |failure: &ClientError| in_one_line(&failure.to_string(), &quiet_causes_of(failure));
            failures.iter().map(quiet).collect()
        }
        ClientError::CoordinatorUnavailable { source: Some(source), .. } => {
            let mut causes = vec![source.to_string()];
            causes.extend(quiet_causes_of(source));
            causes
        }
        other => std::error::Error::source(other).into_iter().flat_map(chain).collect(),
    }
}

fn in_one_line(message: &str, causes: &[String]) -> String {
    let mut text = message.to_owned();
    for cause in causes {
        text.push_str(": ");
        text.push_str(cause);
    }
    text
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
        assert!(failure.server_text().unwrap().contains("Inner.java"));
    }

    #[test]
    fn addresses_and_words_of_servers_are_told_as_far_as_the_sight_reaches() {
        let code = ServerErrorCode::from_code(-1);
        let message = "boom at 10.0.0.7".to_owned();
        let said = ClientError::Server { address: address(1), api: "LIST_ACLS", code, message };
        let error = ClientError::CoordinatorUnavailable {
            address: Some(address(1)),
            source: Some(Box::new(ClientError::BootstrapFailed { failures: vec![said, refused(2)] })),
        };
        let failure = Failure::from(&error);
        assert!(failure.told(Sight::Everything).contains("boom"));
        let seen = failure.told(Sight::Servers);
        assert!(seen.contains("a:1 refused LIST_ACLS") && seen.contains("a:2: refused"), "{seen}");
        assert!(!seen.contains("boom"), "{seen}");
        assert_eq!(
            failure.told(Sight::Codes),
            ErrorCode::CoordinatorUnavailable.meaning().trim_end_matches('.')
        );
        assert_eq!(failure.part(Sight::Codes).code, ErrorCode::CoordinatorUnavailable);
    }

    #[test]
    fn what_names_no_server_is_told_to_all() {
        let missing = ClientError::TableNotFound { path: "shop.orders".parse().unwrap() };
        assert!(Failure::from(&missing).told(Sight::Codes).contains("shop.orders"));
        assert_eq!(Failure::invalid("limit 0").told(Sight::Codes), "limit 0");
    }
}
