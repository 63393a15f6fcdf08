//! HTTP targets.

use pegel_http::Outbound;

use crate::error::Error;
use crate::probe::{Observation, evidence};
use crate::target::{AddressPolicy, HttpTarget};

/// Asks once, or each address once.
pub(super) async fn observe(
    outbound: &Outbound,
    target: &HttpTarget,
    secrets: &[(String, String)],
) -> Result<Observation, Error> {
    let (request, expect) = target.request(secrets)?;
    if target.addresses == AddressPolicy::Each {
        let reports = outbound.send_each(&request, &expect).await;
        return Ok(evidence::of_each(&reports));
    }
    Ok(evidence::of(&outbound.send(&request, &expect).await))
}
