//! Fluss servers, asked in their own protocol, step by step on a connection of their own.
//!
//! A process that is frozen still accepts connections; only an answer says that somebody is there.

use std::time::Duration;

use fluss_client::client::FlussClient;
use fluss_client::connection_test::{self, Check, Finding, FindingState};
use pegel_core::monitor::verdict::Outcome;
use serde_json::{Value as Json, json};
use tokio::time::timeout_at;

use crate::clock;
use crate::error::Error;
use crate::probe::Observation;
use crate::target::FlussTarget;

/// How long to wait until a coordinator is looked for again, while another may be taking over.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Asks one server, or the first bootstrap server, for the cluster's servers.
pub(super) async fn observe_server(client: FlussClient, target: &FlussTarget) -> Result<Observation, Error> {
    let deadline = clock::now() + target.deadline()?;
    let started = clock::now();
    let address = match &target.address {
        Some(address) => Some(address.parse().map_err(|error| Error::invalid("target.address", error))?),
        None => client.settings().bootstrap().addresses().first().cloned(),
    };
    let address = address.ok_or_else(|| Error::invalid("target.address", "there is no address"))?;
    let probed = timeout_at(deadline, connection_test::probe_server(&client, &address)).await;
    let findings = match probed {
        Ok(findings) => findings.map_err(|error| Error::invalid("cluster", error))?,
        Err(_) => return Ok(late(started, "no end of the steps within the deadline", &[])),
    };
    let failed = findings.iter().find(|finding| matches!(finding.state, FindingState::Failed(_)));
    Ok(match failed {
        None => {
            let metadata = findings.iter().find(|finding| finding.check == Check::Metadata);
            seen(Outcome::Ok, metadata.map_or("it answers", |finding| &finding.detail), started, &findings)
        }
        Some(failed) => {
            let summary = format!("{} failed: {}", failed.check.name(), failed.detail);
            let mut observation = seen(Outcome::Bad, &summary, started, &findings);
            observation.is_network = failed.check == Check::Tcp;
            observation
        }
    })
}

/// Looks for the one coordinator that answers as itself, as long as the deadline allows: another one may just
/// be taking over, which is no outage.
pub(super) async fn observe_coordinator(
    client: FlussClient,
    target: &FlussTarget,
) -> Result<Observation, Error> {
    let deadline = clock::now() + target.deadline()?;
    let started = clock::now();
    let mut last: Vec<Finding> = Vec::new();
    let mut look_count = 0_u32;
    loop {
        let probed = timeout_at(deadline, connection_test::probe_coordinator(&client)).await;
        let Ok(findings) = probed else { break };
        let findings = findings.map_err(|error| Error::invalid("cluster", error))?;
        look_count += 1;
        let coordinators = findings.iter().filter(|finding| finding.check == Check::Coordinator);
        let leaders: Vec<&Finding> =
            coordinators.filter(|finding| matches!(finding.state, FindingState::Ok)).collect();
        if let [leader] = leaders.as_slice() {
            let address = leader.address.as_ref().map(ToString::to_string).unwrap_or_default();
            let summary = format!("{address} is the coordinator");
            return Ok(seen(Outcome::Ok, &summary, started, &findings));
        }
        if leaders.len() > 1 {
            let summary = "the addresses lead to different coordinators";
            return Ok(seen(Outcome::Bad, summary, started, &findings));
        }
        last = findings;
        if timeout_at(deadline, tokio::time::sleep(BETWEEN_LOOKS)).await.is_err() {
            break;
        }
    }
    let is_unreachable =
        !last.is_empty() && last.iter().all(|finding| !matches!(finding.state, FindingState::Ok));
    let why = last.iter().rev().find(|finding| matches!(finding.state, FindingState::Failed(_)));
    let why = why.map(|finding| format!(": {}", finding.detail)).unwrap_or_default();
    let summary = format!("no coordinator answered in {look_count} looks{why}");
    let mut observation = late(started, &summary, &last);
    observation.is_network = is_unreachable;
    Ok(observation)
}

fn late(started: tokio::time::Instant, summary: &str, findings: &[Finding]) -> Observation {
    Observation { is_timeout: true, ..seen(Outcome::Bad, summary, started, findings) }
}

fn seen(outcome: Outcome, summary: &str, started: tokio::time::Instant, findings: &[Finding]) -> Observation {
    let took = clock::now().saturating_duration_since(started);
    Observation {
        outcome,
        duration_us: Some(u64::try_from(took.as_micros()).unwrap_or(u64::MAX)),
        summary: summary.to_owned(),
        evidence: json!({ "steps": findings.iter().map(step).collect::<Vec<_>>() }),
        is_network: false,
        is_timeout: false,
    }
}

fn step(finding: &Finding) -> Json {
    let (state, code) = match &finding.state {
        FindingState::Ok => ("ok", None),
        FindingState::Failed(error) => ("failed", Some(error.code())),
        FindingState::Skipped => ("skipped", None),
    };
    json!({
        "step": finding.check.name(),
        "address": finding.address.as_ref().map(ToString::to_string),
        "state": state,
        "code": code,
        "duration_us": u64::try_from(finding.duration.as_micros()).unwrap_or(u64::MAX),
        "detail": finding.detail,
    })
}
