//! Where jobs say that they are well. Whoever has a heartbeat's key may ping it.
//!
//! A sender reads no answer more often than not, so that a ping is taken with whatever it brings: any body, any
//! media type, any query. It is refused only for a key of nothing, and fails only if it can be kept nowhere.

use std::collections::HashMap;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{Method, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use pegel_core::error_code::ErrorCode;
use pegel_service::caller::Origin;
use pegel_service::monitoring::{PingRequest, ping_kind};
use secrecy::SecretString;
use tokio::time::{Duration, timeout};

use crate::app::App;
use crate::endpoint::{Draft, Endpoint, Place};
use crate::input::Names;
use crate::problem::Refusal;

/// How much of a body is read; no more of it is kept.
const MAX_BODY_BYTES: usize = 10 * 1024;

/// How long a body is waited for. The ping counts without it.
const BODY_LIMIT: Duration = Duration::from_secs(5);

/// The longest key that is looked at.
const MAX_KEY_BYTES: usize = 128;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let paths = [
        ("/heartbeat/{key}", "ping_heartbeat", "Says that a job is well. A body of up to 10 KiB is kept."),
        (
            "/heartbeat/{key}/{says}",
            "tell_heartbeat",
            "Says how a job is: `ok`, `start`, `fail`, `log`, or an exit code of 0 to 255.",
        ),
    ];
    let endpoint = |(path, id, summary): (&str, &str, &'static str), method: Method| {
        let id = if method == Method::POST { format!("{id}_by_post") } else { id.to_owned() };
        Draft::public_to(method, Place::Web, path, summary)
            .id(id)
            .answers_text("The ping is on disk.", "text/plain")
            .by(ping)
    };
    paths
        .into_iter()
        .flat_map(|path| [Method::GET, Method::POST].map(|method| endpoint(path, method)))
        .collect()
}

async fn ping(
    State(app): State<App>,
    Extension(origin): Extension<Origin>,
    names: Names,
    uri: Uri,
    body: Body,
) -> Result<Response, Refusal> {
    let unknown = || Refusal::of(ErrorCode::NotFound);
    let key = names.text("key").filter(|key| key.len() <= MAX_KEY_BYTES).ok_or_else(unknown)?;
    let kind = ping_kind(names.text("says")).ok_or_else(unknown)?;
    // A query that cannot be read says nothing and loses no ping.
    let query = Query::<HashMap<String, String>>::try_from_uri(&uri).map(|query| query.0).unwrap_or_default();
    let request = PingRequest {
        key: SecretString::from(key),
        kind,
        run_id: query.get("rid").cloned(),
        source_id: query.get("src").cloned(),
        remote: origin.source.to_string(),
        body: beginning(body).await,
    };
    app.service.monitoring().ping(request).await?;
    Ok(([(CACHE_CONTROL, "no-store")], "OK\n").into_response())
}

/// Reads the beginning of a body; what does not come in time, or not whole, is left out.
async fn beginning(body: Body) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut stream = body.into_data_stream();
    let reading = async {
        while let Some(Ok(piece)) = stream.next().await {
            let room = MAX_BODY_BYTES.saturating_sub(bytes.len());
            bytes.extend(piece.iter().take(room));
            if bytes.len() >= MAX_BODY_BYTES {
                break;
            }
        }
    };
    let _ = timeout(BODY_LIMIT, reading).await;
    bytes
}
