//! The connection test, step by step.

use fluss_client::connection_test::{self as client, Check, Finding, FindingState, TestReport};
use pegel_api_types::operations::connection_test::{ConnectionTest, Verdict};
use pegel_core::envelope::{Evidence, EvidenceState, Status};
use pegel_core::error_code::{ErrorCode, ExitClass};

use crate::execution::{Answer, Execution};
use crate::failure::sight::Sight;
use crate::failure::{Failure, code_of};

/// Runs the connection test. Only for those who may see servers: each step names its address.
///
/// # Errors
/// `invalid_setting` when certificates or keys cannot be used.
pub(crate) async fn run(execution: &Execution) -> Result<Answer<ConnectionTest>, Failure> {
    let report = client::run(&execution.client).await?;
    Ok(judge(report, execution.client.settings().security_protocol().name(), execution.sight))
}

fn judge(report: TestReport, security_protocol: &'static str, sight: Sight) -> Answer<ConnectionTest> {
    let status = status(&report);
    let count = |wanted: EvidenceState| report.findings.iter().filter(|f| state(&f.state) == wanted).count();
    let has_coordinator =
        report.findings.iter().any(|f| f.check == Check::Coordinator && matches!(f.state, FindingState::Ok));
    let tablet_servers = || {
        report.findings.iter().filter(|found| found.check == Check::TabletServer && found.address.is_some())
    };
    let test = ConnectionTest {
        verdict: match report.verdict {
            client::Verdict::Passed => Verdict::Passed,
            client::Verdict::Degraded => Verdict::Degraded,
            client::Verdict::Failed => Verdict::Failed,
        },
        server_line: report.server_line.map(Into::into),
        security_protocol: security_protocol.into(),
        tablet_servers_alive_count: tablet_servers().filter(|f| matches!(f.state, FindingState::Ok)).count(),
        tablet_servers_registered_count: has_coordinator.then(|| tablet_servers().count()),
        ok_count: count(EvidenceState::Ok),
        failed_count: count(EvidenceState::Failed),
        skipped_count: count(EvidenceState::Skipped),
    };
    let evidence = report.findings.iter().map(|finding| evidence(finding, sight)).collect();
    Answer { evidence, warnings: report.warnings, ..Answer::new(status, test) }
}

/// A failed test is refused when credentials are what failed, else the cluster is unavailable.
fn status(report: &TestReport) -> Status {
    match report.verdict {
        client::Verdict::Passed => Status::Ok,
        client::Verdict::Degraded => Status::Partial,
        client::Verdict::Failed => {
            let has_metadata = report
                .findings
                .iter()
                .any(|f| f.check == Check::Metadata && matches!(f.state, FindingState::Ok));
            let is_refused = report
                .findings
                .iter()
                .any(|finding| code(finding).is_some_and(|code| code.exit_class() == ExitClass::Refused));
            if is_refused && !has_metadata { Status::Refused } else { Status::Unavailable }
        }
    }
}

fn state(state: &FindingState) -> EvidenceState {
    match state {
        FindingState::Ok => EvidenceState::Ok,
        FindingState::Failed(_) => EvidenceState::Failed,
        FindingState::Skipped => EvidenceState::Skipped,
    }
}

fn code(finding: &Finding) -> Option<ErrorCode> {
    match &finding.state {
        FindingState::Failed(error) => Some(code_of(error)),
        FindingState::Ok | FindingState::Skipped => None,
    }
}

fn evidence(finding: &Finding, sight: Sight) -> Evidence {
    let failure = match &finding.state {
        FindingState::Failed(error) => Some(Failure::from(error)),
        FindingState::Ok | FindingState::Skipped => None,
    };
    let is_skipped = matches!(finding.state, FindingState::Skipped);
    Evidence {
        check: finding.check.name().into(),
        subject: finding.address.as_ref().map(ToString::to_string),
        state: state(&finding.state),
        code: code(finding),
        message: match &failure {
            // The finding's own words are kept where they say more than the error does.
            Some(failure) if finding.address.is_some() => failure.told(sight),
            _ => finding.detail.clone(),
        },
        hint: failure.and_then(|failure| failure.hint),
        duration_ms: (!is_skipped).then(|| u64::try_from(finding.duration.as_millis()).unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fluss_client::bootstrap::HostPort;
    use fluss_client::error::{AuthenticationFault, Error};

    use super::*;

    fn finding(check: Check, state: FindingState) -> Finding {
        let address = Some(HostPort::new("a", 1).unwrap());
        Finding { check, address, state, duration: Duration::from_millis(3), detail: "seen".to_owned() }
    }

    fn report(verdict: client::Verdict, findings: Vec<Finding>) -> TestReport {
        TestReport { verdict, findings, server_line: None, warnings: Vec::new() }
    }

    fn wrong_password() -> FindingState {
        let address = HostPort::new("a", 1).unwrap();
        FindingState::Failed(Error::Authentication {
            address,
            fault: AuthenticationFault::Credentials,
            source: None,
        })
    }

    #[test]
    fn failed_authentication_is_refused_and_a_dead_port_is_unavailable() {
        let refused = report(
            client::Verdict::Failed,
            vec![finding(Check::Tcp, FindingState::Ok), finding(Check::Authentication, wrong_password())],
        );
        assert_eq!(status(&refused), Status::Refused);
        let dead = FindingState::Failed(Error::DialTimeout {
            address: HostPort::new("a", 1).unwrap(),
            timeout_ms: 1,
        });
        assert_eq!(
            status(&report(client::Verdict::Failed, vec![finding(Check::Tcp, dead)])),
            Status::Unavailable
        );
        let mixed = report(
            client::Verdict::Failed,
            vec![finding(Check::Metadata, FindingState::Ok), finding(Check::TabletServer, wrong_password())],
        );
        assert_eq!(status(&mixed), Status::Unavailable);
    }

    #[test]
    fn each_step_is_evidence_with_its_time_and_a_skipped_one_has_none() {
        let answer = judge(
            report(
                client::Verdict::Failed,
                vec![
                    finding(Check::Authentication, wrong_password()),
                    finding(Check::Metadata, FindingState::Skipped),
                ],
            ),
            "SASL_PLAINTEXT",
            Sight::Everything,
        );
        let [failed, skipped] = answer.evidence.as_slice() else { panic!("{answer:?}") };
        assert_eq!((failed.code, failed.duration_ms), (Some(ErrorCode::AuthenticationFailed), Some(3)));
        assert!(failed.hint.is_some());
        assert_eq!((skipped.state, skipped.duration_ms), (EvidenceState::Skipped, None));
        let test = answer.data.unwrap();
        assert_eq!((test.ok_count, test.failed_count, test.skipped_count), (0, 1, 1));
        assert_eq!(test.tablet_servers_registered_count, None);
    }
}
