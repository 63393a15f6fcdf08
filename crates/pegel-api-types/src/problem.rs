//! What is wrong with a request, and the body of every answer that is not a success.

use std::borrow::Cow;

use pegel_core::error_code::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::operations::connection_test::ConnectionTestAnswer;

/// The most fields that one problem names.
pub const MAX_FIELD_PROBLEMS: usize = 100;

/// The body of an answer that is not a success, as `application/problem+json` (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What kind of problem: `urn:pegel:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind's short name.
    pub title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What happened this time.
    pub detail: String,
    /// The path that was asked, without its query.
    pub instance: String,
    /// The stable code; the reference page of errors explains each.
    #[schema(value_type = String, example = "permission_denied")]
    pub code: Cow<'static, str>,
    /// The request's id, by which its log lines and audit rows are found.
    pub request_id: Uuid,
    /// What is wrong with which field; empty when the problem is not the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// What to do about it, where there is more to say than the code's section does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Each step of the connection test that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_test: Option<Box<ConnectionTestAnswer>>,
}

impl Problem {
    /// Says what went wrong with a request.
    pub fn new(code: ErrorCode, detail: String, instance: String, request_id: Uuid) -> Self {
        Self {
            kind: format!("urn:pegel:problem:{code}"),
            title: code.title().to_owned(),
            status: code.http_status(),
            detail,
            instance,
            code: Cow::Borrowed(code.as_str()),
            request_id,
            errors: Vec::new(),
            hint: None,
            connection_test: None,
        }
    }
}

/// One field that is not as it has to be. Never holds the field's value, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldProblem {
    /// Where, as a JSON pointer such as `/password`; in a query, `/` and the parameter's name.
    #[schema(value_type = String)]
    pub pointer: Cow<'static, str>,
    /// Stable word for what is wrong: `length`, `characters`, `range`, `missing`, `secret` or `type`.
    #[schema(value_type = String)]
    pub code: Cow<'static, str>,
    /// The rule that is broken, for people.
    pub detail: String,
}

impl FieldProblem {
    /// Names a field and the rule it breaks.
    pub fn new(
        pointer: impl Into<Cow<'static, str>>,
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
    ) -> Self {
        Self { pointer: pointer.into(), code: code.into(), detail: detail.into() }
    }
}

/// Gathers the problems of one request.
#[derive(Debug, Default)]
pub struct Problems(Vec<FieldProblem>);

impl Problems {
    /// Notes a problem unless the rule is kept. Beyond a hundred they are left out.
    pub fn check(
        &mut self,
        is_kept: bool,
        pointer: impl Into<Cow<'static, str>>,
        code: &'static str,
        detail: &str,
    ) {
        if !is_kept && self.0.len() < MAX_FIELD_PROBLEMS {
            self.0.push(FieldProblem::new(pointer, code, detail));
        }
    }

    /// Returns success if no rule was broken.
    ///
    /// # Errors
    /// Every problem that was noted.
    pub fn finish(self) -> Result<(), Vec<FieldProblem>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}
