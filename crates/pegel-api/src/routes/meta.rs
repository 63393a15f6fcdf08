//! What is about Pegel's faces themselves: the OpenAPI document, and links that others have.

mod get_openapi;
mod redirect_operations;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![get_openapi::endpoint(), redirect_operations::endpoint()]
}
