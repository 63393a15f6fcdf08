//! Tells a failure: to people as lines on stderr, to programs as JSON.

use pegel_core::error_code::ErrorCode;
use serde::Serialize;
use uuid::Uuid;

use crate::render::escape::escape;
use pegel_service::failure::Failure;

/// A problem with the question itself, in the form of RFC 9457.
///
/// A cluster that does not answer is an answer, and told in an envelope.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: String,
    code: ErrorCode,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caused_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<Uuid>,
}

impl Problem {
    /// Makes the problem that a failure is.
    pub(crate) fn new(failure: &Failure, execution_id: Option<Uuid>) -> Self {
        Self {
            kind: format!("urn:pegel:problem:{}", failure.code),
            title: failure.code.title(),
            status: failure.code.http_status(),
            detail: failure.message.clone(),
            code: failure.code,
            caused_by: failure.causes.clone(),
            hint: failure.hint.clone(),
            execution_id,
        }
    }
}

/// Writes a failure for people. A server's whole text comes only when asked for.
pub(crate) fn lines(failure: &Failure, is_verbose: bool, is_quiet: bool) -> String {
    let mut text = format!("error[{}]: {}\n", failure.code, escape(&failure.message));
    for cause in &failure.causes {
        text.push_str(&format!("  caused by: {}\n", escape(cause)));
    }
    if let Some(hint) = failure.hint.as_ref().filter(|_| !is_quiet) {
        text.push_str(&format!("  hint: {}\n", escape(hint)));
    }
    if let Some(server_text) = failure.server_text().filter(|_| is_verbose) {
        text.push_str("  the server's text:\n");
        for line in server_text.lines() {
            text.push_str(&format!("    {}\n", escape(line)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use fluss_client::bootstrap::HostPort;
    use fluss_client::error::Error as ClientError;
    use fluss_codec::error_code::ServerErrorCode;

    use super::*;

    fn failure() -> Failure {
        let error = ClientError::Server {
            address: HostPort::new("a", 1).unwrap(),
            api: "LIST_ACLS",
            code: ServerErrorCode::from_code(-1),
            message: "\x1b[31mboom\n\tat Inner.java:1".to_owned(),
        };
        Failure::from(&error).with_hint("look at the server's log")
    }

    #[test]
    fn stack_traces_come_only_when_asked_for() {
        insta::assert_snapshot!(lines(&failure(), false, false));
        assert!(lines(&failure(), true, false).contains("\\tat Inner.java:1"));
        assert!(!lines(&failure(), false, true).contains("hint"));
    }

    #[test]
    fn problem_names_code_and_advice_and_never_the_stack() {
        let mut failure = failure();
        failure.code = ErrorCode::TableNotFound;
        let problem = Problem::new(&failure, None);
        insta::assert_snapshot!(crate::render::json::document(&problem).unwrap());
    }
}
