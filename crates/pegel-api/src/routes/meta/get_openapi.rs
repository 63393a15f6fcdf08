//! Returns the OpenAPI document.

use std::sync::LazyLock;

use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use crate::endpoint::{Access, Draft, Endpoint};
use crate::openapi::openapi;
use crate::problem::Refusal;

pub(super) fn endpoint() -> Endpoint {
    Draft::api(Method::GET, "/openapi.json", Access::SignedIn, "Returns this document.")
        .answers_json("The document, OpenAPI 3.1.")
        .by(get_openapi)
}

/// The document as text, written once.
static TEXT: LazyLock<Result<String, serde_json::Error>> = LazyLock::new(|| openapi().to_json());

async fn get_openapi() -> Result<Response, Refusal> {
    match TEXT.as_deref() {
        Ok(text) => Ok(([(CONTENT_TYPE, "application/json")], text).into_response()),
        Err(error) => Err(Refusal::internal(format!("the document cannot be written: {error}"))),
    }
}
