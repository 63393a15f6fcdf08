use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use super::*;

/// Answers one request with fixed bytes and returns the request.
fn answer_once(bytes: Vec<u8>) -> (ServerUrl, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = ServerUrl::of_listener(listener.local_addr().unwrap());
    let thread = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !request.windows(4).any(|part| part == b"\r\n\r\n") {
            let count = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..count]);
        }
        // Whoever has seen enough hangs up, which is no fault here.
        let _ = stream.write_all(&bytes);
        String::from_utf8_lossy(&request).into_owned()
    });
    (url, thread)
}

fn response(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}

async fn ask(bytes: Vec<u8>) -> (Result<serde_json::Value, Failure>, String) {
    let (url, thread) = answer_once(bytes);
    let token = Credential::Token(SecretString::from("pgl_81726354"));
    let server = Server::new(url, None, false).unwrap().asked_by(token);
    let outcome = server.send(Method::POST, "/clusters", &serde_json::json!({ "slug": "eu" })).await;
    (outcome, thread.join().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn request_says_who_asks_what_and_from_where() {
    let (outcome, request) = ask(response("200 OK", "{\"a\":1}")).await;
    assert_eq!(outcome.unwrap()["a"], 1);
    let request = request.to_lowercase();
    assert!(request.starts_with("post /api/v1/clusters http/1.1\r\n"), "{request}");
    for line in ["host: 127.0.0.1:", "origin: http://127.0.0.1:", "authorization: bearer pgl_81726354\r\n"] {
        assert!(request.contains(line), "{line}: {request}");
    }
    assert!(request.contains("content-type: application/json\r\n") && request.contains("user-agent: pegel/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn problem_becomes_the_failure_it_tells_of() {
    let document = |code: &str, detail: &str, errors: serde_json::Value| {
        serde_json::json!({
            "type": format!("urn:pegel:problem:{code}"), "title": "T", "status": 409, "detail": detail,
            "instance": "/api/v1/clusters", "code": code, "errors": errors,
            "request_id": "01980000-0000-7000-8000-000000000000",
        })
        .to_string()
    };
    let fields = serde_json::json!([{ "pointer": "/slug", "code": "taken", "detail": "choose another" }]);
    let told = document("conflict", "cluster eu exists", fields);
    let failure = ask(response("409 Conflict", &told)).await.0.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (ErrorCode::Conflict, "cluster eu exists"));
    let request = "the server knows it as request 01980000-0000-7000-8000-000000000000";
    assert_eq!(failure.causes, ["/slug: choose another", request]);
    let newer = document("of_a_newer_server", "new", serde_json::json!([]));
    let failure = ask(response("403 Forbidden", &newer)).await.0.unwrap_err();
    assert_eq!(failure.code, ErrorCode::PermissionDenied);
    assert_eq!(failure.causes[0], "the server calls it of_a_newer_server");
    let unsigned = document("sign_in_required", "who", serde_json::json!([]));
    let failure = ask(response("401 Unauthorized", &unsigned)).await.0.unwrap_err();
    assert!(failure.hint.unwrap().starts_with("sign in with: pegel login --server http://127"));
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_of_something_else_is_not_understood() {
    let redirect = b"HTTP/1.1 302 Found\r\nlocation: http://192.0.2.1/\r\ncontent-length: 0\r\n\r\n".to_vec();
    for bytes in [
        response("200 OK", "<html>"),
        response("502 Bad Gateway", "<html>"),
        response("404 Not Found", ""),
        redirect,
    ] {
        let failure = ask(bytes).await.0.unwrap_err();
        assert_eq!(failure.code, ErrorCode::ServerAnswerUnusable, "{failure:?}");
    }
    for bytes in
        [b"hello\r\n\r\n".to_vec(), Vec::new(), b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec()]
    {
        let failure = ask(bytes).await.0.unwrap_err();
        assert_eq!(failure.code, ErrorCode::ServerUnreachable, "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_answer_is_cut_off() {
    let mut bytes =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", MAX_ANSWER_BYTES + 1).into_bytes();
    bytes.resize(bytes.len() + MAX_ANSWER_BYTES + 1, b' ');
    let failure = ask(bytes).await.0.unwrap_err();
    assert!(failure.message.contains("larger than 64 MiB"), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_there_is_told_with_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = ServerUrl::of_listener(listener.local_addr().unwrap());
    drop(listener);
    let failure = Server::new(url, None, false).unwrap().get::<()>("/me").await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::ServerUnreachable);
    assert!(failure.hint.unwrap().contains("pegel serve"));
}

#[test]
fn secrets_go_to_other_machines_encrypted_or_on_an_express_wish() {
    let url = |text: &str| text.parse::<ServerUrl>().unwrap();
    assert!(Server::new(url("http://127.0.0.1:1"), None, false).is_ok());
    assert!(Server::new(url("http://localhost:1"), None, false).is_ok());
    assert!(Server::new(url("http://192.0.2.1"), None, true).is_ok());
    let Err(failure) = Server::new(url("http://192.0.2.1"), None, false) else { panic!("it was taken") };
    assert_eq!(failure.code, ErrorCode::Invalid);
    assert!(failure.hint.unwrap().contains("--insecure-http"));
}

#[test]
fn authorities_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ca.pem");
    let url: ServerUrl = "https://192.0.2.1".parse().unwrap();
    for text in [None, Some(""), Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")] {
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let Err(failure) = Server::new(url.clone(), Some(&path), false) else { panic!("it was taken") };
        assert_eq!(failure.code, ErrorCode::InvalidConfig);
    }
}
