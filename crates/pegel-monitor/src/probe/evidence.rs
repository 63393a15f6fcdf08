//! What an exchange saw, as it is kept and shown.

use std::time::Duration;

use pegel_core::monitor::verdict::Outcome;
use pegel_http::Error as HttpError;
use pegel_http::report::{Failure, Hop, Report, Timings};
use serde_json::{Map, Value as Json, json};

use crate::message::cut;
use crate::probe::Observation;

/// The longest excerpt of an answer, in characters.
const MAX_EXCERPT_CHARS: usize = 512;

/// Returns what one exchange says.
pub(super) fn of(report: &Report) -> Observation {
    let mut evidence = Map::new();
    let (outcome, summary) = match &report.failure {
        None => (Outcome::Ok, summary_of_success(report)),
        Some(failure) => {
            evidence.insert("code".to_owned(), failure.error.code().to_string().into());
            evidence.insert("phase".to_owned(), failure.phase.as_str().into());
            let outcome = if failure.error.is_own_fault() { Outcome::Unknown } else { Outcome::Bad };
            (outcome, failure.error.to_string())
        }
    };
    evidence.insert("hops".to_owned(), report.hops.iter().map(hop).collect());
    if let Some(answer) = &report.answer {
        evidence.insert("status".to_owned(), answer.status.into());
        evidence.insert("body_bytes".to_owned(), answer.body_bytes.into());
        evidence.insert("found".to_owned(), json!(answer.found));
        if outcome != Outcome::Ok {
            let excerpt = cut(&String::from_utf8_lossy(&answer.body), MAX_EXCERPT_CHARS);
            evidence.insert("body_excerpt".to_owned(), excerpt.into());
        }
    }
    Observation {
        outcome,
        duration_us: Some(micros(report.total)),
        summary,
        evidence: Json::Object(evidence),
        is_network: report.failure.as_ref().is_some_and(|failure| is_network(&failure.error)),
        is_timeout: matches!(&report.failure, Some(Failure { error: HttpError::Timeout { .. }, .. })),
    }
}

/// Returns what exchanges with each address of a target say: all must be well.
pub(super) fn of_each(reports: &[Report]) -> Observation {
    let all: Vec<Observation> = reports.iter().map(of).collect();
    let worst = [Outcome::Bad, Outcome::Unknown, Outcome::Ok]
        .into_iter()
        .find_map(|outcome| all.iter().find(|one| one.outcome == outcome));
    let Some(worst) = worst else { return Observation::own_fault("no address was asked") };
    let ok_count = all.iter().filter(|one| one.outcome == Outcome::Ok).count();
    let summary = match worst.outcome {
        Outcome::Ok => worst.summary.clone(),
        _ if all.len() > 1 => format!("{ok_count} of {} addresses are well: {}", all.len(), worst.summary),
        _ => worst.summary.clone(),
    };
    Observation {
        outcome: worst.outcome,
        duration_us: all.iter().filter_map(|one| one.duration_us).max(),
        summary,
        evidence: json!({ "addresses": all.iter().map(|one| &one.evidence).collect::<Vec<_>>() }),
        is_network: all.iter().all(|one| one.is_network),
        is_timeout: worst.is_timeout,
    }
}

fn summary_of_success(report: &Report) -> String {
    match &report.answer {
        Some(answer) => format!("status {} in {} ms", answer.status, report.total.as_millis()),
        None => format!("connected in {} ms", report.total.as_millis()),
    }
}

/// Whether everything fails like that when our own network is gone.
fn is_network(error: &HttpError) -> bool {
    matches!(
        error,
        HttpError::ResolveFailed { .. }
            | HttpError::ResolverUnavailable { .. }
            | HttpError::ConnectFailed { .. }
            | HttpError::Timeout { .. }
            | HttpError::ConnectionLost { .. }
    )
}

fn hop(hop: &Hop) -> Json {
    let passed = hop.passed.iter().map(|passed| {
        json!({ "address": passed.address, "code": passed.error.code().to_string(),
            "reason": passed.error.to_string() })
    });
    let tls = hop.tls.as_ref().map(|tls| {
        json!({
            "version": tls.version,
            "fault": tls.fault,
            "subject": tls.leaf.as_ref().map(|leaf| &leaf.subject),
            "not_after": tls.leaf.as_ref().map(|leaf| leaf.not_after),
            "fingerprint": tls.leaf.as_ref().map(|leaf| &leaf.fingerprint),
            "chain_not_after": tls.chain_not_after,
            "is_insecure": tls.is_insecure,
        })
    });
    json!({
        "url": hop.url,
        "address": hop.address,
        "passed": passed.collect::<Vec<_>>(),
        "status": hop.status,
        "timings_us": timings(&hop.timings),
        "tls": tls,
    })
}

fn timings(timings: &Timings) -> Json {
    json!({
        "resolve": timings.resolve.map(micros),
        "connect": timings.connect.map(micros),
        "tls": timings.tls.map(micros),
        "first_byte": timings.first_byte.map(micros),
        "body": timings.body.map(micros),
    })
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
