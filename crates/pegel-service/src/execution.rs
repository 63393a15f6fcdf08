//! One execution: a client handle that tells who answered what, and how the answer is sealed.
//!
//! An execution belongs to one question of one caller. Its handle shares connections with every other
//! execution on the cluster and records its own requests only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fluss_client::client::FlussClient;
use fluss_client::observer::{Event, Observer};
use fluss_client::settings::SaslCredentials;
use jiff::Timestamp;
use pegel_core::clock::Clock;
use pegel_core::envelope::{Envelope, Evidence, EvidenceState, ServerShare, Source, SourceKind, Status};
use pegel_core::limits::{LimitError, PageRequest};
use uuid::Uuid;

use crate::caller::Caller;
use crate::catalog::inventory::Inventory;
use crate::catalog::liveness::Liveness;
use crate::clock;
use crate::failure::sight::Sight;
use crate::failure::{Failure, code_of_name};
use crate::live::LiveCluster;

/// Most repeated requests that are told one by one.
const MAX_RETRIES_TOLD: usize = 20;

/// How much of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The page that the question names.
    Page,
    /// Everything that matches, whatever the question's `offset` and `limit` are. Only for whoever asks on
    /// their own machine.
    Whole,
}

/// One question of one caller to one cluster, while it is answered.
pub struct Execution {
    /// The client to ask with.
    pub(crate) client: FlussClient,
    /// How much of failures may be told.
    pub(crate) sight: Sight,
    /// The inventory that is kept of the cluster, if it is.
    pub(crate) inventory: Option<Inventory>,
    /// The watch that is kept on its servers, if it is.
    pub(crate) liveness: Option<Liveness>,
    id: Uuid,
    cluster: String,
    extent: Extent,
    clock: Arc<dyn Clock>,
    recorder: Arc<Recorder>,
    started: Instant,
}

/// An answer before it is put into its envelope.
#[derive(Debug)]
pub struct Answer<T> {
    pub(crate) status: Status,
    pub(crate) data: Option<T>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) warnings: Vec<String>,
    /// When the data was read, if that was not for this answer.
    pub(crate) read_at: Option<Timestamp>,
}

impl<T> Answer<T> {
    /// Makes an answer that says nothing but its data.
    pub(crate) fn new(status: Status, data: T) -> Self {
        Self { data: Some(data), ..Self::without_data(status, Vec::new()) }
    }

    /// Makes an answer that has no data.
    pub(crate) fn without_data(status: Status, evidence: Vec<Evidence>) -> Self {
        Self { status, data: None, evidence, warnings: Vec::new(), read_at: None }
    }
}

impl Execution {
    /// Begins an execution of a caller's question to a registered cluster.
    pub(crate) fn of(live: &LiveCluster, caller: &Caller, clock: Arc<dyn Clock>) -> Self {
        let sight = Sight::of(caller, &live.slug);
        Self {
            inventory: Some(live.inventory.clone()),
            liveness: Some(live.liveness.clone()),
            ..Self::detached(&live.client, live.slug.to_string(), caller.request_id(), clock, sight)
        }
    }

    /// Begins an execution on a client that belongs to no registered cluster. Nothing is dialled yet.
    pub(crate) fn detached(
        client: &FlussClient,
        cluster: String,
        id: Uuid,
        clock: Arc<dyn Clock>,
        sight: Sight,
    ) -> Self {
        let recorder = Arc::new(Recorder::default());
        Self {
            client: client.observed_by(Arc::<Recorder>::clone(&recorder)),
            sight,
            inventory: None,
            liveness: None,
            id,
            cluster,
            extent: Extent::Page,
            clock,
            recorder,
            started: clock::instant(),
        }
    }

    /// Sets how much of lists is answered.
    pub(crate) fn with_extent(self, extent: Extent) -> Self {
        Self { extent, ..self }
    }

    /// Returns the clock.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Returns the present wall time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Checks which part of a list is wanted.
    ///
    /// # Errors
    /// `invalid`, which names the field.
    pub(crate) fn page(
        &self,
        search: Option<&str>,
        offset: Option<usize>,
        limit: Option<usize>,
    ) -> Result<PageRequest, Failure> {
        let page = match self.extent {
            Extent::Page => PageRequest::new(search, offset.unwrap_or(0), limit),
            Extent::Whole => PageRequest::whole(search),
        };
        page.map_err(|error| {
            let pointer = if matches!(error, LimitError::Search) { "/search" } else { "/limit" };
            Failure::invalid_field(pointer, error.to_string())
        })
    }

    /// Returns what to say below a list that the cluster may have shortened.
    ///
    /// Servers leave out, without a word, what a principal may not see. Someone without a
    /// name mostly sees all or nothing, so that nothing is worth the words.
    pub(crate) fn filter_warning(&self, is_empty: bool) -> Option<String> {
        let sasl = self.client.settings().sasl();
        let who = sasl
            .filter(|_| self.sight >= Sight::Servers)
            .map_or("this connection", SaslCredentials::username);
        (is_empty || sasl.is_some()).then(|| {
            format!("may be filtered by the cluster's permissions: only what {who} may see is listed")
        })
    }

    /// Puts an answer into its envelope.
    pub(crate) fn seal<T>(&self, mut answer: Answer<T>) -> Envelope<T> {
        answer.evidence.extend(self.recorder.retries());
        let now = self.now();
        let age =
            answer.read_at.map(|read_at| Duration::try_from(now.duration_since(read_at)).unwrap_or_default());
        let servers = if self.sight >= Sight::Servers { self.recorder.shares() } else { Vec::new() };
        Envelope {
            status: answer.status,
            execution_id: self.id,
            observed_at: answer.read_at.unwrap_or(now),
            source: Source {
                cluster: self.cluster.clone(),
                kind: if age.is_some() { SourceKind::Cache } else { SourceKind::Live },
                age_ms: clock::millis(age.unwrap_or_default()),
                servers,
                duration_ms: clock::millis(clock::instant().duration_since(self.started)),
            },
            data: answer.data,
            evidence: answer.evidence,
            warnings: answer.warnings,
        }
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

impl Recorder {
    fn shares(&self) -> Vec<ServerShare> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let share = |(address, (apis, count)): (&String, &(BTreeSet<&'static str>, u64))| ServerShare {
            address: address.clone(),
            answered: apis.iter().copied().map(Into::into).collect(),
            answer_count: *count,
        };
        record.shares.iter().map(share).collect()
    }

    fn retries(&self) -> Vec<Evidence> {
        let record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let retry = |(api, attempt, error): &(&'static str, u32, &'static str)| Evidence {
            check: "retry".into(),
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

/// Writes down what a client does, for those who asked for it. The observer of a whole client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Log;

impl Observer for Log {
    fn observe(&self, event: &Event<'_>) {
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
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            (shares[0].answer_count, shares[0].answered.as_slice()),
            (2, ["LIST_ACLS".into()].as_slice())
        );
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
