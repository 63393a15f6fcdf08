//! What is common to reads that ask every bucket: who failed, and what the whole is worth.

use std::collections::BTreeMap;

use fluss_client::bucket_read::BucketAnswer;
use fluss_client::error::Error as ClientError;
use pegel_api_types::operations::buckets::{BucketOffsets, Coverage};
use pegel_core::envelope::{Evidence, Status};
use pegel_core::error_code::ErrorCode;
use pegel_core::exact::ExactInt;

use crate::failure::Failure;
use crate::failure::sight::Sight;

/// Most labels of failed buckets in one piece of evidence.
const MAX_LABELS: usize = 12;

/// Joins the two offsets of each bucket and notes failures under `place`.
pub(super) fn join_offsets(
    start: Vec<BucketAnswer<i64>>,
    latest: Vec<BucketAnswer<i64>>,
    place: Option<&str>,
    sight: Sight,
    failures: &mut Failures,
) -> Vec<BucketOffsets> {
    let mut latest: BTreeMap<i32, BucketAnswer<i64>> =
        latest.into_iter().map(|answer| (answer.bucket, answer)).collect();
    start
        .into_iter()
        .map(|start| {
            // A bucket that only one of the two answers holds appeared or went in between.
            let other = latest.remove(&start.bucket);
            let missing = || Err(ClientError::BucketMissing { bucket: start.bucket });
            let latest = other.map_or_else(missing, |answer| answer.result);
            join_bucket(start.bucket, start.leader, &start.result, &latest, place, sight, failures)
        })
        .collect()
}

fn join_bucket(
    bucket: i32,
    leader: Option<i32>,
    start: &Result<i64, ClientError>,
    latest: &Result<i64, ClientError>,
    place: Option<&str>,
    sight: Sight,
    failures: &mut Failures,
) -> BucketOffsets {
    let failure = start.as_ref().err().or(latest.as_ref().err()).map(Failure::from);
    if let Some(failure) = &failure {
        failures.note_bucket(place, bucket, leader, failure);
    }
    let (start, latest) =
        (start.as_ref().ok().map(|o| ExactInt(*o)), latest.as_ref().ok().map(|o| ExactInt(*o)));
    BucketOffsets {
        bucket,
        leader,
        state: Coverage::of(usize::from(start.is_some()) + usize::from(latest.is_some()), 2),
        // Less than nothing is no span: the log was cut between the two answers.
        span: start.zip(latest).and_then(|(start, latest)| latest.minus(start)).filter(|span| span.0 >= 0),
        start,
        latest,
        failure: failure.map(|failure| failure.part(sight)),
    }
}

/// Failures of buckets and partitions, put together by leader and code so that
/// their number stays small however many buckets fail.
#[derive(Debug, Clone, Default)]
pub(super) struct Failures {
    groups: BTreeMap<(Option<i32>, ErrorCode), Group>,
    first: Option<Failure>,
}

#[derive(Debug, Clone)]
struct Group {
    labels: Vec<String>,
    count: usize,
    failure: Failure,
}

impl Failures {
    /// Notes that a bucket failed; `place` names its partition or table where there are several.
    pub(super) fn note_bucket(
        &mut self,
        place: Option<&str>,
        bucket: i32,
        leader: Option<i32>,
        failure: &Failure,
    ) {
        let label = match place {
            Some(place) => format!("{place} bucket {bucket}"),
            None => format!("bucket {bucket}"),
        };
        self.note(label, leader, failure);
    }

    /// Notes that something without a leader failed as a whole.
    pub(super) fn note_whole(&mut self, label: impl Into<String>, failure: &Failure) {
        self.note(label.into(), None, failure);
    }

    fn note(&mut self, label: String, leader: Option<i32>, failure: &Failure) {
        self.first.get_or_insert_with(|| failure.clone());
        let group = self.groups.entry((leader, failure.code)).or_insert_with(|| Group {
            labels: Vec::new(),
            count: 0,
            failure: failure.clone(),
        });
        group.count += 1;
        if group.labels.len() < MAX_LABELS {
            group.labels.push(label);
        }
    }

    /// Returns the status of an answer of which `answered` out of `all` parts are there.
    ///
    /// # Errors
    /// When nothing is there and the reason is a wrong question, that reason.
    pub(super) fn status(&self, answered: usize, all: usize) -> Result<Status, Failure> {
        match Coverage::of(answered, all) {
            _ if all == 0 && self.groups.is_empty() => Ok(Status::Empty),
            Coverage::Ok if self.groups.is_empty() => Ok(Status::Ok),
            Coverage::Ok | Coverage::Partial => Ok(Status::Partial),
            Coverage::Unavailable => match self.shared_code() {
                Some(code) => Status::of_failure(code).map_or_else(|| self.wrong_question(), Ok),
                None => Ok(Status::Unavailable),
            },
        }
    }

    /// Checks that the question itself was not wrong.
    ///
    /// # Errors
    /// When everything that failed did so because of the question, that reason.
    pub(super) fn wrong_question(&self) -> Result<Status, Failure> {
        match (self.shared_code(), &self.first) {
            (Some(code), Some(first)) if Status::of_failure(code).is_none() => Err(first.clone()),
            _ => Ok(Status::Unavailable),
        }
    }

    /// Returns the code of all failures, if they have one in common.
    fn shared_code(&self) -> Option<ErrorCode> {
        let mut codes = self.groups.keys().map(|(_, code)| *code);
        let first = codes.next()?;
        codes.all(|code| code == first).then_some(first)
    }

    /// Returns the failure that was noted first.
    pub(super) fn first(&self) -> Option<&Failure> {
        self.first.as_ref()
    }

    /// Adds what others took note of.
    pub(super) fn extend(&mut self, others: &Self) {
        for (key, other) in &others.groups {
            let group = self.groups.entry(*key).or_insert_with(|| Group {
                labels: Vec::new(),
                count: 0,
                failure: other.failure.clone(),
            });
            group.count += other.count;
            let room = MAX_LABELS.saturating_sub(group.labels.len());
            group.labels.extend(other.labels.iter().take(room).cloned());
        }
        if self.first.is_none() {
            self.first.clone_from(&others.first);
        }
    }

    /// Tells the failures as evidence, one piece for each leader and code.
    pub(super) fn into_evidence(self, check: &'static str, sight: Sight) -> Vec<Evidence> {
        self.groups
            .into_iter()
            .map(|((leader, _), group)| {
                let more = group.count - group.labels.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let subject = match leader {
                    Some(leader) => format!("tablet server {leader}: {}{more}", group.labels.join(", ")),
                    None => format!("{}{more}", group.labels.join(", ")),
                };
                Evidence { subject: Some(subject), ..group.failure.evidence(check, sight) }
            })
            .collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use fluss_client::bootstrap::HostPort;
    use fluss_codec::error_code::ServerErrorCode;

    use super::*;

    /// An answer of one bucket.
    pub(in crate::catalog) fn answered(bucket: i32, value: i64) -> BucketAnswer<i64> {
        BucketAnswer { bucket, leader: Some(1), result: Ok(value) }
    }

    /// A bucket whose leader does not answer.
    pub(in crate::catalog) fn silent(bucket: i32) -> BucketAnswer<i64> {
        let address = HostPort::new("fluss-2.example", 9125).unwrap();
        let error = ClientError::DialTimeout { address, timeout_ms: 10_000 };
        BucketAnswer { bucket, leader: Some(2), result: Err(error) }
    }

    /// A bucket whose leader refuses with a code.
    pub(in crate::catalog) fn refused(bucket: i32, code: i32) -> BucketAnswer<i64> {
        let error = ClientError::Server {
            address: HostPort::new("fluss-2.example", 9125).unwrap(),
            api: "LIST_OFFSETS",
            code: ServerErrorCode::from_code(code),
            message: String::new(),
        };
        BucketAnswer { bucket, leader: Some(2), result: Err(error) }
    }

    #[test]
    fn bucket_with_one_of_two_offsets_is_partial_and_has_no_span() {
        let mut failures = Failures::default();
        let joined = join_offsets(
            vec![answered(0, 5), answered(1, 5), silent(2)],
            vec![answered(0, 9), silent(1), silent(2)],
            None,
            Sight::Everything,
            &mut failures,
        );
        let states: Vec<Coverage> = joined.iter().map(|bucket| bucket.state).collect();
        assert_eq!(states, [Coverage::Ok, Coverage::Partial, Coverage::Unavailable]);
        assert_eq!(joined[0].span, Some(ExactInt(4)));
        assert_eq!((joined[1].start, joined[1].latest, joined[1].span), (Some(ExactInt(5)), None, None));
        assert_eq!(failures.status(1, 3), Ok(Status::Partial));
    }

    #[test]
    fn same_reason_everywhere_decides_the_status() {
        let status = |codes: &[i32]| {
            let mut failures = Failures::default();
            let answers: Vec<_> = (0..).zip(codes).map(|(bucket, code)| refused(bucket, *code)).collect();
            join_offsets(answers.clone(), answers, None, Sight::Everything, &mut failures);
            failures.status(0, codes.len())
        };
        assert_eq!(status(&[48, 48]), Ok(Status::Refused));
        assert_eq!(status(&[15]), Ok(Status::Unsupported));
        assert_eq!(status(&[48, 12]), Ok(Status::Unavailable));
        assert_eq!(status(&[38, 38]).unwrap_err().code, ErrorCode::TimeInFuture);
        assert_eq!(Failures::default().status(0, 0), Ok(Status::Empty));
    }

    #[test]
    fn evidence_stays_small_however_many_buckets_fail() {
        let mut failures = Failures::default();
        let failure = Failure::new(ErrorCode::DialTimeout, "no connection");
        for bucket in 0..1_000 {
            failures.note_bucket(Some("2026$eu"), bucket, Some(bucket % 3), &failure);
        }
        let evidence = failures.into_evidence("read_bucket", Sight::Everything);
        assert_eq!(evidence.len(), 3);
        let subject = evidence[0].subject.as_ref().unwrap();
        assert!(subject.starts_with("tablet server 0: 2026$eu bucket 0, 2026$eu bucket 3"), "{subject}");
        assert!(subject.ends_with("and 322 more"), "{subject}");
    }
}
