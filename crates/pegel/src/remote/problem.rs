//! A server's problem document, told as a failure of the command.

use std::str::FromStr;

use http::StatusCode;
use pegel_api_types::problem::Problem;
use pegel_core::envelope::EvidenceState;
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;

use crate::remote::exchange::Answer;
use crate::server_url::ServerUrl;

/// Tells what an answer that is no success says.
pub(super) fn failure(answer: &Answer, url: &ServerUrl) -> Failure {
    let Ok(problem) = serde_json::from_slice::<Problem>(&answer.body) else {
        let message = format!("{url} answers {} and no word that Pegel would say", answer.status);
        return Failure::new(ErrorCode::ServerAnswerUnusable, message);
    };
    let known = ErrorCode::from_str(&problem.code).ok();
    let code = known.unwrap_or_else(|| like(answer.status));
    let mut failure = Failure::new(code, problem.detail);
    if known.is_none() {
        failure.causes.push(format!("the server calls it {}", problem.code));
    }
    failure.causes.extend(problem.errors.iter().map(|field| format!("{}: {}", field.pointer, field.detail)));
    let steps = problem.connection_test.iter().flat_map(|test| &test.evidence);
    failure.causes.extend(steps.filter(|step| step.state == EvidenceState::Failed).map(|step| {
        let subject = step.subject.as_ref().map_or_else(String::new, |subject| format!(" {subject}"));
        format!("{}{subject}: {}", step.check, step.message)
    }));
    failure.causes.push(format!("the server knows it as request {}", problem.request_id));
    failure.hint = problem.hint.or_else(|| advice(code, url));
    failure
}

/// Returns the code for a status whose own code is of a newer server.
fn like(status: StatusCode) -> ErrorCode {
    match status {
        StatusCode::UNAUTHORIZED => ErrorCode::SignInRequired,
        StatusCode::FORBIDDEN => ErrorCode::PermissionDenied,
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::CONFLICT => ErrorCode::Conflict,
        _ if status.is_client_error() => ErrorCode::Invalid,
        _ => ErrorCode::ServerUnreachable,
    }
}

fn advice(code: ErrorCode, url: &ServerUrl) -> Option<String> {
    match code {
        ErrorCode::SignInRequired => Some(format!("sign in with: pegel login --server {url}")),
        ErrorCode::PasswordChangeRequired => {
            Some(format!("set another password with: pegel login --server {url}"))
        }
        _ => None,
    }
}
