//! All routes, one action a file, and the router that is made of them.

mod account;
mod alert_routes;
mod audit;
mod channels;
mod clusters;
mod heartbeat;
mod incidents;
mod maintenance_windows;
mod meta;
mod monitors;
mod operations;
mod session;
mod silences;
mod tokens;
mod users;

use std::collections::{BTreeMap, BTreeSet};

use axum::Router;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::any;
use pegel_core::error_code::ErrorCode;
use pegel_service::Service;
use pegel_service::caller::Origin;

use crate::app::App;
use crate::auth::authenticate;
use crate::edge::edge;
use crate::endpoint::{API, Endpoint};
use crate::problem::Refusal;
use crate::settings::ApiSettings;
use crate::{health, metrics, sse, web};

/// Returns the router of everything that Pegel serves.
pub fn router(service: Service, settings: ApiSettings) -> Router {
    let app = App::new(service, settings);
    let mut paths: BTreeMap<String, Vec<Endpoint>> = BTreeMap::new();
    for endpoint in endpoints() {
        paths.entry(endpoint.served_path(&app)).or_default().push(endpoint);
    }
    let mut router = Router::new();
    for (path, endpoints) in paths {
        let allow: BTreeSet<&str> = endpoints.iter().flat_map(Endpoint::methods).copied().collect();
        let allow = allow.into_iter().collect::<Vec<_>>().join(", ");
        // `any` keeps axum from telling strangers which methods there are.
        let mut methods =
            any(move |state, origin, uri, headers| refuse_method(state, origin, uri, headers, allow));
        for endpoint in endpoints {
            methods = methods.merge(endpoint.mount(&app));
        }
        router = router.route(&path, methods);
    }
    router.fallback(without_route).layer(from_fn_with_state(app.clone(), edge)).with_state(app)
}

/// Returns every route; the router and the OpenAPI document know no others.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = vec![health::liveness(), health::readiness(), metrics::endpoint(), sse::endpoint()];
    endpoints.extend(meta::endpoints());
    endpoints.extend(session::endpoints());
    endpoints.extend(account::endpoints());
    endpoints.extend(users::endpoints());
    endpoints.extend(tokens::endpoints());
    endpoints.extend(audit::endpoints());
    endpoints.extend(clusters::endpoints());
    endpoints.extend(operations::endpoints());
    endpoints.extend(alert_routes::endpoints());
    endpoints.extend(silences::endpoints());
    endpoints.extend(maintenance_windows::endpoints());
    endpoints.extend(incidents::endpoints());
    endpoints.extend(monitors::endpoints());
    endpoints.extend(channels::endpoints());
    endpoints.extend(heartbeat::endpoints());
    endpoints
}

/// Answers for what is no route: with the console, or not at all.
async fn without_route(
    State(app): State<App>,
    Extension(origin): Extension<Origin>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    if let Some(refusal) = stranger(&app, &origin, &uri, &headers).await {
        return Err(refusal);
    }
    let base = app.settings.base_path();
    let below = uri.path().strip_prefix(base).filter(|below| below.is_empty() || below.starts_with('/'));
    // A program that asks for a version of the API that is not there must not get a page.
    let is_page = |below: &&str| method.is_safe() && *below != "/api" && !below.starts_with("/api/");
    let page = below.filter(is_page);
    page.and_then(|page| web::answer(page, base, &headers)).ok_or_else(|| Refusal::of(ErrorCode::NotFound))
}

async fn refuse_method(
    State(app): State<App>,
    Extension(origin): Extension<Origin>,
    uri: Uri,
    headers: HeaderMap,
    allow: String,
) -> Refusal {
    stranger(&app, &origin, &uri, &headers).await.unwrap_or_else(|| Refusal::method_not_allowed(allow))
}

/// Refuses who has not signed in before telling which paths and methods there are.
async fn stranger(app: &App, origin: &Origin, uri: &Uri, headers: &HeaderMap) -> Option<Refusal> {
    let below = uri.path().strip_prefix(app.settings.base_path())?;
    if is_api(below) { authenticate(app, headers, origin).await.err() } else { None }
}

fn is_api(below: &str) -> bool {
    below.strip_prefix(API).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}
