//! Pegel's own metrics, for whoever watches Pegel. Labels are bounded: routes as declared, never paths.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pegel_core::error_code::ErrorCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use secrecy::ExposeSecret;

use crate::app::App;
use crate::endpoint::{Draft, Endpoint, Place};
use crate::origin::{check_host, is_loopback_connection};
use crate::problem::Refusal;
use crate::request_id::is_forwarded;
use crate::serve::Connection;

/// Where the metrics are.
pub(crate) const METRICS_PATH: &str = "/metrics";

const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of the buckets of request durations, in seconds.
const DURATION_BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The most clusters that have a metric each.
const MAX_CLUSTERS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ClusterLabels {
    cluster: String,
}

type Durations = Family<RouteLabels, Histogram, fn() -> Histogram>;

/// What is counted, and the registry it is read from.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Durations,
    streams: Gauge,
    store_up: Gauge,
    store_change_seq: Gauge,
    resident_memory: Gauge,
    cluster_usable: Family<ClusterLabels, Gauge>,
}

impl Metrics {
    pub(crate) fn new(version: &str) -> Self {
        let mut registry = Registry::with_prefix("pegel");
        let requests = Family::default();
        let durations = Durations::new_with_constructor(|| Histogram::new(DURATION_BUCKETS));
        registry.register("http_requests", "Answered requests", requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time to the head of the answer",
            Unit::Seconds,
            durations.clone(),
        );
        let mut gauge = |name: &str, help: &str| {
            let gauge: Gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let streams = gauge("http_change_streams", "Open change streams");
        let store_up = gauge("store_up", "Whether the store could be written to when last asked, 1 or 0");
        let store_change_seq = gauge("store_change_seq", "Number of the newest change");
        let resident_memory: Gauge = Gauge::default();
        registry.register_with_unit(
            "process_resident_memory",
            "Memory of the process that is in use",
            Unit::Bytes,
            resident_memory.clone(),
        );
        let cluster_usable = Family::default();
        let help = "Whether a registered cluster can be asked at all, 1 or 0";
        registry.register("cluster_usable", help, cluster_usable.clone());
        registry.register("build", "The running program", Info::new(vec![("version", version.to_owned())]));
        Self {
            registry,
            requests,
            durations,
            streams,
            store_up,
            store_change_seq,
            resident_memory,
            cluster_usable,
        }
    }

    /// Counts an answer.
    pub(crate) fn observe(&self, route: &str, method: &'static str, status: u16, elapsed: Duration) {
        let route = route.to_owned();
        self.durations
            .get_or_create(&RouteLabels { route: route.clone(), method })
            .observe(elapsed.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { route, method, status }).inc();
    }
}

/// Returns a method as a label: a client cannot make up new ones.
pub(crate) fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "OTHER",
    }
}

/// Declares the route.
pub(crate) fn endpoint() -> Endpoint {
    Draft::public(Place::Root, METRICS_PATH, "Returns Pegel's own metrics in the OpenMetrics text format.")
        .answers_text("The metrics.", MEDIA_TYPE)
        .refuses(&[401, 421])
        .by(get_metrics)
}

async fn get_metrics(State(app): State<App>, request: Request) -> Response {
    if let Err(refusal) = admit(&request, &app) {
        return refusal.into_response();
    }
    let metrics = &app.metrics;
    metrics.streams.set(i64::try_from(app.streams.count()).unwrap_or(i64::MAX));
    metrics.store_up.set(i64::from(app.readiness.check(&app.service).await.is_ok()));
    metrics.store_change_seq.set(*app.changes.watch().borrow());
    metrics.cluster_usable.clear();
    for (slug, is_usable) in app.service.clusters().usable().into_iter().take(MAX_CLUSTERS) {
        let labels = ClusterLabels { cluster: slug.to_string() };
        metrics.cluster_usable.get_or_create(&labels).set(i64::from(is_usable));
    }
    if let Some(bytes) = resident_memory_bytes().await {
        metrics.resident_memory.set(bytes);
    }
    let mut text = String::new();
    match encode(&mut text, &metrics.registry) {
        Ok(()) => ([(CONTENT_TYPE, MEDIA_TYPE)], text).into_response(),
        Err(error) => Refusal::internal(format!("metrics cannot be written: {error}")).into_response(),
    }
}

/// Lets through who shows the token; without one set, who is on this machine and came to it directly.
fn admit(request: &Request, app: &App) -> Result<(), Refusal> {
    if let Some(expected) = &app.settings.metrics_token {
        let shown = request.headers().get(AUTHORIZATION).and_then(|header| header.to_str().ok());
        let shown = shown.and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
        let is_right = is_equal(shown.as_bytes(), expected.expose_secret().as_bytes());
        return if is_right { Ok(()) } else { Err(Refusal::of(ErrorCode::SignInRequired)) };
    }
    let peer = request.extensions().get::<Connection>().map(|connection| connection.peer.ip());
    let is_near = peer.is_some_and(|peer| peer.to_canonical().is_loopback());
    // A proxy on this machine would make everyone look near.
    if !is_near || !is_loopback_connection(request) || is_forwarded(request.headers()) {
        return Err(Refusal::of(ErrorCode::SignInRequired));
    }
    check_host(request, &app.settings).map(drop)
}

/// Compares without telling by time how much is right.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    aws_lc_rs::constant_time::verify_slices_are_equal(one, other).is_ok()
}

/// Returns the memory that the process uses, where the system tells.
async fn resident_memory_bytes() -> Option<i64> {
    let status = tokio::fs::read_to_string("/proc/self/status").await.ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_units_are_as_documented() {
        let metrics = Metrics::new("1.2.3");
        metrics.observe("/api/v1/users/{id}", "GET", 200, Duration::from_millis(3));
        let mut text = String::new();
        encode(&mut text, &metrics.registry).unwrap();
        for line in [
            "pegel_http_requests_total{route=\"/api/v1/users/{id}\",method=\"GET\",status=\"200\"} 1",
            "pegel_http_request_duration_seconds_count{route=\"/api/v1/users/{id}\",method=\"GET\"} 1",
            "pegel_build_info{version=\"1.2.3\"} 1",
            "pegel_store_up 0",
            "pegel_process_resident_memory_bytes 0",
        ] {
            assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn a_made_up_method_is_one_label() {
        assert_eq!(method_label(&Method::from_bytes(b"FROB").unwrap()), "OTHER");
        assert_eq!(method_label(&Method::PUT), "PUT");
    }

    #[tokio::test]
    async fn the_memory_in_use_is_more_than_nothing() {
        assert!(resident_memory_bytes().await.unwrap() > 1_000_000);
    }
}
