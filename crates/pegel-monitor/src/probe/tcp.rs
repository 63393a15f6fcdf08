//! TCP ports.

use pegel_http::Outbound;

use crate::error::Error;
use crate::probe::{Observation, evidence};
use crate::target::TcpTarget;

/// Connects once, and speaks and listens if that is wanted.
pub(super) async fn observe(outbound: &Outbound, target: &TcpTarget) -> Result<Observation, Error> {
    let mut observation = evidence::of(&outbound.probe_tcp(&target.probe()?).await);
    if target.expect.is_empty()
        && let Some(fields) = observation.evidence.as_object_mut()
    {
        // A frozen process accepts, too.
        fields.insert("is_connect_only".to_owned(), true.into());
    }
    Ok(observation)
}
