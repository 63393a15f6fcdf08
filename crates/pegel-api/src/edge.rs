//! What every request passes first and every answer last: the id, the guards, problems, headers, the log.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pegel_service::caller::Origin;
use uuid::Uuid;

use crate::app::App;
use crate::auth::PrincipalName;
use crate::clock::Stopwatch;
use crate::health::is_probe;
use crate::problem::Refusal;
use crate::request_id::{client_request_id, origin_of};
use crate::{headers, metrics, origin, problem};

/// The name of a route that is not there, in metrics and logs.
const UNMATCHED: &str = "unmatched";

/// What is known of a request when its answer is logged.
struct Arrival {
    origin: Origin,
    client_request_id: Option<Uuid>,
    method: Method,
    route: String,
    path: String,
    is_probe: bool,
    stopwatch: Stopwatch,
}

/// Stands before everything else.
pub(crate) async fn edge(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let arrival = Arrival::of(&request, &app);
    request.extensions_mut().insert(arrival.origin.clone());
    // Who watches the process may come by any address; these routes tell nothing and change nothing.
    let verdict = if arrival.is_probe { Ok(()) } else { origin::guard(&request, &app.settings) };
    let response = match verdict {
        Ok(()) => unpanicked(next.run(request)).await,
        Err(refusal) => refusal.into_response(),
    };
    let request_id = arrival.origin.request_id;
    let mut response = problem::render(response, request_id, &arrival.path);
    headers::secure(response.headers_mut(), app.settings.is_https(), request_id);
    arrival.note(&app, &mut response);
    response
}

impl Arrival {
    fn of(request: &Request, app: &App) -> Self {
        let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let template = matched.map(|path| path.strip_prefix(app.settings.base_path()).unwrap_or(path));
        let path = request.uri().path();
        Self {
            origin: origin_of(request, &app.settings.trusted_proxies),
            client_request_id: client_request_id(request.headers()),
            method: request.method().clone(),
            route: template.unwrap_or(UNMATCHED).to_owned(),
            path: path.to_owned(),
            is_probe: is_probe(path),
            stopwatch: Stopwatch::start(),
        }
    }

    /// Counts and logs the answer. Neither path nor query is logged: they may hold what nobody should read.
    fn note(&self, app: &App, response: &mut Response) {
        let status = response.status();
        let elapsed = self.stopwatch.elapsed();
        let method = metrics::method_label(&self.method);
        app.metrics.observe(&self.route, method, status.as_u16(), elapsed);
        let principal = response.extensions_mut().remove::<PrincipalName>();
        let principal = principal.as_ref().map(|name| name.0.as_str());
        let client_request_id = self.client_request_id.map(tracing::field::display);
        let duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    http.method = method,
                    http.route = self.route,
                    http.status = status.as_u16(),
                    request.id = %self.origin.request_id,
                    client.request_id = client_request_id,
                    client.address = %self.origin.source,
                    principal.name = principal,
                    duration_ms,
                    "{method} {} answered {}",
                    self.route,
                    status.as_u16()
                )
            };
        }
        if self.is_probe && status == StatusCode::OK { log!(debug) } else { log!(info) }
    }
}

/// Turns a panic into a failure of this one request.
async fn unpanicked(answer: impl Future<Output = Response>) -> Response {
    let mut answer = pin!(answer);
    let guarded = poll_fn(|context| {
        // The future is not polled again after a panic, so nobody sees what it left half-done.
        match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    });
    match guarded.await {
        Ok(response) => response,
        Err(panic) => Refusal::internal(format!("a handler panicked: {}", words_of(&*panic))).into_response(),
    }
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a word")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        async fn broken(fail: bool) -> Response {
            assert!(!fail, "a bug in {}", "a handler");
            StatusCode::OK.into_response()
        }
        assert_eq!(unpanicked(broken(false)).await.status(), StatusCode::OK);
        assert_eq!(unpanicked(broken(true)).await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
