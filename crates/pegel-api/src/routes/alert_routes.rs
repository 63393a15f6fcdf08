//! The routes from a firing monitor to people.

mod list_routes;
mod preview_routes;
mod replace_routes;

use crate::endpoint::Endpoint;

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![list_routes::endpoint(), replace_routes::endpoint(), preview_routes::endpoint()]
}
