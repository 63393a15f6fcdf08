//! Row counts and offset ranges of the tables in view.

use fluss_client::bucket_read::{BucketAnswer, BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::error::Error as ClientError;
use fluss_codec::name::TablePath;
use pegel_core::exact::ExactInt;
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::buckets::{BucketOffsets, Coverage, Failures, PartFailure, join_offsets};
use crate::reads::offsets;
use crate::reads::tables::{MAX_RUNTIME_ROWS, TableRow};
use crate::reads::targets::PARALLEL_PARTS;
use crate::session::Session;
use fluss_client::parallel::in_parallel;

/// Most buckets whose range is told one by one.
const MAX_RANGES: usize = 3;

/// Row count and offsets of one table, with what they are worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Runtime {
    /// What the figures are worth.
    pub(crate) evidence: RuntimeState,
    /// Rows in the buckets that answered; a lower bound unless the evidence is `ok`.
    pub(crate) row_count: Option<ExactInt>,
    /// Ranges of the first buckets, at most three.
    pub(crate) offset_ranges: Vec<OffsetRange>,
    /// Sum of latest minus earliest over the buckets that answered. Not a row count.
    pub(crate) offset_span: Option<ExactInt>,
    /// Buckets that answered all questions.
    pub(crate) answered_bucket_count: usize,
    /// Buckets of the table.
    pub(crate) bucket_count: usize,
    /// The first failure.
    pub(crate) failure: Option<PartFailure>,
}

/// What the figures of one table are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RuntimeState {
    /// Every bucket answered every question.
    Ok,
    /// Some did.
    Partial,
    /// None did.
    Unavailable,
    /// The table is partitioned, so there is no single figure.
    PartitionScoped,
    /// Too far down the page.
    NotRead,
}

/// What can be read of one bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct OffsetRange {
    /// Number of the bucket.
    pub(crate) bucket: i32,
    /// First offset that can be read.
    pub(crate) earliest: Option<ExactInt>,
    /// Offset after the last one that can be read.
    pub(crate) latest: Option<ExactInt>,
}

impl Runtime {
    fn without_figures(evidence: RuntimeState) -> Self {
        Self {
            evidence,
            row_count: None,
            offset_ranges: Vec::new(),
            offset_span: None,
            answered_bucket_count: 0,
            bucket_count: 0,
            failure: None,
        }
    }
}

type Counts = Result<Vec<BucketAnswer<i64>>, ClientError>;
type Ranges = Result<(Vec<BucketAnswer<i64>>, Vec<BucketAnswer<i64>>), ClientError>;

/// Reads the figures of the first rows and marks the others as not read.
pub(super) async fn add(session: &Session, rows: &mut [TableRow]) -> Failures {
    let mut failures = Failures::default();
    let wanted: Vec<(usize, TablePath, BucketTarget)> = rows
        .iter()
        .enumerate()
        .take(MAX_RUNTIME_ROWS)
        .filter_map(|(index, row)| {
            let facts = row.facts.as_ref().filter(|facts| !facts.is_partitioned)?;
            let path = TablePath::new(row.database.as_str(), row.name.as_str()).ok()?;
            let buckets =
                BucketTarget::named(&path, None).expecting(facts.table_id.0, None, facts.bucket_count);
            Some((index, path, buckets))
        })
        .collect();
    let answers = in_parallel(wanted, PARALLEL_PARTS, |(index, path, buckets)| {
        let client = session.client.clone();
        async move { (index, path, ask(client, buckets).await) }
    })
    .await;
    for (index, row) in rows.iter_mut().enumerate() {
        row.runtime = Some(Runtime::without_figures(match &row.facts {
            _ if index >= MAX_RUNTIME_ROWS => RuntimeState::NotRead,
            Some(facts) if facts.is_partitioned => RuntimeState::PartitionScoped,
            _ => RuntimeState::Unavailable,
        }));
    }
    for (index, path, (counts, ranges)) in answers {
        if let Some(row) = rows.get_mut(index) {
            row.runtime = Some(judge(&path.to_string(), counts, ranges, &mut failures));
        }
    }
    failures
}

async fn ask(client: FlussClient, buckets: BucketTarget) -> (Counts, Ranges) {
    let counts = client.row_counts(&buckets).await;
    // Without leaders for the first question there are none for the second.
    match counts {
        Err(error) => (Err(error.clone()), Err(error)),
        counts => (counts, offsets::read_part(client, buckets, OffsetSpec::Earliest).await),
    }
}

fn judge(table: &str, counts: Counts, ranges: Ranges, failures: &mut Failures) -> Runtime {
    let mut first = None;
    let mut note = |failure: Failure, bucket: Option<(i32, Option<i32>)>, failures: &mut Failures| {
        match bucket {
            Some((bucket, leader)) => failures.note_bucket(Some(table), bucket, leader, &failure),
            None => failures.note_whole(table, &failure),
        }
        first.get_or_insert(PartFailure::from(&failure));
    };
    let counts = counts.unwrap_or_else(|error| {
        note(Failure::from(&error), None, failures);
        Vec::new()
    });
    let (start, latest) = ranges.unwrap_or_else(|error| {
        note(Failure::from(&error), None, failures);
        (Vec::new(), Vec::new())
    });
    for answer in &counts {
        if let Err(error) = &answer.result {
            note(Failure::from(error), Some((answer.bucket, answer.leader)), failures);
        }
    }
    let ranges = join_offsets(start, latest, Some(table), failures);
    let first = first.or_else(|| ranges.iter().find_map(|range| range.failure.clone()));
    figures(&counts, &ranges, first)
}

fn figures(counts: &[BucketAnswer<i64>], ranges: &[BucketOffsets], failure: Option<PartFailure>) -> Runtime {
    let counted = |bucket: i32| counts.iter().any(|answer| answer.bucket == bucket && answer.result.is_ok());
    let bucket_count = counts.len().max(ranges.len());
    let answered = ranges.iter().filter(|range| range.state == Coverage::Ok && counted(range.bucket)).count();
    let is_any = counts.iter().any(|answer| answer.result.is_ok())
        || ranges.iter().any(|range| range.state != Coverage::Unavailable);
    Runtime {
        evidence: match &failure {
            _ if !is_any => RuntimeState::Unavailable,
            None if answered == bucket_count => RuntimeState::Ok,
            _ => RuntimeState::Partial,
        },
        row_count: ExactInt::sum(
            counts.iter().filter_map(|answer| answer.result.as_ref().ok().map(|n| ExactInt(*n))),
        ),
        offset_ranges: ranges
            .iter()
            .take(MAX_RANGES)
            .map(|range| OffsetRange { bucket: range.bucket, earliest: range.start, latest: range.latest })
            .collect(),
        offset_span: ExactInt::sum(ranges.iter().filter_map(|range| range.span)),
        answered_bucket_count: answered,
        bucket_count,
        failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reads::buckets::tests::{answered, refused, silent};

    fn runtime(counts: Counts, ranges: Ranges) -> Runtime {
        judge("shop.orders", counts, ranges, &mut Failures::default())
    }

    #[test]
    fn figures_are_summed_over_buckets_and_three_ranges_are_told() {
        let all = |value| (0..5).map(|bucket| answered(bucket, value)).collect::<Vec<_>>();
        let figures = runtime(Ok(all(10)), Ok((all(2), all(12))));
        assert_eq!(figures.evidence, RuntimeState::Ok);
        assert_eq!((figures.row_count, figures.offset_span), (Some(ExactInt(50)), Some(ExactInt(50))));
        assert_eq!((figures.offset_ranges.len(), figures.bucket_count), (3, 5));
    }

    #[test]
    fn one_silent_bucket_is_partial_and_all_silent_is_unavailable() {
        let partial = runtime(
            Ok(vec![answered(0, 10), silent(1)]),
            Ok((vec![answered(0, 0), silent(1)], vec![answered(0, 10), silent(1)])),
        );
        assert_eq!(partial.evidence, RuntimeState::Partial);
        assert_eq!((partial.row_count, partial.answered_bucket_count), (Some(ExactInt(10)), 1));
        let none = runtime(Ok(vec![silent(0)]), Ok((vec![silent(0)], vec![silent(0)])));
        assert_eq!(
            (none.evidence, none.row_count, none.offset_span),
            (RuntimeState::Unavailable, None, None)
        );
        assert!(none.failure.is_some());
    }

    #[test]
    fn table_without_row_count_still_has_its_offsets() {
        let figures = runtime(Ok(vec![refused(0, 15)]), Ok((vec![answered(0, 0)], vec![answered(0, 7)])));
        assert_eq!((figures.evidence, figures.row_count), (RuntimeState::Partial, None));
        assert_eq!(figures.offset_span, Some(ExactInt(7)));
        assert_eq!(figures.failure.unwrap().code.as_str(), "unsupported_for_table");
    }
}
