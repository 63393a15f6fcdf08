//! Whether the process lives, and whether it can do its work. Both are public and tell nothing else.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pegel_core::error_code::ErrorCode;
use pegel_service::{Error, Service};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::Stopwatch;
use crate::endpoint::{Draft, Endpoint, Place};
use crate::metrics::METRICS_PATH;

const HEALTH_PATH: &str = "/healthz";
const READINESS_PATH: &str = "/readyz";

/// How long an answer about the store is good, so that asking costs the store nothing.
const GOOD_FOR: Duration = Duration::from_secs(1);

/// How long the store may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns whether a path is for who watches the process.
pub(crate) fn is_probe(path: &str) -> bool {
    [HEALTH_PATH, READINESS_PATH, METRICS_PATH].contains(&path)
}

/// The body of an answer about health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Health {
    /// `ok` or `unavailable`.
    #[schema(value_type = String)]
    status: std::borrow::Cow<'static, str>,
    /// The code of what is wrong; absent if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<ErrorCode>,
}

/// Whether the store can be written to, asked at most once a second.
#[derive(Default)]
pub(crate) struct Readiness {
    last: Mutex<Option<(Stopwatch, Result<(), ErrorCode>)>>,
}

impl Readiness {
    /// Returns nothing if the store can be written to, else why not. Those who ask at once get one answer.
    pub(crate) async fn check(&self, service: &Service) -> Result<(), ErrorCode> {
        let mut last = self.last.lock().await;
        if let Some((since, result)) = *last
            && since.elapsed() < GOOD_FOR
        {
            return result;
        }
        let checked = tokio::time::timeout(PATIENCE, service.db().check_writable()).await;
        let result = match checked {
            Ok(checked) => checked.map_err(|error| Error::from(error).code()),
            Err(_) => Err(ErrorCode::StoreBusy),
        };
        *last = Some((Stopwatch::start(), result));
        result
    }
}

/// Declares the route that tells whether the process lives.
pub(crate) fn liveness() -> Endpoint {
    Draft::public(Place::Root, HEALTH_PATH, "Says that the process lives.")
        .answers::<Health>(200, "It lives.")
        .by(get_health)
}

/// Declares the route that tells whether Pegel can do its work.
pub(crate) fn readiness() -> Endpoint {
    Draft::public(
        Place::Root,
        READINESS_PATH,
        "Says whether Pegel can do its work: whether its store takes changes.",
    )
    .answers::<Health>(200, "It can.")
    .answers::<Health>(503, "It cannot; `reason` is a code.")
    .by(get_readiness)
}

async fn get_health() -> Json<Health> {
    Json(Health { status: "ok".into(), reason: None })
}

async fn get_readiness(State(app): State<App>) -> Response {
    match app.readiness.check(&app.service).await {
        Ok(()) => get_health().await.into_response(),
        Err(code) => {
            let body = Health { status: "unavailable".into(), reason: Some(code) };
            let mut response = (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response();
            response.extensions_mut().insert(crate::problem::Complete);
            response
        }
    }
}
