//! One execution against one cluster: the client, who answered, how long it took.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fluss_client::client::FlussClient;
use fluss_client::observer::{Event, Observer};
use fluss_client::settings::{ConnectionSettings, SaslCredentials};
use pegel_core::envelope::{Envelope, Evidence, EvidenceState, ServerShare, Source, Status};
use uuid::Uuid;

use crate::clock;
use crate::failure::{Failure, code_of_name};

/// Most repeated requests that are told one by one.
const MAX_RETRIES_TOLD: usize = 20;

/// One execution against one cluster.
pub(crate) struct Session {
    /// The client to ask with.
    pub(crate) client: FlussClient,
    recorder: Arc<Recorder>,
    context: Context,
}

/// What every answer of an execution carries.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) execution_id: Uuid,
    pub(crate) cluster: String,
    pub(crate) started: Instant,
}

/// An answer before it is put into its envelope.
#[derive(Debug)]
pub(crate) struct Answer<T> {
    pub(crate) status: Status,
    pub(crate) data: Option<T>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) warnings: Vec<String>,
}

impl<T> Answer<T> {
    /// Makes an answer that says nothing but its data.
    pub(crate) fn new(status: Status, data: T) -> Self {
        Self { status, data: Some(data), evidence: Vec::new(), warnings: Vec::new() }
    }
}

impl Context {
    /// Starts an execution against the cluster behind `settings`.
    pub(crate) fn new(settings: &ConnectionSettings) -> Self {
        Self {
            execution_id: clock::execution_id(),
            cluster: settings.bootstrap().to_string(),
            started: clock::instant(),
        }
    }

    /// Puts an answer into its envelope.
    pub(crate) fn seal<T>(&self, answer: Answer<T>, servers: Vec<ServerShare>) -> Envelope<T> {
        Envelope {
            status: answer.status,
            execution_id: self.execution_id,
            observed_at: clock::now(),
            source: Source {
                cluster: self.cluster.clone(),
                servers,
                duration_ms: clock::millis_since(self.started),
            },
            data: answer.data,
            evidence: answer.evidence,
            warnings: answer.warnings,
        }
    }
}

impl Session {
    /// Makes a session. Nothing is dialled yet.
    ///
    /// # Errors
    /// `invalid_setting` when certificates or keys cannot be used.
    pub(crate) fn open(settings: ConnectionSettings) -> Result<Self, Failure> {
        let context = Context::new(&settings);
        let recorder = Arc::new(Recorder::default());
        let client = FlussClient::with_observer(settings, Arc::new(Arc::clone(&recorder)))?;
        Ok(Self { client, recorder, context })
    }

    /// Returns what to say below a list that the cluster may have shortened.
    ///
    /// Servers leave out, without a word, what a principal may not see. Someone without a
    /// name mostly sees all or nothing, so that nothing is worth the words.
    pub(crate) fn filter_warning(&self, is_empty: bool) -> Option<String> {
        let sasl = self.client.settings().sasl();
        let who = sasl.map_or("this connection", SaslCredentials::username);
        (is_empty || sasl.is_some()).then(|| {
            format!("may be filtered by the cluster's permissions: only what {who} may see is listed")
        })
    }

    /// Puts an answer into its envelope.
    pub(crate) fn seal<T>(&self, mut answer: Answer<T>) -> Envelope<T> {
        answer.evidence.extend(self.recorder.retries());
        self.context.seal(answer, self.recorder.shares())
    }

    /// Makes the envelope of an answer that failed, or nothing when the question itself was wrong.
    pub(crate) fn seal_failure<T>(&self, failure: &Failure, check: &'static str) -> Option<Envelope<T>> {
        let status = Status::of_failure(failure.code)?;
        let evidence = vec![failure.evidence(check)];
        Some(self.seal(Answer { status, data: None, evidence, warnings: Vec::new() }))
    }

    /// Returns the id of this execution.
    pub(crate) fn execution_id(&self) -> Uuid {
        self.context.execution_id
    }
}

/// Takes note of who answered what and what had to be repeated.
#[derive(Default)]
struct Recorder(Mutex<Record>);

#[derive(Default)]
struct Record {
    shares: BTreeMap<String, (BTreeSet<&'static str>, u64)>,
    retries: Vec<(&'static str, u32, &'static str)>,
}

impl Observer for Recorder {
    fn observe(&self, event: &Event<'_>) {
        log(event);
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            // A refusal is an answer too; silence and broken connections are none.
            Event::Request { address, api, error: None | Some("server_error"), .. } => {
                let share = record.shares.entry(address.to_string()).or_default();
                share.0.insert(api);
                share.1 += 1;
            }
            Event::Retry { api, attempt, error } if record.retries.len() < MAX_RETRIES_TOLD => {
                record.retries.push((api, *attempt, error));
            }
            _ => {}
        }
    }
}

/// Writes down what the client does, for those who asked for it.
fn log(event: &Event<'_>) {
    match event {
        Event::Dial { address, error, duration } => {
            tracing::debug!(%address, error, ?duration, "dialled");
        }
        Event::Request { address, api, error, duration } => {
            tracing::debug!(%address, api, error, ?duration, "asked");
        }
        Event::Retry { api, attempt, error } => tracing::info!(api, attempt, error, "asking again"),
        Event::LateAnswer { address } => tracing::info!(%address, "an answer came too late"),
        Event::DecodeFailure { address } => tracing::warn!(%address, "an answer could not be read"),
        Event::ConnectionClosed { address } => tracing::debug!(%address, "connection ended"),
        Event::Throttled { duration } => tracing::debug!(?duration, "waited for the request budget"),
        _ => {}
    }
}

impl Recorder {
    fn shares(&self) -> Vec<ServerShare> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let share = |(address, (apis, count)): (&String, &(BTreeSet<&'static str>, u64))| ServerShare {
            address: address.clone(),
            answered: apis.iter().copied().collect(),
            answer_count: *count,
        };
        record.shares.iter().map(share).collect()
    }

    fn retries(&self) -> Vec<Evidence> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let retry = |(api, attempt, error): &(&'static str, u32, &'static str)| Evidence {
            check: "retry",
            subject: Some((*api).to_owned()),
            state: EvidenceState::Failed,
            code: Some(code_of_name(error)),
            message: format!("attempt {attempt} failed and was repeated"),
            hint: None,
            duration_ms: None,
        };
        record.retries.iter().map(retry).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fluss_client::bootstrap::HostPort;
    use pegel_core::error_code::ErrorCode;

    use super::*;

    #[test]
    fn answers_and_refusals_count_as_answers_and_silence_does_not() {
        let recorder = Recorder::default();
        let address = HostPort::new("a", 1).unwrap();
        for error in [None, Some("server_error"), Some("request_timeout"), Some("connection_lost")] {
            let duration = Duration::ZERO;
            recorder.observe(&Event::Request { address: &address, api: "LIST_ACLS", error, duration });
        }
        let shares = recorder.shares();
        assert_eq!(shares.len(), 1);
        assert_eq!((shares[0].answer_count, shares[0].answered.as_slice()), (2, ["LIST_ACLS"].as_slice()));
    }

    #[test]
    fn repeated_requests_are_told_up_to_a_limit() {
        let recorder = Recorder::default();
        for attempt in 1..=50 {
            recorder.observe(&Event::Retry { api: "GET_METADATA", attempt, error: "request_timeout" });
        }
        let retries = recorder.retries();
        assert_eq!(retries.len(), MAX_RETRIES_TOLD);
        assert_eq!(retries[0].code, Some(ErrorCode::RequestTimeout));
    }
}
