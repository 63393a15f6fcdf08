//! Row counts and offset ranges of the tables in view.

mod cache;

use std::sync::Arc;

use fluss_client::bucket_read::{BucketAnswer, BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::error::Error as ClientError;
use fluss_client::parallel::in_parallel;
use fluss_codec::name::TablePath;
use jiff::Timestamp;
use pegel_api_types::operations::buckets::{BucketOffsets, Coverage};
use pegel_api_types::operations::tables::{OffsetRange, Runtime, RuntimeState, TableRow};
use pegel_core::exact::ExactInt;

use crate::catalog::buckets::{Failures, join_offsets};
use crate::catalog::figures::cache::TableKey;
use crate::catalog::offsets;
use crate::catalog::tables::MAX_RUNTIME_ROWS;
use crate::catalog::targets::PARALLEL_PARTS;
use crate::execution::Execution;
use crate::failure::Failure;
use crate::failure::sight::Sight;

pub(super) use cache::FigureCache;

/// Most buckets whose range is told one by one.
const MAX_RANGES: usize = 3;

type Counts = Result<Vec<BucketAnswer<i64>>, ClientError>;
type Ranges = Result<(Vec<BucketAnswer<i64>>, Vec<BucketAnswer<i64>>), ClientError>;

/// The figures of one table as they were read, the same for every caller.
struct Reading {
    /// The figures, without their failure.
    runtime: Runtime,
    failures: Failures,
}

/// Adds the figures of the first rows and marks the others as not read.
///
/// With `is_wanted_anew`, figures that are kept are read again, unless that was just done.
pub(super) async fn add(execution: &Execution, rows: &mut [TableRow], is_wanted_anew: bool) -> Failures {
    let mut failures = Failures::default();
    let wanted: Vec<(usize, TableKey, BucketTarget)> = rows
        .iter()
        .enumerate()
        .take(MAX_RUNTIME_ROWS)
        .filter_map(|(index, row)| {
            let facts = row.facts.as_ref().filter(|facts| !facts.is_partitioned)?;
            let path = TablePath::new(row.database.as_str(), row.name.as_str()).ok()?;
            let table_id = facts.table_id.0;
            let buckets = BucketTarget::named(&path, None).expecting(table_id, None, facts.bucket_count);
            Some((index, TableKey { path, table_id }, buckets))
        })
        .collect();
    let answers = in_parallel(wanted, PARALLEL_PARTS, |(index, key, buckets)| {
        let figures = figures_of(execution, key, buckets, is_wanted_anew);
        async move { (index, figures.await) }
    })
    .await;
    for (index, row) in rows.iter_mut().enumerate() {
        row.runtime = Some(Runtime::without_figures(match &row.facts {
            _ if index >= MAX_RUNTIME_ROWS => RuntimeState::NotRead,
            Some(facts) if facts.is_partitioned => RuntimeState::PartitionScoped,
            _ => RuntimeState::Unavailable,
        }));
    }
    for (index, (observed_at, reading)) in answers {
        if let Some(row) = rows.get_mut(index) {
            failures.extend(&reading.failures);
            row.runtime = Some(Runtime {
                observed_at: Some(observed_at),
                failure: reading.failures.first().map(|failure| failure.part(execution.sight)),
                ..reading.runtime.clone()
            });
        }
    }
    failures
}

/// Returns the figures of one table, kept or read, and when they were read.
fn figures_of(
    execution: &Execution,
    key: TableKey,
    buckets: BucketTarget,
    is_wanted_anew: bool,
) -> impl Future<Output = (Timestamp, Arc<Reading>)> + Send + 'static {
    let (client, clock) = (execution.client.clone(), execution.clock());
    let inventory = execution.inventory.clone();
    async move {
        match inventory {
            Some(inventory) => {
                let kept = inventory.figures().get(&key, buckets, &client, &*clock, is_wanted_anew).await;
                (kept.observed_at, kept.reading)
            }
            None => {
                let reading = read(&client, &key.path, buckets).await;
                (clock.now(), Arc::new(reading))
            }
        }
    }
}

/// Reads the figures of one table.
async fn read(client: &FlussClient, path: &TablePath, buckets: BucketTarget) -> Reading {
    // Without leaders for the first question there are none for the second.
    let (counts, ranges) = match client.row_counts(&buckets).await {
        Err(error) => (Err(error.clone()), Err(error)),
        counts => {
            let ranges = offsets::read_part(client.clone(), buckets, OffsetSpec::Earliest).await;
            (counts, ranges)
        }
    };
    judge(&path.to_string(), counts, ranges)
}

fn judge(table: &str, counts: Counts, ranges: Ranges) -> Reading {
    let mut failures = Failures::default();
    let counts = counts.unwrap_or_else(|error| {
        failures.note_whole(table, &Failure::from(&error));
        Vec::new()
    });
    let (start, latest) = ranges.unwrap_or_else(|error| {
        failures.note_whole(table, &Failure::from(&error));
        (Vec::new(), Vec::new())
    });
    for answer in &counts {
        if let Err(error) = &answer.result {
            failures.note_bucket(Some(table), answer.bucket, answer.leader, &Failure::from(error));
        }
    }
    // What failed is told from the notes, to each caller as far as they may know it.
    let ranges = join_offsets(start, latest, Some(table), Sight::Codes, &mut failures);
    let runtime = figures(&counts, &ranges, failures.first().is_some());
    Reading { runtime, failures }
}

fn figures(counts: &[BucketAnswer<i64>], ranges: &[BucketOffsets], has_failed: bool) -> Runtime {
    let counted = |bucket: i32| counts.iter().any(|answer| answer.bucket == bucket && answer.result.is_ok());
    let bucket_count = counts.len().max(ranges.len());
    let answered = ranges.iter().filter(|range| range.state == Coverage::Ok && counted(range.bucket)).count();
    let is_any = counts.iter().any(|answer| answer.result.is_ok())
        || ranges.iter().any(|range| range.state != Coverage::Unavailable);
    let evidence = if !is_any {
        RuntimeState::Unavailable
    } else if answered == bucket_count && !has_failed {
        RuntimeState::Ok
    } else {
        RuntimeState::Partial
    };
    Runtime {
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
        ..Runtime::without_figures(evidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::buckets::tests::{answered, refused, silent};

    fn runtime(counts: Counts, ranges: Ranges) -> Runtime {
        let reading = judge("shop.orders", counts, ranges);
        let failure = reading.failures.first().map(|failure| failure.part(Sight::Everything));
        Runtime { failure, ..reading.runtime }
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
