//! Ends of channels: they check what they are sent as the real ones do, and answer as told.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Whom an end plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    PagerDuty,
    Slack,
    Webhook,
}

/// The key under which messages to the webhook end are signed.
pub(crate) const SIGNING_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The integration's key that the PagerDuty end knows.
pub(crate) const ROUTING_KEY: &str = "0123456789abcdef0123456789abcdef";

/// What an end does with a request, other than what it would do by itself.
#[derive(Debug, Clone)]
pub(crate) enum Do {
    /// Answers with a status, headers and a body, and keeps nothing.
    Refuse(u16, &'static [(&'static str, &'static str)], &'static str),
    /// Takes it and answers only after so long.
    TakeAndAnswerAfter(Duration),
    /// Closes the connection after reading, without taking it.
    Drop,
}

/// A request that was taken or refused.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Json,
}

#[derive(Default)]
struct State {
    script: VecDeque<Do>,
    got: Vec<Got>,
    open: HashMap<String, bool>,
    incident_count: usize,
}

/// An end on loopback; it ends with the value.
pub(crate) struct End {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    accepting: JoinHandle<()>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl End {
    pub(crate) async fn start(role: Role) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let state = Arc::clone(&shared);
                connections.spawn(async move {
                    let service = service_fn(move |request| answer(role, Arc::clone(&state), request));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { address, state, accepting }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Says what to do with the next requests.
    pub(crate) fn script(&self, all: impl IntoIterator<Item = Do>) {
        self.state.lock().unwrap().script.extend(all);
    }

    /// Everything that came, refused or not.
    pub(crate) fn got(&self) -> Vec<Got> {
        self.state.lock().unwrap().got.clone()
    }

    /// What was taken, as `event_action dedup_key` for PagerDuty, the text for Slack, the type for webhooks.
    pub(crate) fn taken(&self) -> Vec<String> {
        let taken = self.got();
        let taken = taken.iter().filter(|got| (200..300).contains(&got.status));
        taken.map(|got| told(&got.body)).collect()
    }

    /// What was taken, without keys.
    pub(crate) fn actions(&self) -> Vec<String> {
        self.taken().into_iter().map(|told| told.split(' ').next().unwrap().to_owned()).collect()
    }

    /// How many incidents PagerDuty would have opened.
    pub(crate) fn incident_count(&self) -> usize {
        self.state.lock().unwrap().incident_count
    }

    /// How many of them are still open.
    pub(crate) fn open_count(&self) -> usize {
        self.state.lock().unwrap().open.values().filter(|is_open| **is_open).count()
    }
}

fn told(body: &Json) -> String {
    if let Some(action) = body["event_action"].as_str() {
        return format!("{action} {}", body["dedup_key"].as_str().unwrap_or_default());
    }
    body["text"].as_str().or(body["type"].as_str()).unwrap_or_default().to_owned()
}

async fn answer(
    role: Role,
    state: Arc<Mutex<State>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let headers: HashMap<String, String> = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect();
    let bytes = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let body: Json = serde_json::from_slice(&bytes).unwrap_or_default();
    let scripted = state.lock().unwrap().script.pop_front();
    let (status, extra, text): (u16, &[(&str, &str)], String) = match &scripted {
        Some(Do::Refuse(status, headers, text)) => (*status, headers, (*text).to_owned()),
        Some(Do::Drop) => std::future::pending().await,
        _ => match wrong(role, &headers, &bytes, &body) {
            Some(why) => (if role == Role::Webhook { 401 } else { 400 }, &[], why),
            None => match role {
                Role::PagerDuty => (202, &[], r#"{"status":"success"}"#.to_owned()),
                Role::Slack => (200, &[], "ok".to_owned()),
                Role::Webhook => (204, &[], String::new()),
            },
        },
    };
    {
        let mut state = state.lock().unwrap();
        if role == Role::PagerDuty && status == 202 {
            take(&mut state, &body);
        }
        state.got.push(Got { status, headers, body });
    }
    if let Some(Do::TakeAndAnswerAfter(wait)) = scripted {
        tokio::time::sleep(wait).await;
    }
    let mut response = Response::builder().status(status);
    for (name, value) in extra {
        response = response.header(*name, *value);
    }
    Ok(response.body(Full::new(Bytes::from(text))).unwrap())
}

/// Does with an event what PagerDuty does: a trigger opens an incident unless one is open under its key.
fn take(state: &mut State, body: &Json) {
    let key = body["dedup_key"].as_str().unwrap().to_owned();
    let is_open = state.open.get(&key).copied().unwrap_or_default();
    match body["event_action"].as_str().unwrap() {
        "trigger" if !is_open => {
            state.open.insert(key, true);
            state.incident_count += 1;
        }
        "resolve" if is_open => drop(state.open.insert(key, false)),
        _ => {}
    }
}

/// Says what is wrong with a request by the target's own rules.
fn wrong(role: Role, headers: &HashMap<String, String>, bytes: &[u8], body: &Json) -> Option<String> {
    let check = |is_right: bool, what: &str| (!is_right).then(|| what.to_owned());
    let text = |value: &Json, longest: usize| {
        value.as_str().is_some_and(|text| !text.is_empty() && text.chars().count() <= longest)
    };
    match role {
        Role::PagerDuty => {
            let is_trigger = body["event_action"] == "trigger";
            let severities = ["critical", "error", "warning", "info"];
            let payload = &body["payload"];
            check(body["routing_key"].as_str().is_some_and(|key| key.len() == 32), "routing_key")
                .or(check(text(&body["dedup_key"], 255), "dedup_key"))
                .or(check(
                    ["trigger", "acknowledge", "resolve"].iter().any(|one| body["event_action"] == *one),
                    "event_action",
                ))
                .or(check(!is_trigger || text(&payload["summary"], 1_024), "payload.summary"))
                .or(check(!is_trigger || text(&payload["source"], 1_024), "payload.source"))
                .or(check(
                    !is_trigger || severities.iter().any(|one| payload["severity"] == *one),
                    "payload.severity",
                ))
        }
        Role::Slack => {
            let blocks = body["blocks"].as_array().map_or(0, Vec::len);
            check(text(&body["text"], 40_000), "invalid_payload")
                .or(check((1..=50).contains(&blocks), "invalid_blocks"))
        }
        Role::Webhook => {
            let header = |name: &str| headers.get(name).map_or("", String::as_str);
            let key = STANDARD.decode(SIGNING_SECRET.strip_prefix("whsec_").unwrap()).unwrap();
            let mut signed =
                format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).into_bytes();
            signed.extend_from_slice(bytes);
            let tag = aws_lc_rs::hmac::sign(
                &aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, &key),
                &signed,
            );
            let expected = format!("v1,{}", STANDARD.encode(tag.as_ref()));
            let is_signed = header("webhook-signature").split(' ').any(|one| one == expected);
            check(is_signed, "not signed").or(check(text(&body["type"], 100), "type"))
        }
    }
}
