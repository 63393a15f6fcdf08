//! The router as a client meets it, without a socket, and people who sign in.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode};
use pegel_api::serve::Connection;
use pegel_api::settings::ApiSettings;
use pegel_core::access::Role;
use pegel_core::clock::ManualClock;
use pegel_service::Service;
use pegel_testkit::service::TestService;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tower::ServiceExt;
use uuid::Uuid;

/// Longer than any answer takes.
const BOUND: Duration = Duration::from_secs(60);

/// What a request is for, on a loopback listener.
pub(crate) const HOST: &str = "localhost:9300";

/// The origin of Pegel's own pages there.
pub(crate) const ORIGIN: &str = "http://localhost:9300";

pub(crate) struct TestApp {
    pub(crate) router: Router,
    pub(crate) service: Service,
    pub(crate) clock: Arc<ManualClock>,
    kept: TestService,
}

/// An answer, its body read to the end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

/// How a client shows who it is.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    Nothing,
    Cookie(String),
    Bearer(String),
}

/// A client with its own credential.
#[derive(Clone)]
pub(crate) struct Client {
    router: Router,
    pub(crate) shown: Shown,
}

impl TestApp {
    pub(crate) async fn sqlite() -> Self {
        Self::over(TestService::on_sqlite().await, ApiSettings::default())
    }

    pub(crate) async fn postgres() -> Option<Self> {
        Some(Self::over(TestService::on_postgres().await?, ApiSettings::default()))
    }

    fn over(kept: TestService, settings: ApiSettings) -> Self {
        let (service, clock) = (kept.service.clone(), Arc::clone(&kept.clock));
        Self { router: pegel_api::router(service.clone(), settings), service, clock, kept }
    }

    /// Returns the same service behind other settings.
    pub(crate) fn with(self, settings: ApiSettings) -> Self {
        Self::over(self.kept, settings)
    }

    pub(crate) fn stranger(&self) -> Client {
        Client { router: self.router.clone(), shown: Shown::Nothing }
    }

    /// Returns a client that shows this.
    pub(crate) fn client(&self, shown: Shown) -> Client {
        Client { router: self.router.clone(), shown }
    }

    pub(crate) fn bearer(&self, token: &str) -> Client {
        self.client(Shown::Bearer(token.to_owned()))
    }

    /// Signs in.
    pub(crate) async fn login(&self, name: &str, password: &str) -> Client {
        let stranger = self.stranger();
        let answer = stranger.post("/api/v1/session", json!({ "name": name, "password": password })).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text);
        Client { router: self.router.clone(), shown: Shown::Cookie(answer.cookie()) }
    }

    /// Makes the first admin with a password of its own, and signs in.
    pub(crate) async fn admin(&self) -> Client {
        let admin = self.service.people().ensure_admin(Uuid::from_u128(1)).await.unwrap().unwrap();
        self.settle(&admin.name, admin.password.expose_secret()).await
    }

    /// Makes a user by the admin's hand, and signs in.
    pub(crate) async fn person(&self, admin: &Client, name: &str, role: Role) -> Client {
        self.person_with(admin, json!({ "name": name, "role": role, "scope": "all" })).await
    }

    /// Makes a user of these properties by the admin's hand, and signs in.
    pub(crate) async fn person_with(&self, admin: &Client, user: Value) -> Client {
        let made = admin.post("/api/v1/users", user).await.expect(StatusCode::CREATED);
        let name = made["user"]["name"].as_str().unwrap().to_owned();
        self.settle(&name, made["password"].as_str().unwrap()).await
    }

    /// Signs in with a generated password and changes it.
    pub(crate) async fn settle(&self, name: &str, generated: &str) -> Client {
        let client = self.login(name, generated).await;
        let change = json!({ "current_password": generated, "new_password": password_of(name) });
        let answer = client.post("/api/v1/account/password", change).await;
        assert_eq!(answer.status, StatusCode::NO_CONTENT, "{}", answer.text);
        Client { router: self.router.clone(), shown: Shown::Cookie(answer.cookie()) }
    }

    /// Sends a request as it is, from loopback.
    pub(crate) async fn send(&self, request: Request) -> Answer {
        send(&self.router, request).await
    }
}

/// Returns the password that a person of this name sets.
pub(crate) fn password_of(name: &str) -> String {
    format!("the own password of {name}")
}

/// Builds a request with these headers and no others.
pub(crate) fn request(
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Request {
    let mut request = Request::builder().method(method).uri(path).body(body.into()).unwrap();
    for (name, value) in headers {
        let name: HeaderName = name.parse().unwrap();
        request.headers_mut().append(name, HeaderValue::from_str(value).unwrap());
    }
    request
}

/// Sends a request, from loopback to loopback unless it says otherwise.
pub(crate) async fn send(router: &Router, mut request: Request) -> Answer {
    let loopback: SocketAddr = "127.0.0.1:9300".parse().unwrap();
    if request.extensions().get::<Connection>().is_none() {
        request.extensions_mut().insert(Connection::new(loopback, loopback));
    }
    let answered = tokio::time::timeout(BOUND, async {
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        (parts, axum::body::to_bytes(body, 16 * 1024 * 1024).await.unwrap())
    });
    let (parts, bytes) = answered.await.expect("an answer has an end");
    Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
}

impl Client {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.call(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, None).await
    }

    /// Sends what a browser or a program would.
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let mut headers = vec![("host", HOST.to_owned())];
        let is_unsafe = !method.is_safe();
        match &self.shown {
            Shown::Nothing => {}
            Shown::Cookie(cookie) => {
                headers.push(("cookie", cookie.clone()));
                if is_unsafe {
                    headers.push(("origin", ORIGIN.to_owned()));
                }
            }
            Shown::Bearer(token) => headers.push(("authorization", format!("Bearer {token}"))),
        }
        if is_unsafe {
            headers.push(("content-type", "application/json".to_owned()));
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        send(&self.router, request(method, path, &headers, body)).await
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    /// Returns the body if the status is this one.
    pub(crate) fn expect(self, status: StatusCode) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()
    }

    /// Returns the status and the problem's code.
    pub(crate) fn problem(&self) -> (u16, String) {
        assert_eq!(self.headers[CONTENT_TYPE], "application/problem+json", "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16());
        assert_eq!(problem["type"], format!("urn:pegel:problem:{}", problem["code"].as_str().unwrap()));
        assert_eq!(problem["request_id"], self.headers["x-request-id"].to_str().unwrap());
        (self.status.as_u16(), problem["code"].as_str().unwrap().to_owned())
    }

    /// Checks that this is a problem of this code.
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.problem(), (status, code.to_owned()), "{}", self.text);
    }

    /// Returns the cookie that was set, as the client sends it back.
    pub(crate) fn cookie(&self) -> String {
        let cookie = self.headers[SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }
}
