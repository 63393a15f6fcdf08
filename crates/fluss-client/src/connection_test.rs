//! The connection test: what works and what does not, step by step.
//!
//! Every bootstrap address is tried on its own fresh connection: TCP, TLS,
//! negotiation, authentication, metadata. Then the coordinator that metadata
//! names must answer as itself, and the tablet servers are asked one by one. An
//! open port proves nothing. Requests keep to the request budget, and the waiting
//! counts for no step.

use std::sync::Arc;
use std::time::Duration;

use fluss_codec::messages::{ListDatabasesRequest, MetadataRequest};
use fluss_codec::server_type::ServerType;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::bootstrap::HostPort;
use crate::client::{ClusterMetadata, FlussClient, ServerNode, read_cluster};
use crate::clock;
use crate::connection::{Connection, Limits};
use crate::dial::{Dialer, Stream};
use crate::error::{Error, server_type_word};
use crate::observer::Observer;
use crate::parallel::in_parallel;
use crate::settings::{ConnectionSettings, SecurityProtocol};

/// Most tablet servers that are asked at the same time.
const PARALLEL_PROBES: usize = 16;
/// Most tablet servers whose probes take shares of the request budget; those of a larger cluster are asked on
/// top, since the test would take too long.
const PACED_PROBES: usize = 250;

/// One step of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Name resolution and TCP connection.
    Tcp,
    /// TLS session and certificate.
    Tls,
    /// Fluss version request.
    Negotiation,
    /// SASL.
    Authentication,
    /// Request for the cluster's servers.
    Metadata,
    /// The one coordinator answers as itself.
    Coordinator,
    /// A tablet server named by metadata answers.
    TabletServer,
    /// The coordinator lists the databases, for which it needs ZooKeeper.
    Catalog,
}

impl Check {
    /// Returns the step's name as written in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Negotiation => "negotiation",
            Self::Authentication => "authentication",
            Self::Metadata => "metadata",
            Self::Coordinator => "coordinator",
            Self::TabletServer => "tablet_server",
            Self::Catalog => "catalog",
        }
    }
}

/// How one step ended.
#[derive(Debug, Clone)]
pub enum FindingState {
    /// It worked.
    Ok,
    /// It did not.
    Failed(Error),
    /// It was not tried, because a step before it failed.
    Skipped,
}

/// The result of one step.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which step.
    pub check: Check,
    /// Address it concerns, absent when metadata named none.
    pub address: Option<HostPort>,
    /// How it ended.
    pub state: FindingState,
    /// Time it took; zero when it was not tried.
    pub duration: Duration,
    /// What was seen, in a few words.
    pub detail: String,
}

/// The outcome of the whole test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that was tried works.
    Passed,
    /// The cluster can be used, but an address or a tablet server does not answer.
    Degraded,
    /// The cluster cannot be used through these settings.
    Failed,
}

impl Verdict {
    /// Returns the verdict as written in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
        }
    }
}

/// All findings, in the order in which a person reads them.
#[derive(Debug, Clone)]
pub struct TestReport {
    /// The outcome.
    pub verdict: Verdict,
    /// Each step of each address, then the coordinator, then the tablet servers.
    pub findings: Vec<Finding>,
    /// Version line of the servers, as `0.9` or `1.0`, guessed from what the coordinator offers.
    pub server_line: Option<&'static str>,
    /// Things that work but should not stay as they are.
    pub warnings: Vec<String>,
}

/// Runs the connection test with a client's settings, on connections of its own. Takes at most
/// the dial and request limits of a few steps in a row.
///
/// # Errors
/// `invalid_setting` when certificates or keys cannot be used. Everything that
/// happens on the network is a finding.
pub async fn run(client: &FlussClient) -> Result<TestReport, Error> {
    let settings = client.settings();
    let prober = Arc::new(Prober::new(client)?);
    let (findings, seen) = prober.probe_bootstrap().await;
    let mut report =
        TestReport { verdict: Verdict::Failed, findings, server_line: None, warnings: warnings(settings) };
    let coordinator = prober.find_coordinator(&seen, &mut report).await;
    // Without a coordinator whoever answered still knows whom to ask; the verdict stays "failed".
    if let Some(metadata) = coordinator.as_ref().or_else(|| seen.first()) {
        prober.probe_tablet_servers(metadata, &mut report).await;
    }
    if let Some(metadata) = &coordinator {
        prober.probe_catalog(&metadata.answered_by, &mut report).await;
    }
    report.verdict = verdict(&report.findings);
    Ok(report)
}

/// Asks one server, step by step on a connection of its own, up to the cluster's servers. Takes at most the dial
/// and request limits of these steps.
///
/// # Errors
/// `invalid_setting` when certificates or keys cannot be used. Everything that happens on the network is a
/// finding.
pub async fn probe_server(client: &FlussClient, address: &HostPort) -> Result<Vec<Finding>, Error> {
    Ok(Prober::new(client)?.probe_address(address).await.findings)
}

/// Asks each bootstrap address who the coordinator is, and those that are named whether they are; the findings
/// end with what these said.
///
/// # Errors
/// As [`probe_server`].
pub async fn probe_coordinator(client: &FlussClient) -> Result<Vec<Finding>, Error> {
    let prober = Arc::new(Prober::new(client)?);
    let (findings, seen) = prober.probe_bootstrap().await;
    let mut report =
        TestReport { verdict: Verdict::Failed, findings, server_line: None, warnings: Vec::new() };
    prober.find_coordinator(&seen, &mut report).await;
    Ok(report.findings)
}

fn warnings(settings: &ConnectionSettings) -> Vec<String> {
    let mut warnings = Vec::new();
    if settings.skips_verification() {
        warnings.push("certificates are not verified (tls_skip_verify): anyone in between can read and change everything".to_owned());
    }
    if settings.security_protocol() == SecurityProtocol::SaslPlaintext {
        warnings.push("SASL_PLAINTEXT sends the password unencrypted".to_owned());
    }
    if settings.bootstrap().addresses().len() == 1 {
        warnings.push(
            "only one bootstrap address: when its server is down the cluster cannot be found".to_owned(),
        );
    }
    warnings
}

/// Judges by what must hold: an address that leads to metadata, one coordinator that
/// answers as itself, at least one tablet server alive.
fn verdict(findings: &[Finding]) -> Verdict {
    let has_ok =
        |check| findings.iter().any(|found| found.check == check && matches!(found.state, FindingState::Ok));
    let coordinators = findings.iter().filter(|found| found.check == Check::Coordinator);
    if coordinators.filter(|found| matches!(found.state, FindingState::Ok)).count() > 1 {
        return Verdict::Failed;
    }
    if !has_ok(Check::Metadata) || !has_ok(Check::Coordinator) || !has_ok(Check::TabletServer) {
        return Verdict::Failed;
    }
    let all_ok = findings.iter().all(|found| matches!(found.state, FindingState::Ok));
    if all_ok { Verdict::Passed } else { Verdict::Degraded }
}

/// What one bootstrap address showed.
struct Probe {
    findings: Vec<Finding>,
    metadata: Option<ClusterMetadata>,
}

struct Prober {
    /// Whose budget paces the requests; its connections are not used.
    client: FlussClient,
    settings: ConnectionSettings,
    dialer: Dialer,
    limits: Limits,
    observer: Arc<dyn Observer>,
}

/// Collects the findings of the steps of one address.
struct Steps<'a> {
    address: &'a HostPort,
    findings: Vec<Finding>,
}

impl Steps<'_> {
    /// Notes how a step ended and passes its value on.
    fn note<T>(&mut self, check: Check, started: Instant, result: Result<(T, String), Error>) -> Option<T> {
        let duration = clock::now() - started;
        let (value, state, detail) = match result {
            Ok((value, detail)) => (Some(value), FindingState::Ok, detail),
            Err(error) => (None, FindingState::Failed(error.clone()), error.to_string()),
        };
        self.findings.push(Finding { check, address: Some(self.address.clone()), state, duration, detail });
        value
    }
}

impl Prober {
    fn new(client: &FlussClient) -> Result<Self, Error> {
        let settings = client.settings();
        Ok(Self {
            client: client.clone(),
            settings: settings.clone(),
            dialer: Dialer::new(settings)?,
            limits: Limits {
                request_timeout: settings.request_timeout(),
                max_frame_bytes: settings.max_frame_bytes,
            },
            observer: client.observer(),
        })
    }

    /// Tries all bootstrap addresses at the same time; what they showed is in their order.
    async fn probe_bootstrap(self: &Arc<Self>) -> (Vec<Finding>, Vec<ClusterMetadata>) {
        let mut probing = JoinSet::new();
        for (position, address) in self.settings.bootstrap().addresses().iter().cloned().enumerate() {
            let prober = Arc::clone(self);
            probing.spawn(async move { (position, prober.probe_address(&address).await) });
        }
        let mut probes = probing.join_all().await;
        probes.sort_by_key(|(position, _)| *position);
        let mut findings = Vec::new();
        let mut seen = Vec::new();
        for (_, probe) in probes {
            findings.extend(probe.findings);
            seen.extend(probe.metadata);
        }
        (findings, seen)
    }

    async fn probe_address(&self, address: &HostPort) -> Probe {
        let mut steps = Steps { address, findings: Vec::new() };
        let metadata = self.climb(&mut steps).await;
        let mut findings = steps.findings;
        let uses_tls = self.settings.security_protocol().uses_tls();
        let uses_sasl = self.settings.security_protocol().uses_sasl();
        for check in [Check::Tcp, Check::Tls, Check::Negotiation, Check::Authentication, Check::Metadata] {
            let applies = match check {
                Check::Tls => uses_tls,
                Check::Authentication => uses_sasl,
                _ => true,
            };
            if applies && !findings.iter().any(|found| found.check == check) {
                findings.push(Finding {
                    check,
                    address: Some(address.clone()),
                    state: FindingState::Skipped,
                    duration: Duration::ZERO,
                    detail: "not tried, since a step before it failed".to_owned(),
                });
            }
        }
        Probe { findings, metadata }
    }

    /// Takes the steps one after another until one fails.
    async fn climb(&self, steps: &mut Steps<'_>) -> Option<ClusterMetadata> {
        let address = steps.address;
        let started = clock::now();
        let deadline = self.dialer.deadline();
        let tcp = steps.note(Check::Tcp, started, self.reach(address, deadline).await)?;
        let stream = if self.dialer.uses_tls() {
            let started = clock::now();
            let secured = self.dialer.secure(address, tcp, deadline).await;
            let seen = if self.settings.skips_verification() {
                "session made, certificate not verified"
            } else {
                "certificate accepted"
            };
            let detail = |stream: Stream| (stream, seen.to_owned());
            steps.note(Check::Tls, started, secured.map(detail))?
        } else {
            Stream::Plain(tcp)
        };
        self.client.take_shares(1).await;
        let started = clock::now();
        let connection = steps.note(Check::Negotiation, started, self.negotiate(address, stream).await)?;
        if let Some(credentials) = self.settings.sasl() {
            self.client.take_shares(1).await;
            let started = clock::now();
            let result = connection.authenticate(credentials, self.limits.request_timeout).await;
            let detail = |()| ((), format!("accepted as {}", credentials.username()));
            steps.note(Check::Authentication, started, result.map(detail))?;
        }
        self.client.take_shares(1).await;
        let started = clock::now();
        steps.note(Check::Metadata, started, self.ask_metadata(&connection).await)
    }

    async fn reach(
        &self,
        address: &HostPort,
        deadline: Instant,
    ) -> Result<(tokio::net::TcpStream, String), Error> {
        let addresses = self.dialer.resolve(address, deadline).await?;
        let tcp = self.dialer.connect(address, &addresses, deadline).await?;
        let peer = tcp.peer_addr().map_or_else(|_| String::new(), |peer| format!("connected to {peer}"));
        Ok((tcp, peer))
    }

    async fn negotiate(&self, address: &HostPort, stream: Stream) -> Result<(Connection, String), Error> {
        let has_sasl = self.settings.sasl().is_some();
        let observer = Arc::clone(&self.observer);
        let connection =
            Connection::negotiate(address, stream, has_sasl, &self.limits, observer, &self.dialer).await?;
        let detail = format!(
            "{} of the {} line",
            server_type_word(connection.server_type()),
            connection.versions().map_or("unknown", |versions| versions.server_line()),
        );
        Ok((connection, detail))
    }

    async fn ask_metadata(&self, connection: &Connection) -> Result<(ClusterMetadata, String), Error> {
        let deadline = clock::deadline_in(self.limits.request_timeout);
        let answer =
            connection.request(&MetadataRequest::default(), deadline, self.limits.request_timeout).await?;
        let metadata = read_cluster(&answer, connection, &self.settings);
        let coordinator = match &metadata.coordinator {
            Some(node) => format!("coordinator {}", node.advertised),
            None => "no coordinator".to_owned(),
        };
        let detail = format!("{coordinator}, {} tablet servers registered", metadata.tablet_servers.len());
        Ok((metadata, detail))
    }

    /// Finds the one coordinator that answers as itself among those that metadata names.
    ///
    /// A server may lag behind and name a coordinator that has gone; two that answer are
    /// two clusters.
    async fn find_coordinator(
        &self,
        seen: &[ClusterMetadata],
        report: &mut TestReport,
    ) -> Option<ClusterMetadata> {
        let mut named: Vec<&ServerNode> = Vec::new();
        for node in seen.iter().filter_map(|metadata| metadata.coordinator.as_ref()) {
            if !named.iter().any(|known| known.advertised == node.advertised) {
                named.push(node);
            }
        }
        let missing = match (seen.is_empty(), named.is_empty()) {
            (true, _) => Some((FindingState::Skipped, "no address gave metadata")),
            (_, true) => {
                let error = Error::CoordinatorUnavailable { address: None, source: None };
                Some((FindingState::Failed(error), "metadata names no coordinator"))
            }
            _ => None,
        };
        if let Some((state, detail)) = missing {
            report.findings.push(coordinator_finding(None, state, detail));
            return None;
        }
        let mut answering: Vec<ClusterMetadata> = Vec::new();
        for node in named {
            self.client.take_shares(self.client.shares_to_open() + 1).await;
            let started = clock::now();
            let address = node.address.as_ref().ok().cloned();
            let asked = match &node.address {
                Ok(address) => self.ask_coordinator(address).await,
                Err(error) => Err(error.clone()),
            };
            let (state, detail) = match asked {
                Ok((metadata, line)) => {
                    report.server_line = line;
                    answering.push(metadata);
                    (FindingState::Ok, "answers as coordinator".to_owned())
                }
                Err(error) => {
                    let source = Some(Box::new(error));
                    let error = Error::CoordinatorUnavailable { address: address.clone(), source };
                    let detail = error_with_cause(&error);
                    (FindingState::Failed(error), detail)
                }
            };
            let mut finding = coordinator_finding(address, state, &detail);
            finding.duration = clock::now() - started;
            report.findings.push(finding);
        }
        if answering.len() > 1 {
            let names: Vec<String> = answering.iter().map(|one| one.answered_by.to_string()).collect();
            let reason = format!("the addresses lead to different coordinators: {}", names.join(", "));
            let error = Error::InvalidSetting { field: "endpoint", reason: reason.clone() };
            report.findings.push(coordinator_finding(None, FindingState::Failed(error), &reason));
            return None;
        }
        answering.pop()
    }

    async fn ask_coordinator(
        &self,
        address: &HostPort,
    ) -> Result<(ClusterMetadata, Option<&'static str>), Error> {
        let connection = self.open(address, ServerType::Coordinator).await?;
        let (metadata, _) = self.ask_metadata(&connection).await?;
        Ok((metadata, connection.versions().map(|versions| versions.server_line())))
    }

    /// Asks each tablet server that the coordinator names whether it answers.
    async fn probe_tablet_servers(self: &Arc<Self>, metadata: &ClusterMetadata, report: &mut TestReport) {
        if metadata.tablet_servers.is_empty() {
            report.findings.push(Finding {
                check: Check::TabletServer,
                address: None,
                state: FindingState::Failed(Error::NoTabletServer { address: metadata.answered_by.clone() }),
                duration: Duration::ZERO,
                detail: "no tablet server is registered".to_owned(),
            });
        }
        // However many there are, the test ends after what a few steps in a row may take.
        let deadline = clock::deadline_in((self.settings.dial_timeout() + self.limits.request_timeout) * 3);
        let ask = |(place, node): (usize, ServerNode)| {
            let prober = Arc::clone(self);
            async move {
                let probe = async {
                    if place < PACED_PROBES {
                        prober.client.take_shares(prober.client.shares_to_open()).await;
                    }
                    let started = clock::now();
                    let result = match &node.address {
                        Ok(address) => prober.open(address, ServerType::TabletServer).await,
                        Err(error) => Err(error.clone()),
                    };
                    (result, clock::now() - started)
                };
                let probed = timeout_at(deadline, probe).await;
                (node, probed)
            }
        };
        let nodes = metadata.tablet_servers.iter().cloned().enumerate().collect();
        let probed = in_parallel(nodes, PARALLEL_PROBES, ask).await;
        report.findings.extend(probed.into_iter().map(|(node, probed)| {
            let (state, detail, duration) = match probed {
                Ok((Ok(_), took)) => (FindingState::Ok, format!("tablet server {} answers", node.id), took),
                Ok((Err(error), took)) => {
                    let detail = format!("tablet server {}: {}", node.id, error_with_cause(&error));
                    (FindingState::Failed(error), detail, took)
                }
                Err(_) => {
                    let detail = format!("tablet server {}: no time was left", node.id);
                    (FindingState::Skipped, detail, Duration::ZERO)
                }
            };
            Finding { check: Check::TabletServer, address: node.address.ok(), state, duration, detail }
        }));
    }

    /// Lists the databases: an empty list is an answer too.
    async fn probe_catalog(&self, coordinator: &HostPort, report: &mut TestReport) {
        self.client.take_shares(self.client.shares_to_open() + 1).await;
        let started = clock::now();
        let limit = self.limits.request_timeout;
        let listed = match self.open(coordinator, ServerType::Coordinator).await {
            Ok(connection) => {
                let request = ListDatabasesRequest { include_summary: None };
                connection.request(&request, clock::deadline_in(limit), limit).await
            }
            Err(error) => Err(error),
        };
        let (state, detail) = match listed {
            Ok(answer) => (FindingState::Ok, format!("{} databases may be seen", answer.database_name.len())),
            Err(error) => {
                let detail = error_with_cause(&error);
                (FindingState::Failed(error), detail)
            }
        };
        let duration = clock::now() - started;
        report.findings.push(Finding {
            check: Check::Catalog,
            address: Some(coordinator.clone()),
            state,
            duration,
            detail,
        });
    }

    /// Dials, negotiates and authenticates, and checks what kind of server answers.
    async fn open(&self, address: &HostPort, expected: ServerType) -> Result<Connection, Error> {
        let stream = self.dialer.dial(address).await?;
        let observer = Arc::clone(&self.observer);
        let connection =
            Connection::open(address, stream, self.settings.sasl(), &self.limits, observer, &self.dialer)
                .await?;
        if connection.server_type() == Some(expected) {
            Ok(connection)
        } else {
            Err(Error::WrongServerType {
                address: address.clone(),
                expected: server_type_word(Some(expected)),
                found: server_type_word(connection.server_type()),
            })
        }
    }
}

fn coordinator_finding(address: Option<HostPort>, state: FindingState, detail: &str) -> Finding {
    Finding { check: Check::Coordinator, address, state, duration: Duration::ZERO, detail: detail.to_owned() }
}

/// Joins an error and its causes into one line.
fn error_with_cause(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
