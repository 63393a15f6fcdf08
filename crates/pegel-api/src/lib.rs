//! The HTTP API of Pegel: routes, OpenAPI document, change stream, health.
//!
//! It translates between HTTP and [`pegel_service::Service`] and decides nothing: who may do what, and what is
//! audited, is the service's. A request passes the `edge` (request id, host, origin, problems, headers, log),
//! then authentication, then one handler, which gets its handle from the policy before it reads anything else.
//!
//! Each route is declared once, with its handler and its entry in the OpenAPI document (`endpoint`); a path or
//! method of the API that is not declared is refused, also to those who guess. All other paths are pages of the
//! console (`web`).

mod app;
mod auth;
mod clock;
mod edge;
mod endpoint;
mod headers;
mod health;
mod input;
mod metrics;
mod openapi;
mod origin;
mod paging;
mod problem;
mod request_id;
mod routes;
pub mod serve;
pub mod settings;
mod sse;
mod web;

pub use openapi::openapi;
pub use routes::router;
pub use serve::{Shutdown, serve};
