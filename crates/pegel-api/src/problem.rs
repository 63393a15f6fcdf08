//! Every answer that is not a success, made in one place from a stable code (RFC 9457).
//!
//! What a handler refuses, what axum refuses by itself and what panicked all become the same kind of body. Of a
//! failure of Pegel's own the caller reads the code and the request's id; the rest goes to the log.

use axum::body::Body;
use axum::http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_api_types::problem::{FieldProblem, Problem};
use pegel_core::envelope::Envelope;
use pegel_core::error_code::ErrorCode;
use pegel_service::Error;
use uuid::Uuid;

/// The media type of a problem.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Marks an answer that is no success and no problem either.
#[derive(Debug, Clone)]
pub(crate) struct Complete;

/// A request that is refused, before it is known which request it is.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    code: ErrorCode,
    said: Box<Said>,
}

/// What a refusal says beside its code.
#[derive(Debug, Clone, Default)]
struct Said {
    detail: String,
    errors: Vec<FieldProblem>,
    hint: Option<String>,
    connection_test: Option<Box<Envelope<ConnectionTest>>>,
    retry_after_seconds: Option<u64>,
    allow: Option<String>,
    /// For the log only.
    internal: Option<String>,
}

impl Refusal {
    /// Refuses with what the code says of itself.
    pub(crate) fn of(code: ErrorCode) -> Self {
        Self::new(code, code.meaning().trim_end_matches('.'))
    }

    /// Refuses; the detail is for people and holds no secret and no value that was sent.
    pub(crate) fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { code, said: Box::new(Said { detail: detail.into(), ..Said::default() }) }
    }

    /// Refuses because of one field.
    pub(crate) fn of_field(problem: FieldProblem) -> Self {
        let mut refusal = Self::new(ErrorCode::Invalid, problem.detail.clone());
        refusal.said.errors.push(problem);
        refusal
    }

    /// Says that something does not exist, or that the caller is not to know.
    pub(crate) fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("{what} does not exist"))
    }

    /// Says which methods a path has.
    pub(crate) fn method_not_allowed(allow: String) -> Self {
        let mut refusal = Self::of(ErrorCode::MethodNotAllowed);
        refusal.said.allow = Some(allow);
        refusal
    }

    /// Refuses for a reason that only the log may hold.
    pub(crate) fn internal(reason: impl Into<String>) -> Self {
        let mut refusal = Self::of(ErrorCode::Internal);
        refusal.said.internal = Some(reason.into());
        refusal
    }

    /// Returns the code.
    #[cfg(test)]
    pub(crate) const fn code(&self) -> ErrorCode {
        self.code
    }

    /// Returns what is wrong with which field.
    #[cfg(test)]
    pub(crate) fn errors(&self) -> &[FieldProblem] {
        &self.said.errors
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let mut refusal = Self::new(error.code(), error.public());
        let said = &mut refusal.said;
        if error.code().http_status() >= 500 {
            said.internal = Some(error.internal());
        }
        match error {
            Error::Invalid { problems } | Error::SecretRequired { problems } => said.errors = problems,
            Error::Failed(failure) => {
                let field = |pointer| FieldProblem::new(pointer, "value", said.detail.clone());
                said.errors = failure.pointer.map(field).into_iter().collect();
                said.hint = failure.hint;
            }
            Error::ConnectionTestFailed { test } => said.connection_test = Some(test),
            Error::ConnectionTestBusy => said.retry_after_seconds = Some(30),
            Error::LoginLocked { retry_after } => said.retry_after_seconds = Some(retry_after.as_secs()),
            Error::LoginBusy => said.retry_after_seconds = Some(1),
            _ => {}
        }
        refusal
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = status_of(self.code).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Turns whatever is not a success into a problem about this request, and logs what only the log may hold.
pub(crate) fn render(mut response: Response, request_id: Uuid, path: &str) -> Response {
    let refusal = response.extensions_mut().remove::<Refusal>();
    let status = response.status();
    let is_complete = response.extensions_mut().remove::<Complete>().is_some();
    if is_complete || (refusal.is_none() && !(status.is_client_error() || status.is_server_error())) {
        return response;
    }
    let Refusal { code, said } = refusal.unwrap_or_else(|| Refusal::of(code_of(status)));
    if let Some(internal) = &said.internal {
        tracing::error!(request.id = %request_id, %code, "request {request_id} failed: {internal}");
    }
    let mut problem = Problem::new(code, said.detail, path.to_owned(), request_id);
    problem.errors = said.errors;
    problem.hint = said.hint;
    problem.connection_test = said.connection_test;
    let body = serde_json::to_vec(&problem).unwrap_or_default();
    let (mut parts, _) = response.into_parts();
    parts.status = status_of(code);
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
    if let Some(seconds) = said.retry_after_seconds {
        parts.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(allow) = said.allow.and_then(|allow| HeaderValue::try_from(allow).ok()) {
        parts.headers.insert(ALLOW, allow);
    }
    if parts.status == StatusCode::UNAUTHORIZED {
        parts.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"pegel\""));
    }
    Response::from_parts(parts, Body::from(body))
}

fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Names what axum refused by itself.
fn code_of(status: StatusCode) -> ErrorCode {
    match status {
        StatusCode::UNAUTHORIZED => ErrorCode::SignInRequired,
        StatusCode::FORBIDDEN => ErrorCode::PermissionDenied,
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => ErrorCode::MethodNotAllowed,
        StatusCode::REQUEST_TIMEOUT => ErrorCode::BodyTimeout,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::BodyTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
        status if status.is_client_error() => ErrorCode::Invalid,
        _ => ErrorCode::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn rendered(response: Response) -> (StatusCode, Response, Problem) {
        let response = render(response, Uuid::from_u128(7), "/api/v1/users");
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 64 * 1024).await.unwrap();
        let problem = serde_json::from_slice(&bytes).unwrap();
        (parts.status, Response::from_parts(parts, Body::empty()), problem)
    }

    #[tokio::test]
    async fn a_problem_has_its_code_its_request_and_its_path() {
        let (status, response, problem) = rendered(Refusal::not_found("user 7").into_response()).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(response.headers()[CONTENT_TYPE], PROBLEM_JSON);
        assert_eq!(problem.kind, "urn:pegel:problem:not_found");
        assert_eq!((problem.status, problem.code.as_ref()), (404, "not_found"));
        assert_eq!(problem.detail, "user 7 does not exist");
        assert_eq!((problem.instance.as_str(), problem.request_id), ("/api/v1/users", Uuid::from_u128(7)));
    }

    #[tokio::test]
    async fn what_the_framework_refuses_is_a_problem_too() {
        for (status, code) in [
            (StatusCode::NOT_FOUND, "not_found"),
            (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            (StatusCode::IM_A_TEAPOT, "invalid"),
            (StatusCode::BAD_GATEWAY, "internal"),
        ] {
            let (_, _, problem) = rendered((status, "axum's own words").into_response()).await;
            assert_eq!(problem.code, code);
            assert!(!problem.detail.contains("axum"));
        }
    }

    #[tokio::test]
    async fn the_inside_of_a_failure_is_not_told() {
        let (status, _, problem) =
            rendered(Refusal::internal("/var/lib/pegel is gone").into_response()).await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(problem.code, "internal");
        assert!(!serde_json::to_string(&problem).unwrap().contains("/var"));
    }

    #[tokio::test]
    async fn a_locked_login_says_when_to_come_back_and_a_missing_one_how_to_sign_in() {
        let locked = Error::LoginLocked { retry_after: std::time::Duration::from_secs(9) };
        let (_, response, _) = rendered(Refusal::from(locked).into_response()).await;
        assert_eq!(response.headers()[RETRY_AFTER], "9");
        let (_, response, _) = rendered(Refusal::of(ErrorCode::SignInRequired).into_response()).await;
        assert!(response.headers().contains_key(WWW_AUTHENTICATE));
    }

    #[tokio::test]
    async fn success_is_left_alone() {
        let response = render((StatusCode::CREATED, "yes").into_response(), Uuid::nil(), "/");
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(axum::body::to_bytes(response.into_body(), 10).await.unwrap(), "yes");
    }
}
