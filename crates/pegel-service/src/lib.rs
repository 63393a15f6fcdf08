//! Everything a user can ask of Pegel, in one place: permission, scope, limits and audit live here.
//!
//! The faces (web, API, command line, MCP) authenticate a [`caller::Caller`], get an
//! [`policy::Authorized`] handle for one permission on one target, and pass it to a service function, which
//! cannot be called without. Nothing here knows HTTP.
//!
//! ```compile_fail
//! // A handle of another permission is not taken.
//! use pegel_service::people::People;
//! use pegel_service::policy::{Authorized, permission::UsersRead};
//! async fn remove(people: &People, may: &Authorized<UsersRead>, id: uuid::Uuid) {
//!     let _ = people.delete_user(may, id).await;
//! }
//! ```
//!
//! ```
//! // The right one is.
//! use pegel_service::people::People;
//! use pegel_service::policy::{Authorized, permission::UsersWrite};
//! async fn remove(people: &People, may: &Authorized<UsersWrite>, id: uuid::Uuid) {
//!     let _ = people.delete_user(may, id).await;
//! }
//! ```
//!
//! ```compile_fail
//! // Nobody but the policy makes one.
//! use pegel_service::policy::{Authorized, permission::UsersWrite};
//! fn forge(caller: pegel_service::caller::Caller) -> Authorized<UsersWrite> {
//!     Authorized { caller, target: pegel_service::policy::OwnedTarget::Global, permission: std::marker::PhantomData }
//! }
//! ```

pub mod alerting;
pub mod caller;
pub mod catalog;
pub mod changes;
mod clock;
pub mod clusters;
pub mod cursor;
pub mod error;
pub mod execution;
pub mod failure;
mod journal;
pub mod live;
pub mod local;
pub mod monitoring;
pub mod people;
pub mod policy;
pub mod service;

pub use error::Error;
pub use service::{Service, ServiceSettings};
